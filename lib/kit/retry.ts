import { setTimeout as sleep } from "node:timers/promises";
import { publish } from "../core/observability/diagnostics";
import { WebhookError } from "../core/errors/webhook-error";
import type { WebhookErrorCode } from "../core/errors/codes";
import { createNeutralCause } from "./neutral-cause";
import { readThrown } from "./thrown-value";
import { pauseAfter, type Pauses } from "./backoff";

/** Options of {@link createRetry}. */
export interface RetryOptions {
  /** The code of the error when no attempt succeeded. @default "STORE_UNAVAILABLE" */
  code?: WebhookErrorCode;
  /** The name of the store or function that the attempts use, for error messages. @default "a store" */
  what?: string;
  /** Returns whether an error has no arguments and may be the cause unchanged. @default never */
  isNeutral?: (error: unknown) => boolean;
  /** How long to retry, in milliseconds; below the 15 s of the service. @default 8_000 */
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

/**
 * Creates a function that retries an operation while the store that it needs is down: a restart of
 * the store then rejects no webhook request.
 *
 * At `maxRetrying`, each further operation gets a single attempt of `attemptWhenFullMs`, so that
 * operations on a store that does not respond do not block the others.
 *
 * The returned function throws a WebhookError with `code` after `retryForMs`, and `OVERLOADED` if
 * the single attempt at `maxRetrying` failed; both have a neutral copy of the last error as their
 * cause. It rethrows a WebhookError of an attempt without a retry.
 */
export function createRetry(options: RetryOptions = {}) {
  const { code = "STORE_UNAVAILABLE", what = "a store", isNeutral = () => false } = options;
  const { retryForMs = 8_000, maxRetrying = 1_000, attemptMs = retryForMs } = options;
  const { attemptWhenFullMs = 250, pauses = { firstMs: 25, longestMs: 500 } } = options;
  const toCause = (error: unknown) => (isNeutral(error) ? error : createNeutralCause(error));
  let retrying = 0;

  async function attemptOnce<Value>(pending: Promise<Value>): Promise<Value> {
    try {
      return await within(pending, attemptWhenFullMs);
    } catch (error) {
      if (error instanceof WebhookError) throw error;
      const message = `${maxRetrying} webhook requests already wait for ${what}; see the cause.`;
      throw new WebhookError("OVERLOADED", message, { cause: toCause(error) });
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
        if (error instanceof WebhookError) throw error;
        onAttemptFailed?.(error);
        if (cause === undefined) publish("retrying", () => ({}));
        // An error of the store explains more than the time-out of the last attempt.
        const isTimeout = readThrown(() => error instanceof ResponseTimeout) === true;
        if (cause === undefined || !isTimeout) cause = error;
      }
      const leftMs = deadlineAtMs - performance.now();
      if (leftMs <= 0) {
        const subject = what.charAt(0).toUpperCase() + what.slice(1);
        const message = `${subject} failed or did not respond within ${Math.round(performance.now() - startMs)} ms; see the cause.`;
        throw new WebhookError(code, message, { cause: toCause(cause) });
      }
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

class ResponseTimeout extends Error {
  constructor(problem: string, limitMs: number) {
    super(`${problem} within ${Math.round(limitMs)} ms.`);
  }
}

/** Returns whether a value has a `then`, like a promise and the queries of some libraries. */
export function isPending<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof value === "object" && value !== null && "then" in value;
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
