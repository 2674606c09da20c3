/** Attacks on the text of a signature: its owner signed all of it, but for another event. */
import {
  verifyPushRequest,
  type VerifyOptions,
  type WebhookError,
} from "express-push-verification";
import { parseEvent } from "../../../lib/core/event/parse";
import { honestCut, SIDS, UUID } from "../../support/attacker-texts";
import { joinCut, listDecisive, type Cut } from "../../support/cuts";
import { AUTH_TOKEN, PUBLIC_URL, signedRequestOf } from "../../support/webhook-requests";

const type = "challenge.approved";
const sid = (name: keyof typeof SIDS, separator = "") =>
  `${name}${separator}${SIDS[name].slice(0, 2)}${"b".repeat(32)}`;

function deliver(
  cut: Cut,
  options: Partial<VerifyOptions> & { publicUrl?: string } = {},
  method: "POST" | "GET" = "POST",
) {
  const { publicUrl = PUBLIC_URL } = options;
  const request = signedRequestOf(cut, { method, publicUrl });
  const settings = { authToken: AUTH_TOKEN, publicUrl, methods: [method], ...options };
  return verifyPushRequest({ ...request, url: request.path }, settings).catch(
    ({ status, code, message }: WebhookError) => {
      if (code === "PAYLOAD_AMBIGUOUS") expect(message).toMatch(/: (?!undefined).+\.$/);
      return { status, code };
    },
  );
}
const AMBIGUOUS = { status: 400, code: "PAYLOAD_AMBIGUOUS" };

/** The pairs of a cut, written with marks where names and values end. */
function cutAt(marked: string): Cut {
  return marked.split("|").map((pair) => {
    const [name = "", ...value] = pair.split("=");
    return [name, value.join("=")];
  });
}

const { account_sid, service_sid, factor_sid, challenge_sid } = SIDS;
const victim = [
  sid("account_sid", "="),
  sid("challenge_sid", "="),
  "entity_identity=ada",
  sid("factor_sid", "="),
  sid("service_sid", "="),
  `type=${type}|uuid=fresh`,
].join("|");
const swallow = cutAt(victim).flat().join("");
const tail = `service_sid=${service_sid}|type=${type}|uuid=${UUID}`;
const head = `account_sid=${account_sid}|challenge_sid=${challenge_sid}`;
const factor = `factor_sid=${factor_sid}`;
const details = "hallenge_details{}challenge_metadata{}";
const v2 = (challenge_details: string) => honestCut("v2", type, { challenge_details });

it.each<[what: string, honest: Cut, second: string, ...declared: string[]]>([
  [
    "unknown names that contain the start and the end",
    honestCut("v1", "factor.verified", { entity_identity: `${swallow}z` }),
    `a=ccount_sid${account_sid}entity_identity|${victim}|z=factor_sid${factor_sid}service_sid${service_sid}typefactor.verifieduuid${UUID}`,
  ],
  [
    "a shorter identity and an empty unknown parameter",
    honestCut("v1", type, { entity_identity: "adaf" }),
    `${head}|entity_identity=ada|f=|${factor}|${tail}`,
  ],
  [
    "another identity of the same length, after a declared name",
    honestCut("v1", type, { entity_identity: "eve", event_id: "entity_identityada" }),
    `${head}|entity_i=dentityeveevent_id|entity_identity=ada|${factor}|${tail}`,
    "event_id",
  ],
  [
    "v2 read as v1",
    v2("{}"),
    `account_sid=${account_sid}|c=${details}|challenge_sid=${challenge_sid}|entity_identity=evefactor_friendly_namephonefactor_metadata{"os":"x"}|${factor}|factor_typ=epush|${tail}`,
  ],
  [
    "an unknown type",
    honestCut("v1", type, { tag: "typefactor.snoozeduuidx" }),
    `${head}|entity_identity=eve|${factor}|service_sid=${service_sid}|ta=g|type=factor.snoozed|uuid=xtype${type}uuid${UUID}`,
  ],
  [
    "a uuid in a later parameter",
    honestCut("v1", type, { zone: "uuidfresh" }),
    `${head}|entity_identity=eve|${factor}|service_sid=${service_sid}|type=${type}|uu=id${UUID}zone|uuid=fresh`,
  ],
])("rejects a second cut: %s", async (_what, honest, second, ...extraParameters) => {
  const cut = cutAt(second);
  expect(joinCut(cut)).toBe(joinCut(honest));
  expect(listDecisive(parseEvent(cut))).not.toBe(listDecisive(parseEvent(honest)));
  expect(await deliver(cut, { extraParameters })).toEqual(AMBIGUOUS);
});

it.each([
  ["account_sid", "a_account_sid"],
  ["challenge_sid", "b_challenge_sid"],
  ["factor_sid", "f_factor_sid"],
  ["service_sid", "old_service_sid"],
] as const)("rejects as %s the SID of the declared %s", async (name, declared) => {
  const [genuine, other] = [SIDS[name], sid(name).slice(name.length)];
  const honest = honestCut("v1", type, { [declared]: other });
  const cut = honest.flatMap((pair): Cut => {
    if (pair[0] === name) return [[name + genuine.slice(0, 1), genuine.slice(1)]];
    return pair[0] === declared
      ? cutAt(`${declared.slice(0, -name.length)}|${name}=${other}`)
      : [pair];
  });
  expect(joinCut(cut)).toBe(joinCut(honest));
  expect(parseEvent(cut)).toHaveProperty(name, other);
  const options = { extraParameters: [declared] };
  expect(await deliver(honest, options)).toHaveProperty(name, genuine);
  expect(await deliver(cut, options)).toEqual(AMBIGUOUS);
});

// Other URLs of the account, which are no publicUrl here.
it.each([
  ["", PUBLIC_URL],
  [":443", "https://hooks.example.test"],
  ["/staging", PUBLIC_URL],
  ["-2", PUBLIC_URL],
  ["?env=staging", PUBLIC_URL],
])("rejects as a POST each request that was signed for %j after %s", async (...row) => {
  const [rest, publicUrl] = row;
  const query = `?uuid=${UUID}&account_sid=${account_sid}&entity_identity=`;
  const cuts: Cut[] = [[[rest + query, ""], ...cutAt(victim), ["z&type=x", ""]]];
  if (rest !== "") {
    const [before = "", after = ""] = joinCut(v2("|")).split("|");
    cuts.push([[rest + before, ""], ...cutAt(victim), [`z${after}`, ""]]);
    cuts.push([[rest, ""], ...honestCut("v1", type)]);
  }
  for (const cut of cuts) expect(await deliver(cut, { publicUrl })).toEqual(AMBIGUOUS);
});

it.each([
  ["what another product appends by GET", { AccountSid: account_sid, To: "x" }],
  ["what it appends by POST", { challenge_metadata: `{}AccountSid${account_sid}Tox` }],
  ["a parameter that is not declared", { zone: "eu" }],
  ["a POST of the account", { challenge_hidden_details: `account_sid${account_sid}` }],
])("rejects a GET with %s", async (_what, changes) => {
  const cut = honestCut("v2", type, changes);
  expect(await deliver(cut, {}, "GET")).toEqual(AMBIGUOUS);
});
