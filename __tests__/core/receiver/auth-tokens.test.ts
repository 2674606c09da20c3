import { inspect } from "node:util";
import {
  verifyPushRequest,
  type AuthTokenResolver,
  type VerifyOptions,
  type WebhookError,
} from "express-push-verification";
import { measureHeap } from "../../support/heap";
import { createReceiver } from "../../support/receivers";
import { never } from "../../support/waiting";
import { useWarnings } from "../../support/warnings";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventRequest,
  PUBLIC_URL as publicUrl,
  SERVICE_SID,
} from "../../support/webhook-requests";

const sidOf = (prefix: string, index: number) => prefix + index.toString(16).padStart(32, "0");
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const DOWN = { message: "down", code: "08006" };
const down = () => {
  throw Object.assign(new Error("down"), { code: "08006", parameters: ["hush"] });
};

function requestOf(account_sid = ACCOUNT_SID, service_sid = SERVICE_SID, authToken = AUTH_TOKEN) {
  const overrides = { account_sid, service_sid };
  const request = eventRequest("factor.created", overrides, { authToken });
  return { ...request, url: request.path };
}

const verify = (
  authToken: AuthTokenResolver,
  request = requestOf(),
  options: Partial<VerifyOptions> = {},
) =>
  verifyPushRequest(request, { authToken, publicUrl, ...options }).then(
    () => "accepted",
    ({ code }: WebhookError) => code,
  );
async function exhaust(resolver: AuthTokenResolver) {
  const failed = verify(resolver);
  await jest.advanceTimersByTimeAsync(8_000);
  return failed;
}
const resolverOf = (token?: string) => jest.fn<string | undefined, [object]>(() => token);
const forged = () => requestOf(ACCOUNT_SID, SERVICE_SID, "forged");

function createSlowResolver(ms: number) {
  const seen = { running: 0, mostRunning: 0, accounts: [] as (string | undefined)[] };
  const resolver: AuthTokenResolver = async ({ account_sid }) => {
    seen.accounts.push(account_sid);
    seen.mostRunning = Math.max(seen.mostRunning, ++seen.running);
    await later(ms);
    seen.running--;
    return account_sid === ACCOUNT_SID ? AUTH_TOKEN : undefined;
  };
  return { seen, resolver };
}

