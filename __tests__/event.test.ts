import { PUSH_EVENT_TYPES, pushEventSchema } from "express-push-verification";
import { isChallengeEvent, isPushEventType, sidSchema } from "../lib/event";
import { parsePayload } from "../lib/payload";
import { callParams } from "./support/calls";

describe("pushEventSchema", () => {
  it.each(PUSH_EVENT_TYPES.flatMap((type) => [[type, "v1"] as const, [type, "v2"] as const]))(
    "gives back an event of %s %s that was JSON in between",
    (type, version) => {
      const event = parsePayload(callParams(type, version));
      expect(event).toMatchObject({ type, version });
      expect(pushEventSchema.parse(JSON.parse(JSON.stringify(event)))).toEqual(event);
    },
  );

  it.each([
    { type: "factor.suspended" },
    { version: "v3" },
    { version: undefined },
    { params: undefined },
    { factor_friendly_name: undefined },
    { challenge_details: "text" },
  ])("refuses an event with %j", (change) => {
    const event = { ...parsePayload(callParams("challenge.approved")), ...change };
    expect(pushEventSchema.safeParse(event).success).toBe(false);
  });
});

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

describe("isPushEventType, isChallengeEvent", () => {
  it("tell known from unknown, and challenges from factors", () => {
    expect(PUSH_EVENT_TYPES.every(isPushEventType)).toBe(true);
    expect([undefined, "", "*", "toString"].some(isPushEventType)).toBe(false);
    const challenges = PUSH_EVENT_TYPES.filter((type) =>
      isChallengeEvent(parsePayload(callParams(type))),
    );
    expect(challenges).toEqual(["challenge.approved", "challenge.denied"]);
  });
});
