import { setMaxListeners } from "node:events";
import { inspect } from "node:util";
import { pushWebhooks } from "express-push-verification";
import { createFindTokens } from "../../lib/receiver/auth-tokens";
import type { AuthTokenResolver } from "../../lib/receiver/tokens";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventRequest,
  PUBLIC_URL,
  SERVICE_SID,
} from "../support/webhook-requests";
import { send, startServer, stopServers } from "../support/servers";

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const sidOf = (prefix: string, index: number) => prefix + index.toString(16).padStart(32, "0");
const claim = (account: string, service = SERVICE_SID) =>
  [
    ["account_sid", account],
    ["service_sid", service],
  ] as const;
const good = claim(ACCOUNT_SID);
const isKnown: AuthTokenResolver = ({ account_sid }) =>
  account_sid === ACCOUNT_SID ? AUTH_TOKEN : undefined;

/** A resolver that is slow for unknown accounts, and counts the running lookups. */
function createSlowResolver(unknownMs: number) {
  const seen = { running: 0, mostRunning: 0, lookups: 0 };
  const resolver: AuthTokenResolver = async (claimed) => {
    seen.lookups++;
    seen.mostRunning = Math.max(seen.mostRunning, ++seen.running);
    await later(claimed.account_sid === ACCOUNT_SID ? 5 : unknownMs);
    seen.running--;
    return isKnown(claimed);
  };
  return { seen, resolver };
}

async function timeOf(work: Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work;
  return performance.now() - startMs;
}

