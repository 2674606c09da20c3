import fc from "fast-check";
import { PUSH_EVENT_TYPES } from "express-push-verification";
import { AmbiguityCheck, findForeignParameter } from "../../../lib/core/receiver/ambiguity";
import { parseEvent } from "../../../lib/core/event/parse";
import { honestCut, SIDS, UUID, words } from "../../support/attacker-texts";
import { joinCut, type Cut } from "../../support/cuts";
import { createReceiver } from "../../support/receivers";
import { eventRequest } from "../../support/webhook-requests";

const type = "challenge.approved";
const { account_sid } = SIDS;
const EVENTS = PUSH_EVENT_TYPES.flatMap((one) => [["v1", one] as const, ["v2", one] as const]);
const findAmbiguity = (cut: Cut, declared: string[] = []) =>
  new AmbiguityCheck(declared).find(parseEvent(cut), joinCut(cut));
const isAccepted = (...given: Parameters<typeof findAmbiguity>) =>
  findAmbiguity(...given) === undefined;

type Params = Record<string, string>;
const EXTRAS = { api_version: "2", delivery_attempt: "1", factor_status: "on", source_type: "x" };
const DECLARED = { ...EXTRAS, event_id: "1", entity_identity_type: "email", user_uuid: "2" };
const EARLY = { Zone: "eu", "a[b][c]": "d", ["__proto__"]: "x", "event(id": "3", exp: "4" };
const LATE = { tz: "Europe/Berlin", Grüße: "\u{1F600}", parent_account_sid: account_sid };
const ALL = { ...DECLARED, ...EARLY, ...LATE };
const namesOf = (params: Params) => Object.keys(params);
const declaring = (what: string, params: Params) => [what, params, namesOf(params), true] as const;

it.each<readonly [what: string, params: Params, declared: string[], isAccepted: boolean]>([
  ["none", {}, [], true],
  ["none, though some are declared", {}, ["event_id", "zone"], true],
  ["undeclared ones that leave one reading", EXTRAS, [], true],
  declaring("all of them", ALL),
  ["all of them, one declared", ALL, ["parent_account_sid"], false],
  declaring("contains type, one before type", { status: "ok", source_type: "x", user_type: "y" }),
  declaring("contains uuid, one before uuid", { user_uuid: UUID, tz: "UTC", uuid_version: "4" }),
  declaring("contains another name", { event: "1", event_id: "2", exp: "3", expires: "4" }),
  declaring("begins a known name", { factor: "1", factor_friendly: "2", factor_s: "3" }),
  declaring("is the end of a known name", { t_sid: "1", r_sid: "2" }),
])("parameters in any type and version: %s %j, declared %j: %j", (_what, params, ...row) => {
  const [declared, expected] = row;
  const late = [["v1", "challenge.expired"] as const, ["v2", "challenge.denied-late"] as const];
  for (const [version, one] of [...EVENTS, ...late])
    expect(isAccepted(honestCut(version, one, params), declared)).toBe(expected);
});

const field = (name: string, ...values: string[]) => values.map((value) => [name, value] as const);
it.each([
  ...field(
    "entity_identity",
    ...words(`two_factor_user adaevent_x adaf typechallenge.approved ${UUID}f`),
    "Zoë \u{1F600}",
  ),
  ...field(
    "uuid",
    ...words(`${UUID.toUpperCase()} ${"f".repeat(64)} urn:uuid:${UUID} EV${"2".repeat(32)}/2`),
    ...words("webhook_uuid_1 uuid type {1} é"),
    "a b",
  ),
])("accepts the %s %s", (name, value) => {
  for (const [version, one] of EVENTS)
    expect(isAccepted(honestCut(version, one, { [name]: value }))).toBe(true);
});

it("accepts free text and JSON that contain names", () => {
  const names = "type entity account uuid typefactor.created service_sid";
  const json = JSON.stringify({ entity_identity: "ada", type, uuid: "1", account_sid, names });
  const overrides = { factor_friendly_name: names, factor_metadata: json, tag: "type entity" };
  const challenge = { challenge_details: json, challenge_metadata: json };
  expect(isAccepted(honestCut("v2", type, { ...overrides, ...challenge }))).toBe(true);
  const expert = { exp: "1", factor_friendly_name: "expert's exp" };
  expect(isAccepted(honestCut("v2", type, expert), ["exp"])).toBe(true);
});

