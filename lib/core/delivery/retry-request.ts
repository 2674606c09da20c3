import { setTimeout as sleep } from "node:timers/promises";
import type { WebhookErrorCode } from "../errors/codes";
import { WebhookError } from "../errors/webhook-error";
import { publish } from "../observability/diagnostics";
import { pauseAfter, type Pauses } from "../../kit/backoff";
import { createNeutralCause } from "../../kit/neutral-cause";
import { isPending } from "../../kit/pending";
import { ResponseTimeout, within } from "../../kit/response-timeout";

/** How long an operation is retried, and what its error says. */
export interface RequestRetryOptions {
  /** The code of the error when no attempt succeeded. @default "STORE_UNAVAILABLE" */
  code?: WebhookErrorCode;
  /** The name of the store or function that the attempts use, for error messages. @default "a store" */
  what?: string;
  /** Returns whether an error has no arguments, and may be the cause itself. @default never */
  isNeutral?: (error: unknown) => boolean;
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

/**
 * Creates a function that retries an operation of a webhook request while its store is down: a restart
 * of the store then rejects no request. The service waits longer than its default, 8 s. At
 * `maxRetrying`, each further operation gets a single attempt.
 *
 * The returned function throws a WebhookError with `code` after `retryForMs`, and `OVERLOADED` if the
 * single attempt failed, with a neutral copy of the last error as cause. It rethrows a WebhookError of
 * an attempt without a retry.
 */
export function createRequestRetry(options: RequestRetryOptions = {}) {
  const { code = "STORE_UNAVAILABLE", what = "a store", isNeutral = () => false } = options;
  const { retryForMs = 8_000, maxRetrying = 1_000, attemptMs = retryForMs } = options;
  const { attemptWhenFullMs = 250, pauses = { firstMs: 25, longestMs: 500 } } = options;
  let retrying = 0;

  function createError(errorCode: WebhookErrorCode, problem: string, error: unknown) {
    const cause = isNeutral(error) ? error : createNeutralCause(error);
    return new WebhookError(errorCode, `${problem}; see the cause.`, { cause });
  }

  async function attemptOnce<Value>(pending: Promise<Value>): Promise<Value> {
    try {
      return await within(pending, attemptWhenFullMs);
    } catch (error) {
      if (error instanceof WebhookError) throw error;
      const problem = `${maxRetrying} webhook requests already wait for ${what}`;
      throw createError("OVERLOADED", problem, error);
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
        if (failures === 1) publish("retrying", () => ({}));
        // An error of the store explains more than the time-out of the last attempt.
        if (cause === undefined || !(error instanceof ResponseTimeout)) cause = error;
      }
      const nowMs = performance.now();
      if (nowMs >= deadlineAtMs) {
        const subject = what.charAt(0).toUpperCase() + what.slice(1);
        const problem = `${subject} failed or did not respond within ${Math.round(nowMs - startMs)} ms`;
        throw createError(code, problem, cause);
      }
      await sleep(Math.min(pauseAfter(failures, pauses), deadlineAtMs - nowMs));
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
