import { createFindAmbiguity } from "../../lib/receiver/ambiguity";
import { parseEvent } from "../../lib/event/parse";
import { honestCut, SIDS, UUID } from "../support/attacker-texts";
import { joinCut, type Cut } from "../support/cuts";

const type = "challenge.approved";
const { account_sid } = SIDS;
const isAccepted = (cut: Cut, extraParameters: string[] = []) =>
  createFindAmbiguity(extraParameters)(parseEvent(cut), joinCut(cut)) === undefined;

describe("honest requests", () => {
  const ALL_EXTRAS = {
    zone: "eu",
    api_version: "2",
    delivery_attempt: "1",
    factor_status: "active",
    source_type: "device",
    tz: "Europe/Berlin",
    __proto: "x",
    ["__proto__"]: "x",
    "a[b][c]": "d",
    Grüße: "\u{1F600}",
  };
  const TYPES = ["created", "verified", "deleted"].map((one) => `factor.${one}`);
  const VERSIONS = ["v1", "v2"] as const;

  it.each(
    VERSIONS.flatMap((version) =>
      [...TYPES, "challenge.approved", "challenge.denied", "challenge.expired"].map(
        (one) => [version, one] as const,
      ),
    ),
  )("accepts %s %s with parameters beyond the specification", (version, one) => {
    expect(isAccepted(honestCut(version, one))).toBe(true);
    const { tz: _tz, ...others } = ALL_EXTRAS;
    const extras = one === "challenge.expired" ? others : ALL_EXTRAS;
    expect(isAccepted(honestCut(version, one, extras))).toBe(true);
  });

  it.each([
    "ada@example.com",
    "steve_smith",
    "alex_smith",
    "two_factor_user",
    "event_manager",
    "adaevent_x",
    "entity",
    "adaf",
    "user-7f3a-22",
    "prod_eu_west_1",
    UUID,
    `${UUID}f`,
    "f".repeat(64),
    "typechallenge.approved",
    "Zoë \u{1F600}",
  ])("accepts the identity %s", (entity_identity) => {
    for (const version of VERSIONS) {
      expect(isAccepted(honestCut(version, type, { entity_identity }))).toBe(true);
    }
  });

  it("accepts free text and JSON that contain names", () => {
    const words = "type entity account uuid typefactor.created service_sid";
    const json = JSON.stringify({ entity_identity: "ada", type, uuid: "1", account_sid, words });
    const overrides = { factor_friendly_name: words, factor_metadata: json, tag: "type entity" };
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
    ["a parameter u", "v2", { u: "1" }],
    ["uuid in a parameter, with tz", "v2", { tz: "x", zone: "uuid" }],
    ["an unknown name after a uuid without format", "v2", { uuid: "1-2", zone: "eu" }],
    ["a uuid that goes on after its format", "v2", { uuid: `${UUID}x` }],
    ["a type with its name in a later parameter", "v2", { tag: `type${type}` }],
    ["a known type that goes on", "v2", { type: "challenge.approvedx" }],
    ["tz with a type that is not known", "v2", { type: "challenge.expired", tz: "UTC" }],
  ])("rejects, as the documented price, %s", (_what, version, overrides) => {
    expect(isAccepted(honestCut(version, type, overrides))).toBe(false);
  });
});

describe("extraParameters", () => {
  const withOption = ["event_id", "zone"];

  it("accepts the parameter that follows entity_identity in every request", () => {
    const extras = { event_id: "1", expires_at: "2", zone: "eu" };
    for (const version of ["v1", "v2"] as const) {
      expect(isAccepted(honestCut(version, type, extras), withOption)).toBe(true);
    }
    expect(
      isAccepted(honestCut("v2", type, { factor_risk_score: "1" }), ["factor_risk_score"]),
    ).toBe(true);
  });

  it.each<[string, Record<string, string>]>([
    ["a request without it, as an identity could hold it", { entity_identity: "adaevent_id1" }],
    ["an identity that contains it", { entity_identity: "adaevent_id1", event_id: "1" }],
    ["another value that contains it", { event_id: "event_id" }],
    ["an unknown name before it", { environment: "prod", event_id: "1" }],
  ])("rejects %s", (_what, overrides) => {
    expect(isAccepted(honestCut("v2", type, overrides), withOption)).toBe(false);
  });
});
