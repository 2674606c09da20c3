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
    expect(event).toMatchObject({
      entity_identity: "u1",
      factor_type: "push",
      challenge_metadata: { biometrics: "face" },
    });
    const denied = eventFixture("challenge.denied");
    expect(denied.challenge_metadata).toEqual({ biometrics: "none" });
    expectTypeOf(eventFixture("factor.created")).toExtend<FactorCreatedEvent>();
    const { version } = eventFixture("factor.created", {}, { version: "v1" });
    expectTypeOf(version).toEqualTypeOf<"v1">();
    expect(eventFixture("factor.created").uuid).not.toBe(eventFixture("factor.created").uuid);
  });

  // testing/signed-request.test.ts has the other overrides.
  it.each<[overrides: object, options: object, error: object]>([
    [{ factor_sid: "YF1" }, {}, { code: "PAYLOAD_INVALID" }],
    [{ entity_identity: "entity_identity" }, {}, { code: "PAYLOAD_AMBIGUOUS" }],
    [{}, { version: "v3" }, { message: expect.stringMatching(/^eventFixture: option version /) }],
  ])("rejects the overrides %j with %j", (overrides, options, error) => {
    const make = () => eventFixture("factor.created", overrides, options);
    expect(make).toThrow(expect.objectContaining(error));
  });
});
