import fc from "fast-check";
import {
  isChallengeEvent,
  isPushEvent,
  parsePushEvent,
  PUSH_EVENT_TYPES,
} from "express-push-verification";
import { listEventPairs } from "../../../lib/core/event/event-parameters";
import { parseEvent } from "../../../lib/core/event/parse";
import { words } from "../../support/attacker-texts";
import { ACCOUNT_SID, eventPairs, CHALLENGE_SID } from "../../support/webhook-requests";

const INVALID = expect.objectContaining({ code: "PAYLOAD_INVALID" }) as Error;
function parse(type: string, version: "v1" | "v2", overrides: Record<string, string | undefined>) {
  return parseEvent(eventPairs(type, version, overrides));
}

describe("parseEvent", () => {
  describe("rejects", () => {
    const required = "uuid type account_sid service_sid entity_identity factor_sid";
    it.each<[type: string, version: "v1" | "v2", names: string]>([
      ["factor.created", "v1", required],
      ["factor.deleted", "v2", `${required} factor_type factor_friendly_name`],
      ["challenge.approved", "v1", "challenge_sid"],
      ["challenge.denied", "v2", "challenge_sid"],
    ])("%s %s without one of %j", (type, version, names) => {
      for (const name of words(names)) {
        const without = () => parse(type, version, { [name]: undefined });
        expect(without).toThrow(`${name} is missing`);
      }
    });

    it.each(words("account_sid service_sid factor_sid challenge_sid"))("a malformed %s", (name) => {
      const digits = "0aF".repeat(10) + "12";
      const prefix = { account_sid: "AC", service_sid: "VA", factor_sid: "YF" }[name] ?? "YC";
      for (const sid of [`${prefix}${digits}0`, `${prefix}${digits}\n`, `XX${digits}`]) {
        const malformed = () => parse("challenge.approved", "v2", { [name]: sid });
        expect(malformed).toThrow(`${name} is malformed`);
      }
    });

    it.each([
      ["uuid", ""],
      ["uuid", "u".repeat(257)],
      ["type", ""],
      ["entity_identity", ""],
    ])("%s %j", (name, value) => {
      expect(() => parse("factor.created", "v1", { [name]: value })).toThrow(INVALID);
    });

    it("any parameter twice, also with the same value", () => {
      const params = eventPairs("challenge.approved");
      for (const pair of params)
        expect(() => parseEvent([...params, pair])).toThrow(`${pair[0]} is repeated`);
    });

    it("without quoting a received value", () => {
      const malformed = { factor_sid: "hush", uuid: "hush".repeat(99) };
      expect(() => parse("challenge.approved", "v2", malformed)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining("hush") }),
      );
    });
  });

  it.each([
    ["uuid", "u".repeat(256)],
    ["uuid", " "],
    ["factor_type", ""],
    ["factor_friendly_name", ""],
  ])("accepts %s %j", (name, value) => {
    expect(parse("factor.created", "v2", { [name]: value })).toHaveProperty(name, value);
  });

  it("keeps every pair in params, including unknown and repeated ones", () => {
    const added = ["tag=b", "tag=a", "__proto__=x", "constructor[prototype][z]=1"];
    const pairs = added.map((one) => one.split("=") as [string, string]);
    const params = [...eventPairs("factor.created"), ...pairs];
    const event = parseEvent(params);
    expect(event.params).toEqual(params);
    expect(Object.getPrototypeOf(event)).toBe(Object.prototype);
    expect(event).not.toHaveProperty("tag");
    expect(({} as Record<string, unknown>).z).toBeUndefined();
  });

  it("does not parse the challenge parameters of a factor event", () => {
    const extra = { challenge_sid: "not a sid", challenge_details: "not JSON" };
    for (const version of ["v1", "v2"] as const) {
      const event = parse("factor.verified", version, extra);
      expect(event).toMatchObject({ version, issues: [] });
      expect(event).not.toHaveProperty("challenge_sid");
      expect(event).not.toHaveProperty("challenge_details");
      expect(event.params).toContainEqual(["challenge_sid", "not a sid"]);
    }
  });

  it.each([
    ...words("factor_type factor_friendly_name factor_metadata"),
    ...words("challenge_details challenge_hidden_details challenge_metadata"),
  ])("must be a complete v2 event with %s", (name) => {
    expect(() => parse("challenge.approved", "v1", { [name]: "{}" })).toThrow(INVALID);
    const v2 = { factor_type: "push", factor_friendly_name: "x", [name]: "{}" };
    expect(parse("challenge.approved", "v1", v2)).toHaveProperty("version", "v2");
  });

  describe("of an unknown type", () => {
    it("has uuid, type, the SIDs and all params", () => {
      const fields = { uuid: "1", type: "factor.suspended", account_sid: ACCOUNT_SID };
      const params = Object.entries(fields);
      expect(parseEvent(params)).toEqual({ ...fields, params, issues: [] });
    });

    it.each([
      ...["", undefined].map((uuid) => ({ uuid })),
      ...["AC1", undefined].map((account_sid) => ({ account_sid })),
      { service_sid: "x" },
      ...["__proto__", "a.b ", "x".repeat(101), "", "1.a", "type:a"].map((type) => ({ type })),
    ])("rejects %j", (bad) => {
      expect(() => parse("challenge.expired", "v2", bad)).toThrow(INVALID);
    });

    it.each([
      ...words("toString CHALLENGE.APPROVED challenge.approved.late entity_v2.merged-1"),
      "x".repeat(100),
    ])("%j is unknown too", (type) => {
      expect(parse(type, "v1", {})).not.toHaveProperty("version");
    });
  });

  describe("with JSON that is not as specified", () => {
    const NOT_SPECIFIED = "does not have the specified members";
    const PROTO = "has a member named __proto__";
    const long = `{"a":"${"x".repeat(1024)}"}`;
    const nest = (open: string, times: number, close: string, inside = "1") =>
      open.repeat(times) + inside + close.repeat(times);
    it.each([
      ["factor_metadata", "{", "is not JSON"],
      ["factor_metadata", "[]", NOT_SPECIFIED],
      ["factor_metadata", '{"a":1}', NOT_SPECIFIED],
      ["factor_metadata", long, "is over 1024 characters"],
      ["factor_metadata", '{"__proto__":"x"}', PROTO],
      ["challenge_metadata", '{"a":null}', NOT_SPECIFIED],
      ["challenge_metadata", long, "is over 1024 characters"],
      ["challenge_details", "[]", NOT_SPECIFIED],
      ...[
        ["{}", "message"],
        ['{"message":"m","date":5}', "date"],
        ['{"message":"m","fields":{}}', "fields"],
        ['{"message":"m","fields":[5]}', "fields[0]"],
        ['{"message":"m","fields":[{"label":"a","value":5}]}', "fields[0].value"],
      ].map(([text, member]) => ["challenge_details", text, `${NOT_SPECIFIED}: see ${member}`]),
      ["challenge_hidden_details", "[1]", NOT_SPECIFIED],
      ...[
        '{"a":[{"b":{"__proto__":1}}]}',
        String.raw`{"\u005f_proto__":1}`,
        nest('{"a":[', 15, "]}", '{"__proto__":1}'),
      ].map((text) => ["challenge_hidden_details", text, PROTO]),
    ])("%s %j: the event is valid and the field is absent", (name = "", text, message) => {
      const event = parse("challenge.approved", "v2", { [name]: text });
      expect(event).not.toHaveProperty(name);
      expect(event.issues).toEqual([{ param: name, message }]);
      expect(event.params).toContainEqual([name, text]);
    });

    it.each([
      ["factor_metadata", `{"a":"${"x".repeat(1016)}"}`],
      ["factor_metadata", "{}"],
      ["challenge_details", '{"message":"","date":null,"fields":null,"more":[1]}'],
      ["challenge_hidden_details", '{"a":{"b":[1,null,true]}}'],
      ["challenge_hidden_details", String.raw`{"a":"__proto__","\u00e9":"\u00e9"}`],
      ["challenge_hidden_details", `{"a":[${nest('{"tags":["["]},', 50, "")}]}`],
      ["challenge_hidden_details", nest('{"a":', 32, "}")],
      ["challenge_hidden_details", `{"a":${nest("[", 31, "]")},"b":[]}`],
    ])("accepts %s %j", (name, text) => {
      const event = parse("challenge.denied", "v2", { [name]: text });
      expect(event).toHaveProperty(name, JSON.parse(text));
      expect(event.issues).toEqual([]);
    });

    it.each([
      ["[", 33, "]"],
      ['{"a":', 33, "}"],
      ['[0,{"a":', 5_000, "}]"],
    ])("does not read JSON that is too deep: %s, repeated %i times", (...given) => {
      const challenge_hidden_details = nest(...given);
      const { issues } = parse("challenge.approved", "v2", { challenge_hidden_details });
      expect(issues).toMatchObject([{ message: "is nested more than 32 levels deep" }]);
    });

    it.each(["", "null"])("takes the text %j for an absent field", (text) => {
      for (const name of words(
        "factor_metadata challenge_details challenge_hidden_details challenge_metadata",
      )) {
        const event = parse("challenge.denied", "v2", { [name]: text });
        expect(event).toMatchObject({ version: "v2", issues: [] });
        expect(event).not.toHaveProperty(name);
        expect(event.params).toContainEqual([name, text]);
      }
    });

    it("reports the problem of each of several parameters", () => {
      const both = { factor_metadata: "x", challenge_metadata: "y" };
      const { issues } = parse("challenge.approved", "v2", both);
      expect(issues.map(({ param }) => param)).toEqual(Object.keys(both));
    });
  });

  it("parses any pairs to an event or rejects them with a code", () => {
    const all = Object.fromEntries(eventPairs("challenge.approved"));
    const names = fc.constantFrom(...Object.keys(all), "__proto__");
    const known = fc.constantFrom(...PUSH_EVENT_TYPES, ACCOUNT_SID, CHALLENGE_SID);
    const values = fc.oneof(known, fc.json(), fc.string());
    fc.assert(
      fc.property(fc.array(fc.tuple(names, values)), fc.boolean(), (pairs, isComplete) => {
        const whole = Object.entries<string>({ ...all, ...Object.fromEntries(pairs) });
        const params = isComplete ? whole : pairs;
        try {
          expect(parseEvent(params).params).toEqual(params);
        } catch (error) {
          expect(error).toMatchObject({ code: "PAYLOAD_INVALID" });
        }
      }),
    );
  });
});

