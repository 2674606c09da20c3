import { createRequestRetry } from "../../../lib/core/delivery/retry-request";

jest.mock("node:timers/promises", () => ({
  setTimeout: (delayMs: number) => new Promise((resolve) => setTimeout(resolve, delayMs)),
}));

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it.each([
  ["retryForMs", 30, Infinity],
  ["its deadline", 60_000, 30],
])("an operation fails at %s, also in a longer pause", async (_what, retryForMs, deadlineMs) => {
  const pauses = { firstMs: 2_000, longestMs: 4_000 };
  const retry = createRequestRetry({ retryForMs, pauses });
  const attempt = () => Promise.reject(new Error("down"));
  const failed = jest.fn();
  const ended = retry(attempt, performance.now() + deadlineMs).catch(failed);
  await jest.advanceTimersByTimeAsync(50);
  expect(failed).toHaveBeenCalledTimes(1);
  await ended;
});
