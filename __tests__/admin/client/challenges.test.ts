import { inspect } from "node:util";
import {
  ApiError,
  confirmWith,
  InputError,
  type AdminClient,
  type FetchedChallenge,
} from "express-push-verification/admin";
import type { PushEventType } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import type { Emulator } from "express-push-verification/emulator";
import { clientOf, startEmulator, stopEmulators } from "../../support/emulators";
import { startServer } from "../../support/servers";

const IDENTITY = "zoë/../ada?#%2e";
let emulator: Emulator;
let client: AdminClient;

const settings = { timeoutMs: 2_000, maxRetries: 0 };
const clientAt = (at: string, options = {}) => clientOf(emulator, { at, ...settings, ...options });

beforeEach(async () => {
  emulator = await startEmulator();
  client = clientAt(emulator.url);
});
afterEach(stopEmulators);

const OTHER = "1".repeat(32);

/** A factor of the emulator, and the fields that its events have. */
function createFactor(isVerified = true) {
  const { sid: factor_sid } = emulator.createFactor({ entity_identity: IDENTITY });
  if (isVerified) emulator.verifyFactor(factor_sid);
  const { accountSid: account_sid, serviceSid: service_sid } = emulator;
  return { account_sid, service_sid, entity_identity: IDENTITY, factor_sid };
}

/** A challenge of the emulator, and its event as the service would send it. */
function createChallenge(decision?: "approve" | "deny") {
  const names = createFactor();
  const { sid: challenge_sid } = emulator.createChallenge({ factor_sid: names.factor_sid });
  if (decision === "approve") emulator.approveChallenge(challenge_sid);
  if (decision === "deny") emulator.denyChallenge(challenge_sid);
  return eventFixture("challenge.approved", { ...names, challenge_sid });
}

describe("client.challenges.fetch", () => {
  it("fetches a challenge of a user with any name", async () => {
    const event = createChallenge("approve");
    const challengeSid = event.challenge_sid;
    const key = { entityIdentity: IDENTITY, challengeSid };
    const challenge: FetchedChallenge = await client.challenges.fetch(key);
    expect(challenge).toMatchObject({
      sid: challengeSid,
      service_sid: emulator.serviceSid,
      identity: IDENTITY,
      factor_sid: event.factor_sid,
      status: "approved",
      date_responded: expect.any(String),
    });
  });

  it.each([
    ["no user", "", `YC${OTHER}`],
    ["a segment that a URL drops", "..", `YC${OTHER}`],
    ["a lone surrogate", "\ud800", `YC${OTHER}`],
    ["a malformed SID", "ada", "YC1"],
  ])("rejects %s with InputError", async (_what, entityIdentity, challengeSid) => {
    const fetched = client.challenges.fetch({ entityIdentity, challengeSid });
    await expect(fetched).rejects.toBeInstanceOf(InputError);
  });

  it("shows the user in no error", async () => {
    const key = { entityIdentity: "ada-lovelace", challengeSid: `YC${OTHER}` };
    const hanging = await startServer(() => {});
    const echoing = await startServer((req, res) => {
      res.writeHead(500, { "content-type": "application/json" });
      res.end(JSON.stringify({ message: `failed: ${req.url}`, code: 20500 }));
    });
    for (const [one, code] of [
      [client, "SERVICE_ERROR"],
      [clientAt("http://127.0.0.1:9"), "UNREACHABLE"],
      [clientAt(`http://127.0.0.1:${hanging}`, { timeoutMs: 50 }), "TIMEOUT"],
      [clientAt(`http://127.0.0.1:${echoing}`), "SERVICE_ERROR"],
    ] as const) {
      const error: unknown = await one.challenges.fetch(key).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toHaveProperty("code", code);
      const text = inspect(error, { depth: 9 });
      for (const secret of ["ada-lovelace", emulator.authToken]) expect(text).not.toContain(secret);
    }
  });
});