describe("parsePushEvent", () => {
  it.each(["factor.verified", "factor.suspended"])("returns a stored %s", (type) => {
    const event = parseEvent(eventPairs(type));
    const text = JSON.stringify(event);
    for (const stored of [text, JSON.parse(text)]) expect(parsePushEvent(stored)).toEqual(event);
  });

  it.each(["", "null", "5", "{}", undefined, null, []])("rejects %j", (stored) =>
    expect(() => parsePushEvent(stored)).toThrow(INVALID),
  );

  it.each([
    { type: "factor.suspended ", version: undefined },
    { version: "v3" },
    { params: undefined },
    { factor_friendly_name: undefined },
    { challenge_details: "text" },
  ])("rejects an event with %j", (change) => {
    const event = { ...parseEvent(eventPairs("challenge.approved")), ...change };
    expect(() => parsePushEvent(event)).toThrow(INVALID);
  });
});

it.each([
  [isPushEvent, PUSH_EVENT_TYPES],
  [isChallengeEvent, ["challenge.approved", "challenge.denied"]],
])("%p is true for %j only", (isOne, expected) => {
  const types = [...PUSH_EVENT_TYPES, "factor.suspended", "toString"];
  const events = types.map((type) => parseEvent(eventPairs(type)));
  expect(events.filter(isOne).map(({ type }) => type)).toEqual(expected);
});

it("an event of a factor has no parameter of challenges, one of an unknown type all", () => {
  const texts = { uuid: "", factor_type: "push", challenge_sid: "YC" };
  expect(listEventPairs("v1", { ...texts, type: "factor.created" })).toEqual([
    ["uuid", ""],
    ["type", "factor.created"],
  ]);
  const unknown = { ...texts, type: "user.created" };
  expect(Object.fromEntries(listEventPairs("v2", unknown))).toEqual(unknown);
});