describe("createFindTokens", () => {
  it("needs no lookup for static tokens", async () => {
    const found = await createFindTokens([AUTH_TOKEN, ""])(good);
    expect(found.tokens).toEqual([AUTH_TOKEN]);
    expect(found.markVerified()).toBeUndefined();
  });

  it("shares a lookup between requests with the same claimed identity while it runs", async () => {
    const { seen, resolver } = createSlowResolver(5);
    const findTokens = createFindTokens(resolver);
    const found = await Promise.all([findTokens(good), findTokens(good), findTokens(good)]);
    expect(found.map(({ tokens }) => tokens)).toEqual(Array(3).fill([AUTH_TOKEN]));
    expect(seen.lookups).toBe(1);
    await findTokens(good);
    expect(seen.lookups).toBe(2);
  });

  it("looks an unknown identity up again after unknownMs", async () => {
    const resolver = jest.fn<ReturnType<AuthTokenResolver>, []>(() => undefined);
    const findTokens = createFindTokens(resolver, { unknownMs: 50 });
    for (let index = 0; index < 3; index++) expect((await findTokens(good)).tokens).toEqual([]);
    expect(resolver).toHaveBeenCalledTimes(1);
    resolver.mockReturnValue(AUTH_TOKEN);
    await later(60);
    expect((await findTokens(good)).tokens).toEqual([AUTH_TOKEN]);
  });

  it("looks up a verified identity at once, even if it has no token now", async () => {
    const resolver = jest.fn<ReturnType<AuthTokenResolver>, []>(() => AUTH_TOKEN);
    const findTokens = createFindTokens(resolver);
    (await findTokens(good)).markVerified();
    resolver.mockReturnValueOnce(undefined);
    expect((await findTokens(good)).tokens).toEqual([]);
    expect((await findTokens(good)).tokens).toEqual([AUTH_TOKEN]);
  });

  it("rejects with TOKEN_UNAVAILABLE when the resolver fails, at once for failedMs", async () => {
    const resolver = jest.fn<ReturnType<AuthTokenResolver>, []>(() => {
      throw Object.assign(new Error("down"), { code: "08006", parameters: ["hush"] });
    });
    const findTokens = createFindTokens(resolver, { lookupMs: 50, failedMs: 80 });
    const error = await findTokens(good).catch((thrown: unknown) => thrown);
    const cause = { message: "down", code: "08006" };
    expect(error).toMatchObject({ code: "TOKEN_UNAVAILABLE", status: 503, cause });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("hush");
    const count = resolver.mock.calls.length;
    await expect(findTokens(good)).rejects.toHaveProperty("code", "TOKEN_UNAVAILABLE");
    expect(resolver).toHaveBeenCalledTimes(count);
    await later(90);
    resolver.mockReturnValue(AUTH_TOKEN);
    expect((await findTokens(good)).tokens).toEqual([AUTH_TOKEN]);
  });

  it.each<[string, () => undefined | Promise<undefined>, object]>([
    [
      "throws",
      () => {
        throw Object.assign(new Error("down"), { parameters: ["hush"] });
      },
      { cause: { message: "down" }, message: expect.stringContaining("see the cause") },
    ],
    [
      "does not respond",
      () => new Promise(() => {}),
      { message: expect.not.stringContaining("the cause") },
    ],
  ])(
    "names the cause at the deadline of a request when the resolver %s",
    async (_how, resolver, expected) => {
      const findTokens = createFindTokens(resolver, { lookupMs: 2_000 });
      const error = await findTokens(good, performance.now() + 60).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: "TOKEN_UNAVAILABLE", ...expected });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("hush");
    },
  );

  it("looks up a verified identity at once after its lookup failed", async () => {
    const resolver = jest.fn<ReturnType<AuthTokenResolver>, []>(() => AUTH_TOKEN);
    const findTokens = createFindTokens(resolver, { lookupMs: 50 });
    (await findTokens(good)).markVerified();
    resolver.mockImplementation(() => Promise.reject(new Error("down")));
    await expect(findTokens(good)).rejects.toHaveProperty("code", "TOKEN_UNAVAILABLE");
    resolver.mockImplementation(() => AUTH_TOKEN);
    expect((await findTokens(good)).tokens).toEqual([AUTH_TOKEN]);
  });

  it("reserves lookups for identities that a signature verified, and only for those", async () => {
    const { seen, resolver } = createSlowResolver(300);
    const findTokens = createFindTokens(resolver, { maxRunning: 2 });
    const tenant = (index: number) => claim(ACCOUNT_SID, sidOf("VA", index));
    (await findTokens(good)).markVerified();
    // Displaces only its own services: a signature authenticates the account.
    for (let index = 0; index < 20; index++) {
      (await findTokens(claim(sidOf("AC", 1), sidOf("VA", index)))).markVerified();
    }
    await findTokens(tenant(1));
    const flood = Array.from({ length: 4 }, (_, index) =>
      findTokens(claim(sidOf("AC", index + 2))),
    );
    expect(await timeOf(findTokens(good))).toBeLessThan(150);
    expect(await timeOf(findTokens(tenant(1)))).toBeGreaterThan(150);
    await Promise.all(flood);
    expect(seen.mostRunning).toBeLessThanOrEqual(4);
  }, 20_000);
});

describe("1,100 requests with invented accounts and a resolver of 2 s", () => {
  afterEach(stopServers);

  it.each([
    ["an account that was verified before", true, 1_000],
    ["an account that is new", false, 3_500],
  ])(
    "do not delay requests of %s",
    async (_what, isVerified, limitMs) => {
      const { seen, resolver } = createSlowResolver(2_000);
      const push = pushWebhooks({ authToken: resolver, publicUrl: PUBLIC_URL });
      push.onRejected(() => {});
      const counts = { received: 0 };
      const port = await startServer((req, res) => {
        counts.received++;
        void push(req, res);
      });
      const deliver = async () => (await send(port, eventRequest("factor.created"))).status;
      if (isVerified) expect(await deliver()).toBe(200);
      const stop = new AbortController();
      setMaxListeners(0, stop.signal);
      const flood = Array.from({ length: 1_100 }, (_, index) => {
        const request = eventRequest("factor.created", { account_sid: sidOf("AC", index) });
        return send(port, request, stop.signal).catch(() => "ended");
      });
      while (counts.received < 1_100) await later(10);
      const startMs = performance.now();
      expect(await Promise.all(Array.from({ length: 20 }, deliver))).toEqual(Array(20).fill(200));
      expect(performance.now() - startMs).toBeLessThan(limitMs);
      expect(seen.mostRunning).toBeLessThanOrEqual(100);
      stop.abort();
      await Promise.all(flood);
    },
    20_000,
  );
});