describe("confirmWith", () => {
  const { signal } = new AbortController();
  const confirm = (event: Parameters<ReturnType<typeof confirmWith>>[0], by = client) =>
    confirmWith(by)(event, { signal });

  it("confirms the event of an approved and of a denied challenge", async () => {
    expect(await confirm(createChallenge("approve"))).toBe(true);
    const denied = { ...createChallenge("deny"), type: "challenge.denied" } as const;
    expect(await confirm(denied)).toBe(true);
  });

  it("confirms no approval of a challenge that is pending, denied, or another one", async () => {
    expect(await confirm(createChallenge())).toBe(false);
    expect(await confirm(createChallenge("deny"))).toBe(false);
    const event = createChallenge("approve");
    for (const difference of [
      { challenge_sid: `YC${OTHER}` },
      { account_sid: `AC${OTHER}` },
      { service_sid: `VA${OTHER}` },
      { entity_identity: "mallory" },
      { factor_sid: `YF${OTHER}` },
    ]) {
      expect([difference, await confirm({ ...event, ...difference })]).toEqual([difference, false]);
    }
  });

  const maxAge = { maxAgeMs: 600_000 };
  const dated = (date_responded: string | null) => ({ date_responded, date_updated: null });
  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
  it.each<[found: object, isConfirmed: boolean, options?: object]>([
    [{}, true],
    [{ sid: `YC${OTHER}` }, false],
    [{ identity: "mallory" }, false],
    [dated(secondsAgo(5)), true, maxAge],
    [dated(secondsAgo(700)), false, maxAge],
    [dated("yesterday"), false, maxAge],
    [dated(null), false, maxAge],
  ])("for the response %j returns %s with %j", async (found, isConfirmed, options = {}) => {
    const event = createChallenge("approve");
    const key = { entityIdentity: IDENTITY, challengeSid: event.challenge_sid };
    const fetched = { ...(await client.challenges.fetch(key)), ...found };
    const other = { ...client, challenges: { fetch: async () => fetched } };
    expect(await confirmWith(other, options)(event, { signal })).toBe(isConfirmed);
  });

  const other = { factor_sid: `YF${OTHER}` };
  it.each<[type: PushEventType, state: "created" | "verified", isTrue: boolean, differs: object]>([
    ["factor.created", "created", true, {}],
    ["factor.created", "verified", true, {}],
    ["factor.created", "created", false, other],
    ["factor.created", "created", false, { entity_identity: "mallory" }],
    ["factor.created", "created", false, { service_sid: `VA${OTHER}` }],
    ["factor.verified", "verified", true, {}],
    ["factor.verified", "created", false, {}],
    ["factor.verified", "verified", false, { entity_identity: "mallory" }],
    ["factor.deleted", "verified", false, {}],
    ["factor.deleted", "verified", true, other],
    ["factor.deleted", "verified", false, { ...other, account_sid: `AC${OTHER}` }],
    ["factor.deleted", "verified", false, { ...other, service_sid: `VA${OTHER}` }],
  ])("of %s, while the factor is %s, returns %s for %j", async (type, state, isTrue, differs) => {
    const event = eventFixture(type, { ...createFactor(state === "verified"), ...differs });
    expect(await confirm(event)).toBe(isTrue);
  });

  it("confirms no factor.deleted whose text can be read in another way", async () => {
    const event = eventFixture("factor.deleted", { ...createFactor(), ...other });
    const context = { signal, ambiguity: "an addition" };
    expect(await confirmWith(client)(event, context)).toBe(false);
  });

  it.each(["factor.created", "factor.verified"] as const)(
    "confirms no %s that is older than maxAgeMs, or of another factor",
    async (type) => {
      const event = eventFixture(type, createFactor());
      const key = { entityIdentity: IDENTITY, factorSid: event.factor_sid };
      const fetched = await client.factors.fetch(key);
      const old = new Date(Date.now() - 86_500_000).toISOString();
      for (const differs of [
        { date_created: old, date_updated: old },
        { sid: "YF1" },
        { identity: "x" },
      ]) {
        const factors = { fetch: async () => ({ ...fetched, ...differs }) };
        expect(await confirm(event, { ...client, factors })).toBe(false);
      }
    },
  );

  it("throws when the service fails, and at the end of the signal", async () => {
    const event = createChallenge("approve");
    const unauthorized = confirm(event, clientAt(emulator.url, { password: "wrong" }));
    await expect(unauthorized).rejects.toBeInstanceOf(ApiError);
    const aborted = { signal: AbortSignal.abort(new Error("late")) };
    await expect(confirmWith(client)(event, aborted)).rejects.toThrow("late");
  });

  it("rejects an unknown option", () => {
    expect(() => confirmWith(client, { maxAge: 5 } as never)).toThrow(/maxAgeMs/);
  });
});