const warnings = useWarnings();
beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe("the function authToken", () => {
  it("warns in production of short tokens beside texts that are none", async () => {
    const { NODE_ENV } = process.env;
    process.env.NODE_ENV = "production";
    await verify(() => ["", "short"]);
    process.env.NODE_ENV = NODE_ENV;
    expect(warnings.listCodes()).toEqual(["AUTH_TOKEN_UNUSABLE", "AUTH_TOKEN_SHORT"]);
  });

  it.each([
    ["account", { allowedAccountSids: [ACCOUNT_SID] }, (sid: string) => requestOf(sid)],
    [
      "service",
      { allowedServiceSids: [SERVICE_SID] },
      (sid: string) => requestOf(ACCOUNT_SID, sid.replace("AC", "VA")),
    ],
  ])("is not called for %s that is not allowed", async (_what, options, makeRequest) => {
    const resolver = resolverOf(AUTH_TOKEN);
    for (const sid of [sidOf("AC", 1), "AC1", ""]) {
      expect(await verify(resolver, makeRequest(sid), options)).toBe("ACCOUNT_NOT_ALLOWED");
    }
    const signed = makeRequest(sidOf("AC", 1));
    expect(await verify(AUTH_TOKEN as never, signed, options)).toBe("ACCOUNT_NOT_ALLOWED");
    expect(resolver).not.toHaveBeenCalled();
    expect(await verify(resolver, requestOf(), options)).toBe("accepted");
  });

  it.each([
    [AUTH_TOKEN, "accepted"],
    [["", AUTH_TOKEN, 5, null], "accepted"],
    [{ authToken: AUTH_TOKEN }, "accepted"],
    [{ authToken: ["next", AUTH_TOKEN], serviceSids: [SERVICE_SID] }, "accepted"],
    [{ authToken: AUTH_TOKEN, serviceSids: [sidOf("VA", 1)] }, "ACCOUNT_NOT_ALLOWED"],
    [{ authToken: AUTH_TOKEN, serviceSids: [] }, "ACCOUNT_NOT_ALLOWED"],
    [{ authToken: AUTH_TOKEN, serviceSids: SERVICE_SID }, "ACCOUNT_NOT_ALLOWED"],
    [{ authToken: AUTH_TOKEN, serviceSids: null }, "ACCOUNT_NOT_ALLOWED"],
    [null, "SIGNATURE_MISMATCH"],
    [[], "SIGNATURE_MISMATCH"],
    [{ token: AUTH_TOKEN }, "SIGNATURE_MISMATCH"],
  ])("may return %j, as a value or a promise: %s", async (found, expected) => {
    expect(await verify(() => found as string)).toBe(expected);
    expect(await verify(() => Promise.resolve(found as string))).toBe(expected);
  });

  it("receives only the SIDs that a request claims", async () => {
    const resolver = resolverOf(AUTH_TOKEN);
    await verify(resolver);
    await verify(resolver, requestOf("' OR 1=1 --", ACCOUNT_SID));
    expect(resolver.mock.calls).toEqual([
      [{ account_sid: ACCOUNT_SID, service_sid: SERVICE_SID }],
      [{}],
    ]);
  });

  it("may return a query, whose then is called once", async () => {
    const then = jest.fn((resolve: (value: string) => void) => resolve(AUTH_TOKEN));
    // oxlint-disable-next-line unicorn/no-thenable -- the subject of the test
    expect(await verify(() => ({ then }) as unknown as Promise<string>)).toBe("accepted");
    expect(then).toHaveBeenCalledTimes(1);
  });

  it("is called once for the requests of a second, of all receivers with this function", async () => {
    const { seen, resolver } = createSlowResolver(5);
    const { receive } = createReceiver({ authToken: resolver });
    const together = [...Array.from({ length: 10 }, () => verify(resolver)), receive(requestOf())];
    await jest.advanceTimersByTimeAsync(5);
    expect(await Promise.all(together)).toEqual([...Array(10).fill("accepted"), 200]);
    expect(await verify(resolver)).toBe("accepted");
    expect(seen.accounts).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1_000);
    const after = verify(resolver);
    await jest.advanceTimersByTimeAsync(5);
    expect(await after).toBe("accepted");
    expect(seen.accounts).toHaveLength(2);
  });

  it("is called at once for a token that is new", async () => {
    const resolver = resolverOf(AUTH_TOKEN);
    expect(await verify(resolver)).toBe("accepted");
    resolver.mockReturnValue("next");
    const next = requestOf(ACCOUNT_SID, SERVICE_SID, "next");
    expect(await verify(resolver, next)).toBe("accepted");
    expect(resolver).toHaveBeenCalledTimes(2);
  });

  it("is called once for forged signatures of a verified account", async () => {
    const resolver = resolverOf(AUTH_TOKEN);
    await verify(resolver);
    expect(await verify(resolver, forged())).toBe("SIGNATURE_MISMATCH");
    expect(await verify(resolver, forged())).toBe("SIGNATURE_MISMATCH");
    expect(resolver).toHaveBeenCalledTimes(2);
  });

  it("is not called for 1 s for an account without a token", async () => {
    const resolver = resolverOf();
    await verify(resolver);
    await verify(resolver);
    expect(resolver).toHaveBeenCalledTimes(1);
    resolver.mockReturnValue(AUTH_TOKEN);
    jest.advanceTimersByTime(999);
    expect(await verify(resolver)).toBe("SIGNATURE_MISMATCH");
    jest.advanceTimersByTime(1);
    expect(await verify(resolver)).toBe("accepted");
  });

  it.each([
    ["at once for a verified account", AUTH_TOKEN, "accepted", 3],
    ["not at once for an account whose request was forged", "forged", "SIGNATURE_MISMATCH", 2],
  ])("that returned no token is called %s", async (_when, signer, result, calls) => {
    const resolver = resolverOf(AUTH_TOKEN);
    await verify(resolver, requestOf(ACCOUNT_SID, SERVICE_SID, signer));
    jest.advanceTimersByTime(1_000);
    resolver.mockReturnValueOnce(undefined);
    expect(await verify(resolver)).toBe("SIGNATURE_MISMATCH");
    expect(await verify(resolver)).toBe(result);
    expect(resolver).toHaveBeenCalledTimes(calls);
  });

  it("is not called for 2 s after its retries failed for 8 s", async () => {
    const resolver = resolverOf().mockImplementation(down);
    expect(await exhaust(resolver)).toBe("TOKEN_UNAVAILABLE");
    const count = resolver.mock.calls.length;
    expect(count).toBeGreaterThan(1);
    resolver.mockReturnValue(AUTH_TOKEN);
    jest.advanceTimersByTime(1_999);
    expect(await verify(resolver)).toBe("TOKEN_UNAVAILABLE");
    expect(resolver).toHaveBeenCalledTimes(count);
    jest.advanceTimersByTime(1);
    expect(await verify(resolver)).toBe("accepted");
  });

  it("is called at once for a verified account after it failed", async () => {
    const resolver = resolverOf(AUTH_TOKEN);
    await verify(resolver);
    jest.advanceTimersByTime(1_000);
    resolver.mockImplementation(down);
    expect(await exhaust(resolver)).toBe("TOKEN_UNAVAILABLE");
    resolver.mockReturnValue(AUTH_TOKEN);
    expect(await verify(resolver)).toBe("accepted");
  });

  const cause: unknown = expect.objectContaining(DOWN);
  it.each([
    ["throws", jest.fn(async () => AUTH_TOKEN).mockImplementationOnce(async () => down()), cause],
    ["does not respond", never, undefined],
  ])("that %s fails a request at its deadline", async (_how, authToken, found) => {
    const { receive, errors } = createReceiver({ authToken, deadlineMs: 100 });
    const status = receive(requestOf());
    await jest.advanceTimersByTimeAsync(100);
    expect(await status).toBe(503);
    expect(errors).toMatchObject([{ code: "TOKEN_UNAVAILABLE" }]);
    expect(errors[0]?.cause).toEqual(found);
    expect(inspect(errors, { depth: 10, showHidden: true })).not.toContain("hush");
  });
});

