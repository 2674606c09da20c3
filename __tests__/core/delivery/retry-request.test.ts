import { inspect } from "node:util";
import { WebhookError } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { createConfirmation, type Confirm } from "../../../lib/core/delivery/confirmation";
import { createRequestRetry } from "../../../lib/core/delivery/retry-request";
import { useChannels } from "../../support/channels";
import { never } from "../../support/waiting";

jest.mock("node:timers/promises", () => ({
  setTimeout: (delayMs: number) => new Promise((resolve) => setTimeout(resolve, delayMs)),
}));

const published = useChannels("retrying");
beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it("retries until an attempt succeeds", async () => {
  let attempts = 0;
  const retry = createRequestRetry();
  const value = retry(() => {
    if (++attempts === 1) throw new Error("synchronous");
    return attempts < 4 ? Promise.reject(new Error("asynchronous")) : "up";
  });
  await jest.advanceTimersByTimeAsync(200);
  expect(await value).toBe("up");
  expect(published).toEqual([["retrying", {}]]);
});

it("starts no timer with a negative delay when the deadline has passed", async () => {
  const started = jest.spyOn(globalThis, "setTimeout");
  const late = createRequestRetry()(never, performance.now() - 1_000).catch(Object);
  await jest.advanceTimersByTimeAsync(0);
  expect(await late).toHaveProperty("code", "STORE_UNAVAILABLE");
  expect(started.mock.calls.map(([, delayMs]) => delayMs)).toEqual([0]);
  started.mockRestore();
});

const token = { code: "TOKEN_UNAVAILABLE", what: "the resolver", retryForMs: 30 } as const;
it.each([
  ["TOKEN_UNAVAILABLE", token, /^The resolver failed/],
  ["OVERLOADED", { maxRetrying: 0 }, /^0 webhook requests already wait for a store/],
])("rejects with %s and a cause without arguments for %j", async (code, options, message) => {
  const args = ["hush-identity", { metadata: "hush-metadata" }];
  const thrown = Object.assign(new Error("ERR no"), { code: "E", command: { args } });
  const failed = createRequestRetry(options)(() => Promise.reject(thrown)).catch(Object);
  await jest.advanceTimersByTimeAsync(30);
  const error = (await failed) as Error;
  expect(error).toMatchObject({ code, cause: { message: "ERR no", code: "E" } });
  expect(error.message).toMatch(message);
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("hush");
});

it("rejects at once with a WebhookError that an attempt threw", async () => {
  const error = new WebhookError("OVERLOADED", "too many");
  const attempt = () => Promise.reject(error);
  for (const options of [{}, { maxRetrying: 0 }])
    await expect(createRequestRetry(options)(attempt)).rejects.toBe(error);
});

it("gives an operation over maxRetrying one attempt", async () => {
  const retry = createRequestRetry({ retryForMs: 50, maxRetrying: 1 });
  const held = retry(never).catch(() => "given up");
  expect(await retry(() => 1)).toBe(1);
  const down = jest.fn(() => Promise.reject(new Error("down")));
  await expect(retry(down)).rejects.toHaveProperty("code", "OVERLOADED");
  await jest.advanceTimersByTimeAsync(50);
  expect(await held).toBe("given up");
  retry(down).catch(Object);
  await jest.advanceTimersByTimeAsync(50);
  expect(down.mock.calls.length).toBeGreaterThan(2);
});

it.each([
  [249, "late"],
  [251, "OVERLOADED"],
])("limits the only attempt at maxRetrying: %i ms: %s", async (delayMs, found) => {
  const attempt = () => new Promise((resolve) => setTimeout(resolve, delayMs, "late"));
  const retry = createRequestRetry({ maxRetrying: 0 });
  const tried = retry(attempt).catch(({ code }: WebhookError) => code);
  await jest.advanceTimersByTimeAsync(delayMs);
  expect(await tried).toBe(found);
});

it.each([
  [() => Promise.reject(new Error("two")), "two"],
  [never, "one"],
])("the cause is the last error of a store, not a time-out: %p", async (next, message) => {
  const attempt = jest.fn(next).mockRejectedValueOnce(new Error("one"));
  const failed = createRequestRetry({ retryForMs: 60 })(attempt).catch(Object);
  await jest.advanceTimersByTimeAsync(60);
  expect(await failed).toHaveProperty("cause.message", message);
});

it("retries for 8 s, after a pause of 25 ms that doubles up to 500 ms", async () => {
  const startMs = performance.now();
  const times: number[] = [];
  const attempt = () => (times.push(performance.now() - startMs), never());
  const failed = createRequestRetry({ attemptMs: 20 })(attempt).catch(Object);
  const once = jest.fn(never);
  createRequestRetry()(once).catch(Object);
  await jest.advanceTimersByTimeAsync(8_010);
  expect(await failed).toHaveProperty("code", "STORE_UNAVAILABLE");
  expect(String(await failed)).toContain(" 8001 ms");
  expect(times.slice(0, 8)).toEqual([0, 45, 115, 235, 455, 875, 1_395, 1_915]);
  expect(times.at(-1)).toBe(8_000);
  expect(once).toHaveBeenCalledTimes(1);
});

const event = eventFixture("factor.created");
const PENDING_MS = [0, 250, 750, 1_750, 3_750, 5_750, 7_750, 8_000];
it.each<[string, Confirm, code: string, calledMs: number[], abortedMs: number[]]>([
  ["no response", never, "CONFIRM_UNAVAILABLE", [0, 4_250], [4_000, 8_000]],
  ["pending", () => "pending", "NOT_CONFIRMED", PENDING_MS, PENDING_MS],
])("confirm is called for 8 s after %s", async (_what, confirm, code, ...timesMs) => {
  const startMs = performance.now();
  const times: [called: number[], aborted: number[]] = [[], []];
  const note = (index: 0 | 1) => times[index].push(performance.now() - startMs);
  const confirmUntil = createConfirmation((asked, context) => {
    note(0);
    context.signal.addEventListener("abort", () => note(1));
    return confirm(asked, context);
  });
  const failed = confirmUntil(event, "zone", Infinity).catch(Object);
  await jest.advanceTimersByTimeAsync(8_000);
  expect(await failed).toHaveProperty("code", code);
  if (code === "NOT_CONFIRMED")
    expect(await failed).toHaveProperty("message", expect.stringContaining("zone"));
  expect(times).toEqual(timesMs);
});

it("confirm is called once for 4 s while it is called again for 1,000 others", async () => {
  const confirmUntil = createConfirmation(never);
  const failed: string[] = [];
  for (let times = 0; times <= 1_000; times++)
    confirmUntil(event, undefined, Infinity).catch(({ code }) => failed.push(code));
  await jest.advanceTimersByTimeAsync(3_999);
  expect(failed).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(failed).toEqual(["OVERLOADED"]);
  await jest.advanceTimersByTimeAsync(4_000);
});