const EVENT = "event_id zone";
it.each<[what: string, version: "v1" | "v2", overrides: Params, declared?: string]>([
  ["factor_friendly_name in an identity", "v1", { entity_identity: "xfactor_friendly_name" }],
  ["digits that go on with a name after uuid", "v2", { uuid: `${"5".repeat(32)}u` }],
  ["a word after a SID", "v1", { uuid: `EV${"2".repeat(32)}-retry` }, EVENT],
  ["a type with its name in a later parameter", "v2", { tag: `type${type}` }],
  ["a known type that goes on like a name", "v2", { type: "challenge.approvedtx" }],
  ["a name before account_sid, also where both begin alike", "v2", { a: "ccount_sidx" }],
  ["tz with a type that is not known", "v2", { type: "challenge.expired", tz: "UTC" }],
  [
    "a declared name in an identity before it",
    "v2",
    { entity_identity: "aevent_id1", event_id: "1" },
    EVENT,
  ],
  ["an unknown name before a declared one", "v2", { environment: "prod", event_id: "1" }, EVENT],
  ["a name of v2 in a declared value", "v1", { event_id: "factor_friendly_namex" }, EVENT],
  ["a dot where the type may be", "v1", { status: "", user_type: "a.b" }, "status user_type"],
])("rejects, as the documented price, %s", (_what, version, overrides, declared = "") => {
  const found = findAmbiguity(honestCut(version, type, overrides), words(declared));
  expect(found).toHaveProperty("parameter", expect.stringMatching(/^[a-z_]+$/));
});

it("accepts a dot where the type is clear", () => {
  const dotted = honestCut("v1", type, { user_type: "app.admin" });
  expect(isAccepted(dotted, ["user_type"])).toBe(true);
});

it("accepts a name that ends like the text before uuid", () => {
  const cut = honestCut("v1", "factor.created", { uuid: "01J9ZQ5K3M8T7V2W", type_uuid: "" });
  expect(isAccepted(cut, ["iduuid", "type_uuid"])).toBe(true);
});

const inIdentity = { entity_identity: "adaevent_id1" };
type Named = [parameter: string, text: string, overrides: Params, declared?: string[]];
it.each<Named>([
  ...[
    ...words("AccountSid= AccountSidAC bodySHA256= account_sid=A"),
    ...words("account_sidAC challenge_sidYC factor_sidYF service_sidVA"),
  ].map((text): Named => ["factor_friendly_name", text, { factor_friendly_name: `x ${text}5` }]),
  ["entity_identity", "entity_identity", { entity_identity: "xentity_identity" }],
  ["factor_metadata", "factor_friendly_name", { factor_metadata: '{"factor_friendly_name":"x"}' }],
  ["entity_identity", "event", { entity_identity: "an event" }, ["event"]],
  ["event", "event", { event: "an event" }, ["event"]],
  // The undeclared ones cannot be the reason.
  ["entity_identity", "event_id", { ...inIdentity, delivery: "1", source: "1" }, ["event_id"]],
])("names the parameter %s that contains %s", (parameter, text, overrides, declared = []) => {
  const found = findAmbiguity(honestCut("v2", type, overrides), declared);
  expect(found).toEqual({ parameter, reason: `${parameter} contains ${text}` });
});

it.each<[parameter: string, overrides: Params, declared: string[], reason?: string]>([
  ["tz", { tz: "UTC", webhook_uuid: UUID }, ["webhook_uuid"]],
  ["user_uuid", { user_uuid: UUID }, []],
  ["zone", { zone: "eu", tz: "UTC" }, []],
  ["uuid", { api_version: "2", uuid: `${UUID}-retry` }, [], "the text shows another uuid"],
  ["source_type", { source_type: "quartz", delivery_types: "1", api_version: "2" }, ["tz"]],
  ["tag", { tag: `type${type}`, zone: "eu" }, [], `tag contains type${type}`],
])(
  "names %s, which leaves two uuids or types: %j",
  (parameter, overrides, declared, ...reasons) => {
    const [reason = expect.stringContaining(`the parameter ${parameter} is not declared`)] =
      reasons;
    const cut = honestCut("v1", type, overrides);
    expect(findAmbiguity(cut, declared)).toEqual({ parameter, reason });
  },
);

