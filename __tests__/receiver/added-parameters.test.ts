/**
 * Results when the service adds a parameter: for each name of the resources of Twilio Verify Push,
 * in the snake_case of its webhooks, alone and with the prefix of its resource.
 */
import { createFindAmbiguity, findForeignParameter } from "../../lib/receiver/ambiguity";
import { parseEvent } from "../../lib/event/parse";
import { PUSH_EVENT_TYPES } from "express-push-verification";
import { honestCut, UUID, words } from "../support/attacker-texts";
import { joinCut } from "../support/cuts";

const prefixed = (prefix: string, names: string) => words(names).map((name) => `${prefix}_${name}`);
const NAMES = [
  ...words("config date_created date_responded date_updated details entity_sid expiration_date"),
  ...words("friendly_name hidden_details identity links metadata priority responded_reason sid"),
  ...words("status ttl url event_id timestamp version webhook_sid"),
  ...prefixed("challenge", "date_created date_responded date_updated expiration_date links"),
  ...prefixed("challenge", "responded_reason status url"),
  ...prefixed("entity", "date_created date_updated links url"),
  ...prefixed("factor", "config date_created date_updated status url"),
  ...prefixed("notification", "date_created priority sid ttl"),
];
const SID = (prefix: string) => prefix + "5f".repeat(16);
const VALUES = [
  "1",
  SID("YW"),
  "2026-03-05T07:00:00Z",
  `https://verify.example.test/v2/Services/${SID("VA")}/Entities/ada/Challenges/${SID("YC")}`,
  '{"message":"Sign in?","fields":[{"label":"type","value":"a"}],"date":"2026-03-05"}',
];
const EVENTS = PUSH_EVENT_TYPES.flatMap((type) =>
  (["v1", "v2"] as const).map((version) => [version, type] as const),
);

/** Lists why the events that have a parameter are rejected: one entry for each value, type and version. */
function listReasons(name: string, values: readonly string[], declared: readonly string[] = []) {
  const findAmbiguity = createFindAmbiguity(declared);
  return values.flatMap((value) =>
    EVENTS.map(([version, type]) => {
      const cut = honestCut(version, type, { [name]: value });
      return findAmbiguity(parseEvent(cut), joinCut(cut));
    }),
  );
}

const unambiguous = (values: readonly string[]) =>
  Array<undefined>(values.length * EVENTS.length).fill(undefined);

it("is rejected only for these names, whatever their value, for every type and version", () => {
  const rejected = NAMES.filter((name) => {
    const found = listReasons(name, VALUES);
    if (found.includes(undefined)) return void expect(found).toEqual(unambiguous(VALUES));
    for (const ambiguity of found) {
      const reason: unknown = expect.stringContaining(`the parameter ${name} is not declared`);
      expect(ambiguity).toEqual({ parameter: name, reason });
    }
    return true;
  });
  expect(rejected.toSorted()).toEqual([
    ...words("entity_links entity_sid entity_url event_id expiration_date factor_config"),
    ...words("factor_date_created factor_date_updated version webhook_sid"),
  ]);
});

const SHORT = ["phone", "7", "challenge.approved", UUID];
it.each([
  [NAMES, VALUES],
  [words("device_uuid entity_type type_id types user_type user_uuid uuid_version uuids"), SHORT],
  [words("device_uuid entity_type uuid_version uuids version_type version_uuid"), SHORT],
])("is accepted once it is declared, alone or with the others: %j", (names, values) => {
  for (const name of names) {
    expect(listReasons(name, values, [name])).toEqual(unambiguous(values));
    expect(listReasons(name, values, names)).toEqual(unambiguous(values));
  }
});

it.each(["z@z", "z".repeat(41)])("is not shown if it may be a text: %s", (name) => {
  const reason: unknown = expect.stringContaining("a parameter is not declared");
  for (const found of listReasons(name, ["x"])) expect(found).toEqual({ reason });
});

it("is rejected in a GET until it is declared", () => {
  for (const parameter of NAMES) {
    const params = [...honestCut("v2", "challenge.approved"), [parameter, "1"] as const];
    expect(findForeignParameter(params, [])).toMatchObject({ parameter });
    expect(findForeignParameter(params, NAMES)).toBeUndefined();
  }
});
