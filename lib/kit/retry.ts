import { setTimeout as sleep } from "node:timers/promises";
import { pauseAfter, type Pauses } from "./backoff";
import { isPending } from "./pending";

/** How long, and for how many operations at a time, {@link createRetry} tries again. */
export interface RetryLimits {
  /** How long to retry, in milliseconds. @default 8_000 */
  retryForMs?: number;
  /** How many operations may be retried at a time. @default 1_000 */
  maxRetrying?: number;
  /** How long to await one attempt, in milliseconds: it may succeed later. @default retryForMs */
  attemptMs?: number;
  /** How long to await the only attempt at `maxRetrying`, in milliseconds. @default 250 */
  attemptWhenFullMs?: number;
  /** The pauses between attempts. @default { firstMs: 25, longestMs: 500 } */
  pauses?: Pauses;
}

export interface RetryErrors {
  /** Returns whether an error of an attempt is the result: it is rethrown without a retry. */
  isFinal: (error: unknown) => boolean;
  /** Returns the error of an operation whose attempts all failed within `elapsedMs`. */
  createError: (cause: unknown, elapsedMs: number) => Error;
  /** Returns the error of an operation whose only attempt failed, since `retrying` others were retried. */
  createOverloadError: (cause: unknown, retrying: number) => Error;
  /** Called when the first attempt of an operation failed. */
  onFirstFailure: () => void;
}

/**
 * Creates a function that retries an operation while what it needs is down.
 *
 * At `maxRetrying`, each further operation gets a single attempt of `attemptWhenFullMs`.
 */
export function createRetry(limits: RetryLimits, errors: RetryErrors) {
  const { retryForMs = 8_000, maxRetrying = 1_000, attemptMs = retryForMs } = limits;
  const { attemptWhenFullMs = 250, pauses = { firstMs: 25, longestMs: 500 } } = limits;
  let retrying = 0;

  async function attemptOnce<Value>(pending: Promise<Value>): Promise<Value> {
    try {
      return await within(pending, attemptWhenFullMs);
    } catch (error) {
      throw errors.isFinal(error) ? error : errors.createOverloadError(error, maxRetrying);
    }
  }

  async function retryUntil<Value>(
    first: Promise<Value>,
    attempt: () => Value | Promise<Value>,
    latestAtMs: number,
    onAttemptFailed: ((error: unknown) => void) | undefined,
  ): Promise<Value> {
    const startMs = performance.now();
    const deadlineAtMs = Math.min(startMs + retryForMs, latestAtMs);
    let result: Value | Promise<Value> = first;
    let cause: unknown;
    for (let failures = 1; ; failures++) {
      try {
        return await within(result, Math.min(attemptMs, deadlineAtMs - performance.now()));
      } catch (error) {
        if (errors.isFinal(error)) throw error;
        onAttemptFailed?.(error);
        if (cause === undefined) errors.onFirstFailure();
        // An error of the store explains more than the time-out of the last attempt.
        if (cause === undefined || !(error instanceof ResponseTimeout)) cause = error;
      }
      const leftMs = deadlineAtMs - performance.now();
      if (leftMs <= 0) throw errors.createError(cause, performance.now() - startMs);
      await sleep(Math.min(pauseAfter(failures, pauses), leftMs));
      result = begin(attempt);
    }
  }

  return function retry<Value>(
    attempt: () => Value | Promise<Value>,
    /** The latest time to stop, in milliseconds of `performance.now()`. */
    deadlineAtMs = Number.POSITIVE_INFINITY,
    /** Called with the error of each failed attempt. */
    onAttemptFailed?: (error: unknown) => void,
  ): Promise<Value> {
    const first = begin(attempt);
    if (!isPending(first)) return Promise.resolve(first);
    if (retrying >= maxRetrying) return attemptOnce(first);
    retrying++;
    return retryUntil(first, attempt, deadlineAtMs, onAttemptFailed).finally(() => retrying--);
  };
}

function begin<Value>(attempt: () => Value | Promise<Value>): Value | Promise<Value> {
  try {
    return attempt();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The error of {@link within}. */
export class ResponseTimeout extends Error {
  constructor(problem: string, limitMs: number) {
    super(`${problem} within ${Math.round(limitMs)} ms.`);
  }
}

/** Awaits a promise for up to `limitMs` milliseconds, then throws what the problem is; returns any other value. */
export async function within<Value>(
  value: Value | Promise<Value>,
  limitMs: number,
  problem = "There was no response",
): Promise<Value> {
  if (!isPending(value)) return value;
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ResponseTimeout(problem, limitMs)), Math.max(limitMs, 0));
  });
  try {
    return await Promise.race([value, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
