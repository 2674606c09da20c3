import { PUSH_EVENT_TYPES, pushWebhooks } from "express-push-verification";
import { createFindAmbiguity } from "../../lib/receiver/ambiguity";
import { parseEvent } from "../../lib/event/parse";
import { honestCut, SIDS, UUID, words } from "../support/attacker-texts";
import { useChannels } from "../support/channels";
import { joinCut, type Cut } from "../support/cuts";
import { createReceiver, silent } from "../support/receivers";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";

const type = "challenge.approved";
const { account_sid } = SIDS;
const findAmbiguity = (cut: Cut, declared: string[] = []) =>
  createFindAmbiguity(declared)(parseEvent(cut), joinCut(cut));
const isAccepted = (...given: Parameters<typeof findAmbiguity>) =>
  findAmbiguity(...given) === undefined;

describe("honest requests", () => {
  const EXTRAS = {
    api_version: "2",
    delivery_attempt: "1",
    factor_status: "active",
    source_type: "device",
    tz: "Europe/Berlin",
    Grüße: "\u{1F600}",
  };
  const { Grüße: _late, tz: _tz, ...UNDECLARED } = EXTRAS;
  const VERSIONS = ["v1", "v2"] as const;

  it.each(
    VERSIONS.flatMap((version) =>
      [...PUSH_EVENT_TYPES, "challenge.expired"].map((one) => [version, one] as const),
    ),
  )("accepts %s %s with parameters beyond the specification", (version, one) => {
    expect(isAccepted(honestCut(version, one))).toBe(true);
    expect(isAccepted(honestCut(version, one, UNDECLARED))).toBe(true);
    const declared = { ...EXTRAS, event_id: "1", entity_identity_type: "email", user_uuid: "2" };
    expect(isAccepted(honestCut(version, one, { user_uuid: UUID }))).toBe(false);
    expect(isAccepted(honestCut(version, one, { user_uuid: UUID }), ["user_uuid"])).toBe(true);
    const early = { Zone: "eu", "a[b][c]": "d", ["__proto__"]: "x", "event-id": "3", exp: "4" };
    const cut = honestCut(version, one, { ...declared, ...early, parent_account_sid: account_sid });
    expect(
      isAccepted(cut, [...Object.keys(declared), ...Object.keys(early), "parent_account_sid"]),
    ).toBe(true);
    expect(isAccepted(cut, ["parent_account_sid"])).toBe(false);
  });

  it.each([
    ...words("ada@example.com steve_smith alex_smith two_factor_user event_manager adaevent_x"),
    ...words("entity adaf user-7f3a-22 prod_eu_west_1 typechallenge.approved"),
    ...words(`${UUID} ${UUID}f ${"f".repeat(64)}`),
    "Zoë \u{1F600}",
  ])("accepts the identity %s", (entity_identity) => {
    for (const version of VERSIONS) {
      expect(isAccepted(honestCut(version, type, { entity_identity }))).toBe(true);
    }
  });

  it.each([
    ...words(`${UUID.toUpperCase()} ${"a".repeat(32)} ${"5".repeat(40)} ${"f".repeat(64)}`),
    ...words(`urn:uuid:${UUID} ${UUID}-1 EV${"2".repeat(32)}/2`),
    "a b",
    ...words("test-uuid webhook_uuid_1 uuid type x,y {1} é"),
  ])("accepts the uuid %s", (uuid) => {
    for (const version of VERSIONS) {
      expect(isAccepted(honestCut(version, type, { uuid }))).toBe(true);
      expect(isAccepted(honestCut(version, "factor.created", { uuid }))).toBe(true);
    }
  });

  it("accepts free text and JSON that contain names", () => {
    const names = "type entity account uuid typefactor.created service_sid";
    const json = JSON.stringify({ entity_identity: "ada", type, uuid: "1", account_sid, names });
    const overrides = { factor_friendly_name: names, factor_metadata: json, tag: "type entity" };
    const challenge = { challenge_details: json, challenge_metadata: json };
    const withFriendlyName = { ...overrides, factor_metadata: "{}", tag: "" };
    expect(isAccepted(honestCut("v2", "factor.created", overrides))).toBe(true);
    expect(isAccepted(honestCut("v2", type, { ...overrides, ...challenge }))).toBe(true);
    expect(isAccepted(honestCut("v2", type, withFriendlyName))).toBe(true);
  });

  it.each<[what: string, version: "v1" | "v2", overrides: Record<string, string>]>([
    ["entity_identity in an identity", "v1", { entity_identity: "xentity_identity" }],
    ["factor_friendly_name in an identity", "v1", { entity_identity: "xfactor_friendly_name" }],
    ["factor_friendly_name in metadata", "v2", { factor_metadata: '{"factor_friendly_name":"x"}' }],
    ["a SID with its name", "v2", { factor_friendly_name: `account_sid${account_sid}` }],
    ["an unknown name directly after entity_identity", "v2", { environment: "prod" }],
    ["event_id without the option", "v2", { event_id: "1" }],
    ["entity_sid without the option", "v1", { entity_sid: "1" }],
    ["factor_risk_score in v1 without the option", "v1", { factor_risk_score: "1" }],
    ["a uuid that goes on with a name after uuid", "v2", { uuid: `${UUID}x` }],
    ["a word after a UUID", "v1", { uuid: `${UUID}-retry` }],
    ["a type with its name in a later parameter", "v2", { tag: `type${type}` }],
    ["a known type that goes on like a name", "v2", { type: "challenge.approvedtx" }],
    ["a name before account_sid", "v2", { access: "1" }],
    ["a name after uuid", "v2", { zone: "eu" }],
    ["a parameter of another product", "v2", { factor_metadata: `AccountSid=${account_sid}` }],
    ["tz with a type that is not known", "v2", { type: "challenge.expired", tz: "UTC" }],
  ])("rejects, as the documented price, %s", (_what, version, overrides) => {
    expect(isAccepted(honestCut(version, type, overrides))).toBe(false);
  });
});

