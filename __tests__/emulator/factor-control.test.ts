/** Factors and challenges by methods and by the control API; specification.test.ts has their states. */
import { AS_PUBLIC_SERVICE, createEmulator } from "express-push-verification/emulator";
import { isTotpCode } from "../../lib/emulator/resources/totp";
import { callApi, startEmulator, startReceiver, stopEmulators } from "../support/emulators";
import { nextTurn } from "../support/waiting";
import { useWarnings } from "../support/warnings";

const warnings = useWarnings();
afterEach(stopEmulators);

/** The codes of the secret "12345678901234567890", of RFC 6238 (appendix B), by their seconds. */
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const CODES = { 59: "94287082", 1111111109: "07081804", 1111111111: "14050471" };
it.each(
  Object.entries(CODES).flatMap(([seconds, code]) =>
    [0, 1, 2].flatMap((skew) =>
      [-3, -2, -1, 0, 1, 2, 3].map((offset) => ({ seconds: Number(seconds), code, skew, offset })),
    ),
  ),
)("accepts a TOTP code within its skew: %j", ({ seconds, code, skew, offset }) => {
  const config = { alg: "sha1", time_step: 30, code_length: 8, skew } as const;
  const isAccepted = Math.abs(offset) <= skew;
  expect(isTotpCode(SECRET, config, code, (seconds + offset * 30) * 1_000)).toBe(isAccepted);
});

// RFC 6238, appendix B; the secret repeats up to the length of the hash.
it.each([
  ["sha1", 20, 60, "94287082"],
  ["sha256", 32, 30, "46119246"],
  ["sha512", 64, 30, "90693936"],
] as const)("a TOTP code of %s, with %i bytes, in steps of %i s", (alg, bytes, time_step, code) => {
  const secret = SECRET.repeat(4).slice(0, Math.ceil(bytes * 1.6));
  const config = { alg, time_step, code_length: 8, skew: 0 };
  expect(isTotpCode(secret, config, code, 59_000 + (time_step - 30) * 1_000)).toBe(true);
});

