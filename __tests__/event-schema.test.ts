import { pushEventSchema, sidSchema, unknownEventSchema } from "../lib/event-schema";
import { parsePayload } from "../lib/payload";
import { callParams } from "./support/calls";

describe("sidSchema", () => {
  it.each([
    [`AC${"0aF".repeat(10)}12`, true],
    [`AC${"0".repeat(31)}`, false],
    [`AC${"0".repeat(33)}`, false],
    [`AC${"0".repeat(32)}\n`, false],
    [`ac${"0".repeat(32)}`, false],
    [`VA${"0".repeat(32)}`, false],
  ])("%j: %j", (sid, isSid) => {
    expect(sidSchema("AC").safeParse(sid).success).toBe(isSid);
  });
});

describe("pushEventSchema", () => {
  it.each([
    { type: "factor.suspended" },
    { version: "v3" },
    { version: undefined },
    { params: undefined },
    { factor_friendly_name: undefined },
    { challenge_details: "text" },
  ])("rejects an event with %j", (change) => {
    const event = { ...parsePayload(callParams("challenge.approved")), ...change };
    expect(pushEventSchema.safeParse(event).success).toBe(false);
  });
});

describe("unknownEventSchema", () => {
  it.each([
    ["factor.suspended", true],
    ["entity_v2.merged-1", true],
    ["x".repeat(100), true],
    ["x".repeat(101), false],
    ["", false],
    ["1.a", false],
    ["__proto__", false],
    ["challenge.approved ", false],
    ["type:a", false],
  ])("type %j: %j", (type, isType) => {
    const event = { ...parsePayload(callParams("factor.suspended")), type };
    expect(unknownEventSchema.safeParse(event).success).toBe(isType);
  });

  it("requires the account", () => {
    const event = { ...parsePayload(callParams("factor.suspended")), account_sid: undefined };
    expect(unknownEventSchema.safeParse(event).success).toBe(false);
  });
});