type Named = [parameter: string, text: string, overrides: object, declared?: string[]];
it.each<Named>([
  ...words("AccountSid= AccountSidAC bodySHA256= account_sid=A").map((text): Named => {
    const overrides = { challenge_hidden_details: `{"agent":"x ${text}5"}` };
    return ["challenge_hidden_details", text, overrides];
  }),
  ...words("account_sidAC challenge_sidYC factor_sidYF service_sidVA").map((text): Named => [
    "factor_friendly_name",
    text,
    { factor_friendly_name: text },
  ]),
  ["entity_identity", "entity_identity", { entity_identity: "xentity_identity" }],
  ["factor_metadata", "factor_friendly_name", { factor_metadata: '{"factor_friendly_name":"x"}' }],
  ["entity_identity", "event", { entity_identity: "an event" }, ["event"]],
  ["event", "event", { event: "an event" }, ["event"]],
])("names the parameter %s that contains %s", (parameter, text, overrides, declared = []) => {
  const found = findAmbiguity(honestCut("v2", type, { ...overrides }), declared);
  expect(found).toEqual({ parameter, reason: `${parameter} contains ${text}` });
});

it("accepts an unknown type without a service, unless a value shows one", () => {
  const withoutService = (entity_identity: string) =>
    honestCut("v1", "challenge.expired", { entity_identity }).filter(
      ([name]) => name !== "service_sid",
    );
  expect(isAccepted(withoutService("ada"))).toBe(true);
  expect(isAccepted(withoutService(`service_sid${SIDS.service_sid}`))).toBe(false);
});

it("rejects a v1 event with a declared value that contains a name of v2", () => {
  const cut = honestCut("v1", type, { event_id: "factor_friendly_namex" });
  expect(isAccepted(cut, ["event_id"])).toBe(false);
});

