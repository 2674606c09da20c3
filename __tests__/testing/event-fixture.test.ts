import { expectTypeOf } from "expect-type";
import {
  PUSH_EVENT_TYPES,
  parsePushEvent,
  type FactorCreatedEvent,
} from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";

describe("eventFixture", () => {
  it.each(
    PUSH_EVENT_TYPES.flatMap((type) =>
      (["v1", "v2"] as const).map((version) => [type, version] as const),
    ),
  )("creates %s of %s as a handler receives it", (type, version) => {
    const event = eventFixture(type, {}, { version });
    expect(parsePushEvent(JSON.stringify(event))).toEqual(event);
    expect(event).toMatchObject({ type, version, issues: [] });
    const isChallenge = type.startsWith("challenge.");
    expect("challenge_sid" in event).toBe(isChallenge);
    expect("factor_metadata" in event).toBe(version === "v2");
    expect("challenge_details" in event).toBe(version === "v2" && isChallenge);
  });

  it("has the type of its event type and version", () => {
    const event = eventFixture("challenge.approved", { entity_identity: "u1" });
    expect(event.challenge_details?.message).toMatch(/250 €/);
    expect(event.entity_identity).toBe("u1");
    expectTypeOf(eventFixture("factor.created")).toExtend<FactorCreatedEvent>();
    const { version } = eventFixture("factor.created", {}, { version: "v1" });
    expectTypeOf(version).toEqualTypeOf<"v1">();
    expect(eventFixture("factor.created").uuid).not.toBe(eventFixture("factor.created").uuid);
  });

  // testing/signed-request.test.ts has the types and the other overrides.
  it("rejects overrides that a receiver rejects", () => {
    const invalid = expect.objectContaining({ code: "PAYLOAD_INVALID" });
    expect(() => eventFixture("factor.created", { factor_sid: "YF1" })).toThrow(invalid);
    const ambiguous = expect.objectContaining({ code: "PAYLOAD_AMBIGUOUS" });
    const entity_identity = "entity_identity";
    expect(() => eventFixture("factor.created", { entity_identity })).toThrow(ambiguous);
  });

  it.each([{ versio: "v1" }, { version: "v3" }])("names the wrong option of %j", (options) => {
    const message: unknown = expect.stringContaining("version");
    const wrong = expect.objectContaining({ name: "TypeError", message });
    expect(() => eventFixture("factor.created", {}, options as never)).toThrow(wrong);
  });
});
