import { createHmac } from "node:crypto";
import {
  verifyPushRequest,
  type VerifyOptions,
  type WebhookError,
} from "express-push-verification";
import { parseEvent } from "../../lib/event/parse";
import { honestCut, SIDS, UUID } from "../support/attacker-texts";
import { AUTH_TOKEN, encodeForm, PUBLIC_URL } from "../support/webhook-requests";
import { joinCut, listDecisive, type Cut } from "../support/cuts";

const type = "challenge.approved";
/** A parameter with a SID of the victim. */
const sid = (name: keyof typeof SIDS, separator = "") =>
  `${name}${separator}${SIDS[name].slice(0, 2)}${"b".repeat(32)}`;

/** The result of a request with this body or query and the signature of a text. */
function deliver(
  signedText: string,
  { body, query }: { body?: string; query?: string },
  options: Partial<VerifyOptions> = {},
) {
  const request = {
    method: body === undefined ? "GET" : "POST",
    url: query === undefined ? "/" : `/?${query}`,
    headers: {
      "x-service-signature": createHmac("sha1", AUTH_TOKEN).update(signedText).digest("base64"),
      ...(body !== undefined && { "content-type": "application/x-www-urlencoded" }),
    },
    body,
  };
  const methods = ["POST", "GET"] as const;
  const settings = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, methods, ...options };
  return verifyPushRequest(request, settings).catch(({ status, code, message }: WebhookError) => {
    if (code === "PAYLOAD_AMBIGUOUS") expect(message).toMatch(/: (?!undefined)[^.]+\.$/);
    return { status, code };
  });
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

describe("a second cut", () => {
  it.each<[what: string, honest: Cut, second: string]>([
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
  ])("rejects %s", async (_what, honest, second) => {
    const text = joinCut(honest);
    const cut = cutAt(second);
    expect(joinCut(cut)).toBe(text);
    expect(listDecisive(parseEvent(cut))).not.toBe(listDecisive(parseEvent(honest)));
    expect(await deliver(PUBLIC_URL + text, { body: encodeForm(cut) })).toEqual(AMBIGUOUS);
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
      if (pair[0] !== declared) return [pair];
      return [
        [declared.slice(0, -name.length), ""],
        [name, other],
      ];
    });
    const text = joinCut(honest);
    expect(joinCut(cut)).toBe(text);
    expect(parseEvent(cut)).toHaveProperty(name, other);
    const options = { extraParameters: [declared] };
    const first = await deliver(PUBLIC_URL + text, { body: encodeForm(honest) }, options);
    expect(first).toHaveProperty(name, genuine);
    const second = await deliver(PUBLIC_URL + text, { body: encodeForm(cut) }, options);
    expect(second).toEqual(AMBIGUOUS);
  });

  it.each(["", ":443"])(
    "rejects a signed GET%s as a POST, publicUrl without a path",
    async (port) => {
      const honest = honestCut("v2", type, { factor_friendly_name: "uuidfresh" });
      const query = `?${encodeForm(honest)}`;
      const publicUrl = `https://hooks.example.test`;
      const body = encodeForm([[`${port}?`, query.slice(1)]]);
      const one = await deliver(publicUrl + port + query, { body }, { publicUrl });
      const code: unknown = expect.stringMatching(/^PAYLOAD_(AMBIGUOUS|INVALID)$/);
      expect(one).toEqual({ status: 400, code });
    },
  );

  // Other URLs of the account, which are no publicUrl here.
  it.each(["", "/staging", "-2", "?env=staging"])(
    "rejects, as a POST, requests to publicUrl and %j: a GET, and POSTs",
    async (rest) => {
      const query = `?uuid=${UUID}&account_sid=${account_sid}&entity_identity=`;
      const cuts: Cut[] = [[[rest + query, ""], ...cutAt(victim), ["z&type=x", ""]]];
      if (rest !== "") {
        const [before = "", after = ""] = joinCut(v2("|")).split("|");
        cuts.push([[rest + before, ""], ...cutAt(victim), [`z${after}`, ""]]);
        cuts.push([[rest, ""], ...honestCut("v1", type)]);
      }
      for (const cut of cuts) {
        const one = await deliver(PUBLIC_URL + joinCut(cut), { body: encodeForm(cut) });
        expect(one).toEqual(AMBIGUOUS);
      }
    },
  );

  it("rejects a signed POST as a GET with 403 SIGNATURE_MISMATCH", async () => {
    const honest = honestCut("v1", type);
    const one = await deliver(PUBLIC_URL + joinCut(honest), { query: encodeForm(honest) });
    expect(one).toEqual({ status: 403, code: "SIGNATURE_MISMATCH" });
  });

  it.each<[what: string, before: string, after: string]>([
    ["what another product appends by GET", "", `&AccountSid=${account_sid}&To=x`],
    ["what another product appends by POST", "", `&z=AccountSid${account_sid}Tox`],
    ["what another product appends by POST to a known name", "", `AccountSid${account_sid}Tox`],
    ["a parameter that is not declared", "", "&zone=eu"],
    ["one before the first known one", "a=1&", ""],
    ["a POST of the account", "", `&challenge_hidden_details=account_sid${account_sid}`],
    ["the hash of a body", "", "&bodySHA256=aa"],
    ["a POST to publicUrl and a query", `env=stagingaccount_sid${account_sid}&`, "&z="],
  ])("rejects a GET with %s", async (_what, before, after) => {
    const query = before + encodeForm(honestCut("v2", type)) + after;
    const one = await deliver(`${PUBLIC_URL}?${query}`, { query });
    expect(one).toEqual(AMBIGUOUS);
  });
});