describe("factors and challenges", () => {
  it("reject fields that the service does not accept", () => {
    const emulator = createEmulator();
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`) as object;
    const { sid: factor_sid } = emulator.createFactor();
    emulator.verifyFactor(factor_sid);
    for (const create of [
      () => emulator.createFactor({ entity_identity: "\uD800" }),
      () => emulator.createFactor({ friendly_name: "\uDC00" }),
      () => emulator.createFactor({ name: "x" } as object),
      () => emulator.createFactor({ entity_identity: "" }),
      () => emulator.createFactor({ factor_type: "" }),
      () => emulator.createChallenge({ factor_sid, expiration_date: "now" }),
      () => emulator.createFactor({ metadata: "{}" as never }),
      () => emulator.createChallenge({ factor_sid, hidden_details: { deep } }),
      () => emulator.createChallenge({ factor_sid, details: { message: "x".repeat(16_371) } }),
      () => emulator.createChallenge({} as never),
    ]) {
      expect(create).toThrow(expect.objectContaining({ serviceCode: 60200 }));
    }
    emulator.createChallenge({ factor_sid, details: { message: "x".repeat(16_370) } });
  });

  it("do not change with their arguments or results", async () => {
    const emulator = createEmulator();
    const metadata = { os: "Android" };
    const { sid } = emulator.createFactor({ metadata });
    metadata.os = "iOS";
    expect(emulator.fetchFactor(sid)).toHaveProperty("metadata.os", "Android");
    const hook = emulator.createWebhook({ webhook_url: "http://127.0.0.1:9/" });
    const phone = emulator.device();
    const notified: object[] = [];
    phone.onChallenge((challenge) => notified.push(challenge));
    const own = phone.register();
    const ask = (factor_sid = own.sid) => emulator.createChallenge({ factor_sid });
    const challenge = ask();
    await nextTurn();
    const changed: object[] = [hook, emulator.verifyFactor(sid), emulator.fetchFactor(sid), own];
    changed.push(challenge, ...notified, emulator.approveChallenge(ask(sid).sid));
    changed.push(emulator.fetchChallenge(challenge.sid), phone.deny(ask().sid));
    expect(changed).toHaveLength(9);
    for (const one of changed) Object.assign(one, { status: "unheard-of" });
    emulator.deliveries.length = 0;
    const { length } = emulator.deliveries;
    emulator.deleteFactor(sid);
    expect(emulator.deliveries).toHaveLength(length + 1);
    expect(length).toBeGreaterThan(0);
    for (const { sid: changedSid } of changed as { sid: string }[]) {
      if (!changedSid.startsWith("YC")) continue;
      expect(emulator.fetchChallenge(changedSid).status).toMatch(/pending|approved|denied/);
    }
    expect(emulator.fetchFactor(own.sid).status).toBe("verified");
    await emulator.close();
  });

  it("notify their own device, after the call, whatever its listener throws", async () => {
    const emulator = createEmulator();
    const [phone, other] = [emulator.device(), emulator.device()];
    const heard = jest.fn(() => {
      throw new RangeError("hush");
    });
    phone.onChallenge(heard);
    const foreign = jest.fn();
    other.onChallenge(foreign);
    emulator.createChallenge({ factor_sid: phone.register().sid });
    expect(heard).toHaveBeenCalledTimes(0);
    await nextTurn();
    expect([heard, foreign].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
    expect(warnings.listMessages()).toEqual([expect.stringContaining("RangeError")]);
  });

  it("live over HTTP, with deliveries and faults", async () => {
    const emulator = await startEmulator();
    const receiver = await startReceiver(emulator.authToken);
    emulator.createWebhook({ webhook_url: receiver.publicUrl });
    const call = (method: string, path: string, json?: object) =>
      callApi(emulator, method, `/_control/${path}`, json && { json });

    const factor = await call("POST", "factors", { entity_identity: "u1", metadata: { os: "x" } });
    const unverified = { entity_identity: "u1", status: "unverified" };
    expect(factor).toMatchObject({ status: 201, body: unverified });
    const { sid: factor_sid } = factor.body;
    const verified = { status: "verified" };
    const verifying = await call("POST", `factors/${factor_sid}/verify`);
    expect(verifying).toMatchObject({ status: 200, body: verified });
    const details = { message: "Sign in?" };
    const ask = () => call("POST", "challenges", { factor_sid, details });
    const [first, second] = [await ask(), await ask()];
    expect(first).toMatchObject({ status: 201, body: { status: "pending", details } });
    const metadata = { biometrics: "face" };
    const approved = { status: "approved", metadata };
    const denied = { status: "denied" };
    for (const [method, path, status, body, given] of [
      ["GET", `factors/${factor_sid}`, 200, verified],
      ["POST", `challenges/${first.body.sid}/approve`, 200, approved, { metadata }],
      ["POST", `challenges/${second.body.sid}/deny`, 200, denied],
      ["GET", `challenges/${second.body.sid}`, 200, denied],
      ["DELETE", `factors/${factor_sid}`, 204, undefined],
    ] as const) {
      expect(await call(method, path, given)).toMatchObject({ status, body });
    }

    const { deliveries } = (await call("GET", "deliveries?settled=true")).body;
    const delivered = { status: "succeeded", response: { status: 200 } };
    expect(deliveries).toMatchObject(Array(5).fill(delivered));
    expect((await call("GET", "deliveries")).body.deliveries).toHaveLength(5);
    expect(receiver.events).toHaveLength(5);

    const done = { status: 204 };
    const fault = { kind: "wrong-signature", times: 9 };
    expect(await call("POST", "faults", fault)).toMatchObject(done);
    emulator.createFactor();
    await emulator.settled();
    expect(await call("DELETE", "faults")).toMatchObject(done);
    emulator.createFactor();
    await emulator.settled();
    const statuses = emulator.deliveries.map(({ status }) => status);
    expect(statuses.slice(5)).toEqual(["failed", "succeeded"]);
  });
});

it.each([
  ["12345678", true],
  ["user-7f3a-22", true],
  ["7d4c2f0e-6c1b-4d0e-9d3a-1b2c3d4e5f60", true],
  ["a".repeat(64), true],
  ["a".repeat(65), false],
  ["1234567", false],
  ["ada", false],
  ["ada@example.com", false],
  ["user_7f3a_22", false],
  ["../../../x", false],
  ["Zoë-12345", false],
  ["user-7f3a-22\n", false],
])("the identity %j is valid: %s", async (entity_identity, isValid) => {
  const lenient = createEmulator();
  for (const end of isValid ? ["", ""] : ["", "", "!"]) {
    lenient.createFactor({ entity_identity: entity_identity + end });
  }
  expect(warnings.listCodes()).toEqual(isValid ? [] : ["IDENTITY_INVALID"]);
  expect(warnings.listMessages().join()).not.toContain(entity_identity);

  const strict = await startEmulator(AS_PUBLIC_SERVICE);
  const json = { entity_identity };
  const create = [
    () => strict.createFactor(json),
    () => strict.device().register(json),
    () => callApi(strict, "POST", "/_control/factors", { json }).then(({ body }) => body),
  ];
  for (const one of create) {
    const code = isValid ? undefined : expect.stringMatching(/PARAMETER_INVALID|60200/);
    const created = await (async () => one())().catch((error: unknown) => error);
    const { code: found } = created as { code?: string | number };
    expect(found && String(found)).toEqual(code);
  }
});
