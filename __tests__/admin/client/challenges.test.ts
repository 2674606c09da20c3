import { inspect } from "node:util";
import {
  ApiError,
  confirmWith,
  createAdminClient,
  InputError,
  type FetchedChallenge,
} from "express-push-verification/admin";
import type { PushEventType } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import type { Emulator } from "express-push-verification/emulator";
import { startEmulator, stopEmulators } from "../../support/emulators";
import { startServer, stopServers } from "../../support/servers";

const IDENTITY = "zoë/../ada?#%2e";
let emulator: Emulator;
let client: ReturnType<typeof createAdminClient>;

const clientOf = (url: string, options = {}) =>
  createAdminClient({
    accountUrl: url,
    verifyUrl: url,
    accountSid: emulator.accountSid,
    serviceSid: emulator.serviceSid,
    password: emulator.authToken,
    timeoutMs: 2_000,
    maxRetries: 0,
    ...options,
  });

beforeEach(async () => {
  emulator = await startEmulator();
  client = clientOf(emulator.url);
});
afterEach(async () => {
  await stopEmulators();
  await stopServers();
});

/** A challenge of the emulator, and its event as the service would send it. */
function createChallenge(decision?: "approve" | "deny") {
  const factor = emulator.createFactor({ entity_identity: IDENTITY });
  emulator.verifyFactor(factor.sid);
  const { sid } = emulator.createChallenge({ factor_sid: factor.sid });
  if (decision === "approve") emulator.approveChallenge(sid);
  if (decision === "deny") emulator.denyChallenge(sid);
  return eventFixture("challenge.approved", {
    account_sid: emulator.accountSid,
    service_sid: emulator.serviceSid,
    entity_identity: IDENTITY,
    factor_sid: factor.sid,
    challenge_sid: sid,
  });
}

describe("client.challenges.fetch", () => {
  it("fetches a challenge of a user with any name", async () => {
    const event = createChallenge("approve");
    const challenge: FetchedChallenge = await client.challenges.fetch({
      entityIdentity: IDENTITY,
      challengeSid: event.challenge_sid,
    });
    expect(challenge).toMatchObject({
      sid: event.challenge_sid,
      service_sid: emulator.serviceSid,
      identity: IDENTITY,
      factor_sid: event.factor_sid,
      status: "approved",
      date_responded: expect.any(String),
    });
  });

  it.each<[string, object]>([
    ["no user", { entityIdentity: "", challengeSid: `YC${"1".repeat(32)}` }],
    ["a segment that a URL drops", { entityIdentity: "..", challengeSid: `YC${"1".repeat(32)}` }],
    ["a lone surrogate", { entityIdentity: "\ud800", challengeSid: `YC${"1".repeat(32)}` }],
    ["a malformed SID", { entityIdentity: "ada", challengeSid: "YC1" }],
  ])("rejects %s with InputError", async (_, key) => {
    await expect(client.challenges.fetch(key as never)).rejects.toBeInstanceOf(InputError);
  });

  it("shows the user in no error", async () => {
    const key = { entityIdentity: "ada-lovelace", challengeSid: `YC${"1".repeat(32)}` };
    const hanging = await startServer(() => {});
    const closed = clientOf("http://127.0.0.1:9");
    const slow = clientOf(`http://127.0.0.1:${hanging}`, { timeoutMs: 50 });
    const echoing = await startServer((req, res) => {
      res.writeHead(500, { "content-type": "application/json" });
      res.end(JSON.stringify({ message: `failed: ${req.url}`, code: 20500 }));
    });
    const failing = clientOf(`http://127.0.0.1:${echoing}`);
    for (const [one, code] of [
      [client, "SERVICE_ERROR"],
      [closed, "UNREACHABLE"],
      [slow, "TIMEOUT"],
      [failing, "SERVICE_ERROR"],
    ] as const) {
      const error: unknown = await one.challenges.fetch(key).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toHaveProperty("code", code);
      expect(inspect(error, { depth: 9 })).not.toContain("ada-lovelace");
      expect(inspect(error, { depth: 9 })).not.toContain(emulator.authToken);
    }
  });
});