it("the lookup of a newer token ends at the deadline of its request", async () => {
  const authToken = jest.fn<Promise<string>, []>(never).mockResolvedValueOnce(AUTH_TOKEN);
  const { receive } = createReceiver({ authToken, deadlineMs: 100 });
  expect(await receive(requestOf())).toBe(200);
  const status = receive(forged());
  await jest.advanceTimersByTimeAsync(100);
  expect(await status).toBe(503);
});

describe("lookups for invented accounts", () => {
  const { body = "", ...others } = requestOf();
  // Unsigned: none of these accounts has a token.
  const flood = (resolver: AuthTokenResolver, count: number, first = 0) =>
    Array.from({ length: count }, (_, index) =>
      verify(resolver, {
        ...others,
        body: body.replace(ACCOUNT_SID, sidOf("AC", first + index)),
      }),
    );

  it("hold no body of their requests", async () => {
    const seen: unknown[] = [];
    const resolver = (claimed: object) => void seen.push(claimed);
    const before = measureHeap();
    for (let index = 0; index < 400; index++) {
      const sids = { account_sid: sidOf("AC", index), service_sid: sidOf("VA", index) };
      const tag = `${index} ${"x".repeat(60_000)}`;
      const request = eventRequest("factor.created", { ...sids, tag });
      expect(await verify(resolver, { ...request, url: request.path })).toBe("SIGNATURE_MISMATCH");
    }
    expect(seen).toHaveLength(400);
    // The bodies have 24 MB.
    expect(measureHeap() - before).toBeLessThan(10e6);
  });

  it("do not make a verified account an unknown one", async () => {
    const resolver = resolverOf(AUTH_TOKEN);
    await verify(resolver);
    resolver.mockReturnValue(undefined);
    for (let index = 0; index < 20_100; index += 100)
      await Promise.all(flood(resolver, 100, index));
    // The oldest of 20,000 was forgotten.
    await Promise.all(flood(resolver, 1));
    expect(resolver).toHaveBeenCalledTimes(20_102);
    jest.advanceTimersByTime(1_000);
    // An unknown account is not looked up again for 1 s.
    expect(await verify(resolver)).toBe("SIGNATURE_MISMATCH");
    resolver.mockReturnValue(AUTH_TOKEN);
    expect(await verify(resolver)).toBe("accepted");
  });

  it("run 50 at a time beside that of a verified account", async () => {
    const { seen, resolver } = createSlowResolver(2_000);
    const first = verify(resolver);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await first).toBe("accepted");
    await jest.advanceTimersByTimeAsync(1_000);
    const flooded = Promise.all(flood(resolver, 1_100));
    const good = verify(resolver);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await good).toBe("accepted");
    await jest.advanceTimersByTimeAsync(60_000);
    const codes = new Set(["SIGNATURE_MISMATCH", "OVERLOADED", "TOKEN_UNAVAILABLE"]);
    expect(new Set(await flooded)).toEqual(codes);
    expect(seen.mostRunning).toBe(51);
  });

  it("occupy a slot for 8 s at most", async () => {
    let isDown = true;
    const { resolver } = createSlowResolver(1);
    const authToken: AuthTokenResolver = (claimed) => (isDown ? never() : resolver(claimed));
    void flood(authToken, 50);
    await jest.advanceTimersByTimeAsync(7_000);
    isDown = false;
    const fresh = verify(authToken);
    await jest.advanceTimersByTimeAsync(1_001);
    expect(await fresh).toBe("accepted");
  });
});

it("the lookups of one account's services do not delay another account", async () => {
  const { resolver } = createSlowResolver(2_000);
  const flood = (first: number) =>
    Array.from({ length: 1_100 }, (_, index) =>
      verify(resolver, requestOf(sidOf("AC", 1), sidOf("VA", first + index))),
    );
  const early = flood(0);
  const good = verify(resolver);
  const late = flood(1_100);
  await jest.advanceTimersByTimeAsync(4_000);
  expect(await good).toBe("accepted");
  await jest.advanceTimersByTimeAsync(60_000);
  expect(await Promise.all([...early, ...late])).toContain("OVERLOADED");
});

it("looks up the account that a GET claims once, whichever publicUrls it fits", async () => {
  jest.useRealTimers();
  const other = `${publicUrl}?account_sid=${sidOf("AC", 1)}`;
  for (const [signed, configured] of [
    [other, [publicUrl, other]],
    [publicUrl, [other, publicUrl]],
  ] as const) {
    const made = eventRequest("factor.created", {}, { method: "GET", publicUrl: signed });
    const { seen, resolver } = createSlowResolver(0);
    const request = { ...made, url: made.path };
    const options = { publicUrl: configured, methods: ["GET"] } as const;
    expect(await verify(resolver, request as never, options)).toBe("accepted");
    expect(seen.accounts).toEqual([ACCOUNT_SID]);
  }
});
