/** Behaviour of factors and challenges that specification.test.ts does not test. */
import { createEmulator, type Emulator } from "express-push-verification/emulator";

let emulator: Emulator;
beforeEach(() => (emulator = createEmulator()));
afterEach(() => emulator.close());

it("reject text that cannot be sent, and unknown fields", () => {
  const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`) as object;
  const { sid: factor_sid } = emulator.createFactor();
  emulator.verifyFactor(factor_sid);
  for (const create of [
    () => emulator.createFactor({ entity_identity: "\uD800" }),
    () => emulator.createFactor({ friendly_name: "\uDC00" }),
    () => emulator.createFactor({ name: "x" } as object),
    () => emulator.createFactor({ metadata: "{}" as never }),
    () => emulator.createChallenge({ factor_sid, hidden_details: { deep } }),
    () => emulator.createChallenge({ factor_sid, details: { message: "x".repeat(20_000) } }),
    () => emulator.createChallenge({} as never),
  ]) {
    expect(create).toThrow(expect.objectContaining({ serviceCode: 60200 }));
  }
});

it("do not change with their arguments or results", () => {
  const metadata = { os: "Android" };
  const factor = emulator.createFactor({ metadata });
  metadata.os = "iOS";
  if (factor.metadata !== undefined) factor.metadata.os = "other";
  factor.status = "verified";
  expect(emulator.fetchFactor(factor.sid)).toMatchObject({
    status: "unverified",
    metadata: { os: "Android" },
  });
});