describe("confirmWith", () => {
  const { signal } = new AbortController();

  it("confirms the event of an approved and of a denied challenge", async () => {
    const confirm = confirmWith(client);
    await expect(confirm(createChallenge("approve"), { signal })).resolves.toBe(true);
    const denied = createChallenge("deny");
    const event = eventFixture("challenge.denied", {
      account_sid: denied.account_sid,
      service_sid: denied.service_sid,
      entity_identity: IDENTITY,
      factor_sid: denied.factor_sid,
      challenge_sid: denied.challenge_sid,
    });
    await expect(confirm(event, { signal })).resolves.toBe(true);
  });

  it.each(["pending", "deny"] as const)(
    "confirms no approval of a challenge: %s",
    async (decision) => {
      const event = createChallenge(decision === "deny" ? "deny" : undefined);
      await expect(confirmWith(client)(event, { signal })).resolves.toBe(false);
    },
  );

  it.each([
    { challenge_sid: `YC${"1".repeat(32)}` },
    { account_sid: `AC${"1".repeat(32)}` },
    { service_sid: `VA${"1".repeat(32)}` },
    { entity_identity: "mallory" },
    { factor_sid: `YF${"1".repeat(32)}` },
  ])("confirms no event that differs in %j", async (difference) => {
    const event = { ...createChallenge("approve"), ...difference };
    await expect(confirmWith(client)(event, { signal })).resolves.toBe(false);
  });

  it.each([{ sid: `YC${"1".repeat(32)}` }, { identity: "mallory" }])(
    "confirms no event if the service responds with %j",
    async (difference) => {
      const event = createChallenge("approve");
      const key = { entityIdentity: IDENTITY, challengeSid: event.challenge_sid };
      const fetched = { ...(await client.challenges.fetch(key)), ...difference };
      const other = { ...client, challenges: { fetch: async () => fetched } };
      await expect(confirmWith(other)(event, { signal })).resolves.toBe(false);
    },
  );

  it.each<[string | null, boolean]>([
    [new Date(Date.now() - 5_000).toISOString(), true],
    [new Date(Date.now() - 700_000).toISOString(), false],
    ["yesterday", false],
    [null, false],
  ])("with maxAgeMs 600_000, a response of %s is confirmed: %s", async (date, isConfirmed) => {
    const event = createChallenge("approve");
    const key = { entityIdentity: IDENTITY, challengeSid: event.challenge_sid };
    const fetched = { ...(await client.challenges.fetch(key)), date_updated: null };
    const dated = {
      ...client,
      challenges: { fetch: async () => ({ ...fetched, date_responded: date }) },
    };
    const confirm = confirmWith(dated, { maxAgeMs: 600_000 });
    await expect(confirm(event, { signal })).resolves.toBe(isConfirmed);
  });

  const other = { factor_sid: `YF${"1".repeat(32)}` };
  it.each<[type: PushEventType, state: "created" | "verified", isTrue: boolean, differs: object]>([
    ["factor.created", "created", true, {}],
    ["factor.created", "verified", true, {}],
    ["factor.created", "created", false, other],
    ["factor.created", "created", false, { entity_identity: "mallory" }],
    ["factor.created", "created", false, { service_sid: `VA${"1".repeat(32)}` }],
    ["factor.verified", "verified", true, {}],
    ["factor.verified", "created", false, {}],
    ["factor.verified", "verified", false, { entity_identity: "mallory" }],
    ["factor.deleted", "verified", false, {}],
    ["factor.deleted", "verified", true, other],
    ["factor.deleted", "verified", false, { ...other, account_sid: `AC${"1".repeat(32)}` }],
    ["factor.deleted", "verified", false, { ...other, service_sid: `VA${"1".repeat(32)}` }],
  ])("of %s, while the factor is %s, returns %s for %j", async (type, state, isTrue, differs) => {
    const { sid } = emulator.createFactor({ entity_identity: IDENTITY });
    if (state === "verified") emulator.verifyFactor(sid);
    const { accountSid: account_sid, serviceSid: service_sid } = emulator;
    const names = { account_sid, service_sid, entity_identity: IDENTITY, factor_sid: sid };
    const event = eventFixture(type, { ...names, ...differs });
    await expect(confirmWith(client)(event, { signal })).resolves.toBe(isTrue);
  });

  it("confirms no factor.deleted whose text can be read in another way", async () => {
    const { accountSid: account_sid, serviceSid: service_sid } = emulator;
    const event = eventFixture("factor.deleted", { account_sid, service_sid });
    await expect(confirmWith(client)(event, { signal })).resolves.toBe(true);
    const context = { signal, ambiguity: "an addition" };
    await expect(confirmWith(client)(event, context)).resolves.toBe(false);
  });

  it.each(["factor.created", "factor.verified"] as const)(
    "confirms no %s that is older than maxAgeMs, or of another factor",
    async (type) => {
      const { sid } = emulator.createFactor({ entity_identity: IDENTITY });
      emulator.verifyFactor(sid);
      const { accountSid: account_sid, serviceSid: service_sid } = emulator;
      const names = { account_sid, service_sid, entity_identity: IDENTITY, factor_sid: sid };
      const event = eventFixture(type, names);
      const key = { entityIdentity: IDENTITY, factorSid: sid };
      const fetched = await client.factors.fetch(key);
      const old = new Date(Date.now() - 86_500_000).toISOString();
      for (const differs of [
        { date_created: old, date_updated: old },
        { sid: "YF1" },
        { identity: "x" },
      ]) {
        const factors = { fetch: async () => ({ ...fetched, ...differs }) };
        await expect(confirmWith({ ...client, factors })(event, { signal })).resolves.toBe(false);
      }
    },
  );

  it("throws when the service fails, and at the end of the signal", async () => {
    const event = createChallenge("approve");
    const unauthorized = confirmWith(clientOf(emulator.url, { password: "wrong" }));
    await expect(unauthorized(event, { signal })).rejects.toBeInstanceOf(ApiError);
    const aborted = { signal: AbortSignal.abort(new Error("late")) };
    await expect(confirmWith(client)(event, aborted)).rejects.toThrow("late");
  });

  it("rejects an unknown option", () => {
    expect(() => confirmWith(client, { maxAge: 5 } as never)).toThrow(/maxAgeMs/);
  });
});