describe("extraParameters", () => {
  const counted = useChannels("rejected");
  const names = ["event_id", "zone"];

  it("accepts a declared parameter in any request, and requests without it", () => {
    const extras = { event_id: "1", zone: "eu" };
    for (const version of ["v1", "v2"] as const) {
      expect(isAccepted(honestCut(version, type, extras), names)).toBe(true);
      expect(isAccepted(honestCut(version, type), names)).toBe(true);
    }
    expect(isAccepted(honestCut("v2", "factor.created", { exp: "1" }), ["exp"])).toBe(true);
  });

  it.each<[what: string, extras: Record<string, string>]>([
    ["ends with type", { user_type: "admin" }],
    ["begins with type", { types: "a", type_version: "2" }],
    ["begins with uuid", { uuid_version: "4" }],
    ["ends with uuid", { webhook_uuid: UUID }],
    ["contains type after uuid", { verification_type: "push", webhook_uuid: UUID }],
    ["contains type, beside one before type", { status: "ok", source_type: "x", user_type: "y" }],
    ["contains uuid, beside one before uuid", { user_uuid: UUID, tz: "UTC", uuid_version: "4" }],
    ["contains another declared name", { event: "1", event_id: "2", exp: "3", expires: "4" }],
    ["is the beginning of a name of the specification", { factor: "1", factor_friendly: "2" }],
    ["is the end of a name of the specification", { t_sid: "1", r_sid: "2" }],
    ["is a part of a friendly name", { exp: "1", factor_friendly_name: "expert's exp" }],
  ])("accepts a declared name that %s", (_what, extras) => {
    const declared = Object.keys(extras).filter((name) => name !== "factor_friendly_name");
    const versions = "factor_friendly_name" in extras ? (["v2"] as const) : (["v1", "v2"] as const);
    for (const version of versions) {
      for (const one of [type, "factor.created", "challenge.expired"]) {
        expect(isAccepted(honestCut(version, one, extras), declared)).toBe(true);
      }
    }
  });

  it("accepts a declared name before type that ends like the text before uuid", () => {
    const cut = honestCut("v1", "factor.created", { uuid: "01J9ZQ5K3M8T7V2W", type_uuid: "" });
    expect(isAccepted(cut, ["iduuid", "type_uuid"])).toBe(true);
  });

  it("rejects, as the documented price, a value with a dot where it may be the type", () => {
    const extras = { status: "ok", user_type: "app.admin" };
    expect(isAccepted(honestCut("v1", type, extras), Object.keys(extras))).toBe(false);
    expect(isAccepted(honestCut("v1", type, { user_type: "app.admin" }), ["user_type"])).toBe(true);
  });

  it("rejects two names that leave two uuids at construction, and names both", () => {
    const options = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };
    expect(() =>
      pushWebhooks({ ...options, extraParameters: ["tz", "zone", "webhook_uuid"] }),
    ).toThrow(/extraParameters must not have "tz" together with "webhook_uuid"/);
  });

  it("names an undeclared parameter that leaves two uuids beside a declared one", () => {
    const cut = honestCut("v1", type, { tz: "UTC", webhook_uuid: UUID });
    expect(findAmbiguity(cut, ["webhook_uuid"])).toHaveProperty("parameter", "tz");
    // One after uuid is the likelier reason.
    const both = honestCut("v1", type, { tz: "UTC", zone: "eu" });
    expect(findAmbiguity(both)).toHaveProperty("parameter", "zone");
  });

  it.each(["delivery", "source"])(
    "does not name the undeclared parameter %s where it cannot be the reason",
    (name) => {
      const overrides = { entity_identity: "adaevent_id1", [name]: "1" };
      const ambiguity = findAmbiguity(honestCut("v2", type, overrides), ["event_id"]);
      expect(ambiguity).toHaveProperty("parameter", "entity_identity");
    },
  );

  it.each<[string, Record<string, string>]>([
    ["an identity that contains it", { entity_identity: "adaevent_id1" }],
    ["an identity that contains it, before it", { entity_identity: "aevent_id1", event_id: "1" }],
    ["another value that contains it", { event_id: "event_id" }],
    ["an unknown name before it", { environment: "prod", event_id: "1" }],
  ])("rejects %s", (_what, overrides) => {
    expect(isAccepted(honestCut("v2", type, overrides), names)).toBe(false);
  });

  it("is the name that the rejection and the logger at level error tell", async () => {
    const logged: object[] = [];
    const logger = { ...silent, error: (fields: object) => void logged.push(fields) };
    const { push, receive } = createReceiver({ logger });
    const rejected: object[] = [];
    push.onRejected((error) => void rejected.push(error));
    for (const parameter of [
      ...words("access entity_sid expiration_date exp event-id user_uuid zone été"),
      "x y",
    ]) {
      const value = parameter === "user_uuid" ? UUID : "1";
      const request = eventRequest("challenge.approved", { [parameter]: value });
      expect(await receive(request)).toBe(400);
      const about = { code: "PAYLOAD_AMBIGUOUS", parameter };
      expect([rejected.pop(), logged.pop(), counted.pop()?.[1]]).toMatchObject([
        about,
        about,
        about,
      ]);
    }
  });
});
