import { isChallengeEvent, isPushEvent, PUSH_EVENT_TYPES } from "express-push-verification";
import { isPushEventType } from "../../lib/event/event";
import { parseEvent } from "../../lib/event/parse";
import { eventPairs } from "../support/webhook-requests";

describe("isPushEventType, isPushEvent, isChallengeEvent", () => {
  it("distinguish known and unknown types, and challenge and factor events", () => {
    expect(PUSH_EVENT_TYPES.every(isPushEventType)).toBe(true);
    expect([undefined, "", "*", "toString"].some(isPushEventType)).toBe(false);
    const events = [...PUSH_EVENT_TYPES, "factor.suspended"].map((type) =>
      parseEvent(eventPairs(type)),
    );
    expect(events.filter(isPushEvent).map(({ type }) => type)).toEqual(PUSH_EVENT_TYPES);
    expect(events.filter(isChallengeEvent).map(({ type }) => type)).toEqual([
      "challenge.approved",
      "challenge.denied",
    ]);
  });
});
