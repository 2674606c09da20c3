import {
  AS_PUBLIC_SERVICE,
  createEmulator,
  EmulatorError,
} from "express-push-verification/emulator";
import { resolveEmulatorOptions } from "../../lib/emulator/options";
import { createFaults } from "../../lib/emulator/outbound/faults";
import { createAccessTokens } from "../../lib/emulator/resources/access-tokens";
import { Entities } from "../../lib/emulator/resources/entities";
import { faultSchema } from "../../lib/emulator/resources/schemas";

describe("createEmulator", () => {
  it("works without options, with realistic random defaults", () => {
    const [one, other] = [resolveEmulatorOptions({}), resolveEmulatorOptions({})];
    expect(one).toMatchObject({
      accountSid: expect.stringMatching(/^AC[0-9a-f]{32}$/),
      authToken: expect.stringMatching(/^[0-9a-f]{32}$/),
      previousAuthToken: expect.stringMatching(/^[0-9a-f]{32}$/),
      serviceSid: expect.stringMatching(/^VA[0-9a-f]{32}$/),
      signatureHeader: "X-Service-Signature",
      contentType: "application/x-www-urlencoded",
      webhookMethod: "POST",
      // The time-outs and retries of the specification.
      connectTimeoutMs: 5_000,
      totalTimeoutMs: 15_000,
      connectionRetries: 1,
      maxDeliveries: 1_000,
      maxKeys: 10_000,
      identities: "warn",
    });
    for (const name of ["accountSid", "authToken", "previousAuthToken", "serviceSid"] as const) {
      expect(one[name]).not.toBe(other[name]);
    }
  });

  it("takes each option as it is given", () => {
    const given = {
      accountSid: `AC${"1".repeat(32)}`,
      authToken: "a",
      previousAuthToken: "b",
      serviceSid: `VA${"1".repeat(32)}`,
      keys: [{ friendly_name: "ci" }],
      webhooks: [{ webhook_url: "http://127.0.0.1:9/" }],
      allowedHosts: ["emulator"],
      signatureHeader: "X-A",
      identities: "reject",
      contentType: "application/x-www-form-urlencoded",
      webhookMethod: "GET",
      connectTimeoutMs: 1,
      totalTimeoutMs: 2,
      connectionRetries: 3,
      maxDeliveries: 4,
      maxKeys: 5,
      now: () => 0,
    } as const;
    expect(resolveEmulatorOptions(given)).toEqual(given);
    const { webhook_url } = given.webhooks[0];
    expect(createEmulator(given).createWebhook({ webhook_url }).webhook_method).toBe("GET");
  });

  it("may begin as the public service is", () => {
    expect(resolveEmulatorOptions(AS_PUBLIC_SERVICE)).toMatchObject({
      signatureHeader: "X-Twilio-Signature",
      contentType: "application/x-www-form-urlencoded",
      identities: "reject",
    });
  });

  it.each<[name: string, value: unknown, message?: string, more?: object]>([
    ["accountSid", `VA${"0".repeat(32)}`],
    ["authToken", ""],
    ["previousAuthToken", 5],
    ["serviceSid", null],
    ["keys", { sid: "SK" }],
    ["keys", [{ type: "root", secret: "s3cret" }]],
    ["keys", Array(2).fill({ sid: `SK${"1".repeat(32)}` }), "same sid"],
    ["keys", [{ secret: "" }]],
    ["keys", [{}], "maxKeys must be at least 1", { maxKeys: 0 }],
    ["webhooks", [{}]],
    ["webhooks", [{ webhook_url: "http://a", event_types: [] }]],
    ["webhooks", [{ webhook_url: "localhost:3000/x" }], "0.webhook_url (must be an absolute"],
    ["allowedHosts", "emulator"],
    ["allowedHosts", ["http://emulator"]],
    ["signatureHeader", "X Signature"],
    ["identities", "any"],
    ["contentType", "application/json"],
    ["contentType", "application/x-www-urlencoded\r\nX: y"],
    ["webhookMethod", "PUT"],
    ["connectTimeoutMs", 0],
    ["totalTimeoutMs", 1.5],
    ["connectionRetries", -1],
    ["connectionRetries", 101],
    ["maxDeliveries", 0],
    ["maxDeliveries", 1_000_001],
    ["maxKeys", 1_000_001],
    ["maxKeys", "many"],
    ["now", 5],
    ["authtoken", "s3cret", '"authToken"'],
  ])("rejects %s: %j", (name, value, message = `option ${name} must be`, more = {}) => {
    const create = () => createEmulator({ [name]: value, ...more });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(message);
    expect(create).not.toThrow(/s3cret/);
    if (name !== "authToken") return;
    expect(() => createEmulator().rotateAuthToken(value as never)).toThrow(message);
  });
});