it.each([
  ["entity_type", "eu", { entity_type: "us-1", eu: "1" }],
  ["entity_zone", "eu", { entity_zone: "u", eu: "1" }],
])("names %s where its name, its value or the next name meet as %s", (...row) => {
  const [parameter, text, overrides] = row;
  const found = findAmbiguity(honestCut("v2", type, overrides), namesOf(overrides));
  const where = "where its name and value, or the next name, meet";
  expect(found).toEqual({ parameter, reason: `${parameter} contains ${text} ${where}` });
});

it("names a parameter for each of 20,000 rejections of declared names and values", () => {
  const name = fc.stringMatching(/^e[tuv][euv]{0,2}$/);
  const value = fc.stringMatching(/^[etuv-]{0,5}$/);
  let rejections = 0;
  const record = fc.dictionary(name, value, { minKeys: 1, maxKeys: 4 });
  fc.assert(
    fc.property(record, fc.constantFrom(...EVENTS), (params, [version, one]) => {
      const found = findAmbiguity(honestCut(version, one, params), namesOf(params));
      if (found === undefined) return;
      rejections++;
      expect(found.parameter).toBeDefined();
      const [, shown = "", contained = ""] = /^(\S+) contains (\S+)/.exec(found.reason) ?? [];
      if (contained !== "" && shown !== "the") expect(found.parameter).toBe(shown);
    }),
    { numRuns: 20_000 },
  );
  expect(rejections).toBeGreaterThan(50);
});

it("accepts an unknown type without a service, unless a value shows one", () => {
  const withoutService = (entity_identity: string) =>
    honestCut("v1", "challenge.expired", { entity_identity }).filter(
      ([name]) => name !== "service_sid",
    );
  expect(isAccepted(withoutService("ada"))).toBe(true);
  expect(isAccepted(withoutService(`service_sid${SIDS.service_sid}`))).toBe(false);
});

it.each(["event-id", "été", "x y"])(
  "a rejection tells the name %s to declare",
  async (parameter) => {
    const { receive, errors } = createReceiver();
    expect(await receive(eventRequest(type, { [parameter]: "1" }))).toBe(400);
    expect(errors).toMatchObject([{ code: "PAYLOAD_AMBIGUOUS", parameter }]);
  },
);

/** The names of the resources of Twilio Verify Push. */
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
const sid = (prefix: string) => prefix + "5f".repeat(16);
const VALUES = [
  "1",
  sid("YW"),
  "2026-03-05T07:00:00Z",
  `https://verify.example.test/v2/Services/${sid("VA")}/Entities/ada/Challenges/${sid("YC")}`,
  '{"message":"Sign in?","fields":[{"label":"type","value":"a"}],"date":"2026-03-05"}',
];

/** Why the events of each type and version that have a parameter are rejected, or "accepted". */
const listResults = (name: string, values: readonly string[], declared: string[] = []) => {
  const cuts = values.flatMap((value) =>
    EVENTS.map(([version, one]) => honestCut(version, one, { [name]: value })),
  );
  return [...new Set(cuts.map((cut) => findAmbiguity(cut, declared)?.reason ?? "accepted"))];
};

describe("a parameter that the service adds", () => {
  it("is rejected only under these names, whatever its value", () => {
    const rejected = NAMES.filter((name) => {
      const [reason = "", ...others] = listResults(name, VALUES);
      expect(others).toEqual([]);
      if (reason === "accepted") return false;
      expect(reason).toContain(`the parameter ${name} is not declared`);
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
    [words("device_uuid entity_type type_type uuid_version version_type version_uuid"), SHORT],
  ])("is accepted once it is declared, alone or with the others: %j", (names, values) => {
    for (const name of names) {
      for (const declared of [[name], names])
        expect(listResults(name, values, declared)).toEqual(["accepted"]);
    }
  });

  it.each(["z@z", "z".repeat(41)])("is not shown if it may be a text: %s", (name) => {
    const reason: unknown = expect.stringContaining("a parameter is not declared");
    expect(findAmbiguity(honestCut("v1", type, { [name]: "x" }))).toEqual({ reason });
  });

  it("is rejected in a GET until it is declared", () => {
    const params = [...honestCut("v2", type), ["ttl", "1"] as const];
    expect(findForeignParameter(params, [])).toMatchObject({ parameter: "ttl" });
    expect(findForeignParameter(params, ["ttl"])).toBeUndefined();
  });

  it("is rejected in a GET even when declared if it is of another product", () => {
    expect(findForeignParameter([["AccountSid", account_sid]], ["AccountSid"])).toBeDefined();
  });
});
