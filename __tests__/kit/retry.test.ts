import { createRetry } from "../../lib/kit/retry";

/** Pauses that the fake clock ends. */
jest.mock("node:timers/promises", () => ({
  setTimeout: (delayMs: number) => new Promise((resolve) => setTimeout(resolve, delayMs)),
}));

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it.each([
  ["retryForMs", 30, undefined],
  ["its deadline", 60_000, 30],
])("an operation fails at %s, also in a longer pause", async (_what, retryForMs, deadlineMs) => {
  const pauses = { firstMs: 4_000, longestMs: 4_000 };
  const retry = createRetry(
    { retryForMs, pauses },
    {
      isFinal: () => false,
      createError: (cause) => cause as Error,
      createOverloadError: (cause) => cause as Error,
      onFirstFailure() {},
    },
  );
  const startMs = performance.now();
  const attempt = () => Promise.reject(new Error("down"));
  const deadlineAtMs = deadlineMs === undefined ? undefined : startMs + deadlineMs;
  const failed = jest.fn();
  const ended = retry(attempt, deadlineAtMs).catch(failed);
  await jest.advanceTimersByTimeAsync(31);
  expect(failed).toHaveBeenCalledTimes(1);
  await ended;
});