it.each<[fault: { kind: string }, defaults: object, ...wrong: object[]]>([
  [{ kind: "duplicate" }, { copies: 1 }, { copies: 0 }, { copies: 101 }],
  [{ kind: "reorder" }, { delay_ms: 1_000 }, { delay_ms: -1 }, { delay_ms: 600_001 }],
  [{ kind: "delay" }, { delay_ms: 1_000 }, { event_type: "challenge.expired" }],
  [{ kind: "old-token" }, {}, { times: 0 }, { times: 1_000_001 }, { copies: 1 }],
  [{ kind: "unknown-event-type" }, { type: "challenge.expired" }, { type: "" }],
  [{ kind: "extra-parameters" }, { params: { risk_score: "12" } }, { params: { a: 1 } }],
])("the fault %j has the defaults %j", (fault, defaults, ...wrong) => {
  expect(faultSchema.parse(fault)).toEqual({ ...fault, times: 1, ...defaults });
  for (const fields of wrong)
    expect(faultSchema.safeParse({ ...fault, ...fields }).success).toBe(false);
});

it("an EmulatorError is written as JSON with its message", () => {
  const json = JSON.stringify(new EmulatorError("NOT_FOUND", "m"));
  const codes = { code: "NOT_FOUND", serviceCode: 20404, status: 404 };
  expect(JSON.parse(json)).toEqual({ name: "EmulatorError", ...codes, message: "m" });
});

it("takes one fault of each kind for a request", () => {
  const faults = createFaults();
  for (const kind of ["delay", "delay", "old-token"] as const) faults.inject({ kind });
  const taken = [1, 2, 3].map(() => Object.keys(faults.take("factor.created")));
  expect(taken).toEqual([["delay", "old-token"], ["delay"], []]);
});

it("keeps the newest 100,000 entities, factors and challenges", () => {
  const entities = new Entities(Date.now, "reject", () => {});
  const [first, second] = Array.from({ length: 100_001 }, (_, index) => {
    const fields = { factor_type: "push", friendly_name: "a", config: {} };
    const factor = entities.createFactor(`user-${index}-aa`, fields);
    const challenge = entities.createChallenge(entities.markVerified(factor), {});
    return { factor, challenge };
  });
  const find = ({ factor, challenge }: NonNullable<typeof first>) => [
    entities.findEntity(factor.entity_identity),
    entities.findFactor(factor.sid),
    entities.findChallenge(challenge.sid),
  ];
  expect(find(first!)).toEqual([undefined, undefined, undefined]);
  expect(find(second!)).not.toContain(undefined);
});

it("keeps the newest 10,000 access tokens", () => {
  const tokens = createAccessTokens(Date.now);
  const fields = { factor_type: "push", factor_friendly_name: null, ttl: 60 };
  const [first, second] = Array.from({ length: 10_001 }, (_, index) =>
    tokens.create({ entity_identity: `user-${index}`, ...fields }),
  );
  expect(tokens.find(first?.sid)).toBeUndefined();
  expect(tokens.authenticate(second!.token)).toBe(second);
});
