import { isChallengeEvent, isPushEvent, PUSH_EVENT_TYPES } from "express-push-verification";
import { isPushEventType } from "../lib/event";
import { parsePayload } from "../lib/payload";
import { callParams } from "./support/calls";

describe("isPushEventType, isPushEvent, isChallengeEvent", () => {
  it("tell known from unknown types, and challenge from factor events", () => {
    expect(PUSH_EVENT_TYPES.every(isPushEventType)).toBe(true);
    expect([undefined, "", "*", "toString"].some(isPushEventType)).toBe(false);
    const events = [...PUSH_EVENT_TYPES, "factor.suspended"].map((type) =>
      parsePayload(callParams(type)),
    );
    expect(events.filter(isPushEvent).map(({ type }) => type)).toEqual(PUSH_EVENT_TYPES);
    expect(events.filter(isChallengeEvent).map(({ type }) => type)).toEqual([
      "challenge.approved",
      "challenge.denied",
    ]);
  });
});
