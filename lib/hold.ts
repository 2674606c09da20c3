import { setTimeout as sleep } from "node:timers/promises";
import { publish } from "./diagnostics";
import { WebhookError, type WebhookErrorCode } from "./errors";
import { createNeutralCause } from "./neutral-cause";

/** Runs an attempt until it succeeds, within limits. */
export type Hold = <Value>(
  attempt: () => Value | Promise<Value>,
  /** When to give up at the latest, as `performance.now()` counts. */
  deadlineAtMs?: number,
) => Promise<Value>;

/** Limits of {@link createHold}, and the error when they are exceeded. */
export interface HoldOptions {
  /** The code of the error after `holdMs`. @default "STORE_UNAVAILABLE" */
  code?: WebhookErrorCode;
  /** Names in error messages what the attempts need. @default "a store" */
  what?: string;
  /** Returns whether an error holds no arguments and may be the cause as it is. @default never */
  isNeutral?: (error: unknown) => boolean;
  /** How long a call is held before it is refused. @default 8_000, below the sender's 15 s */
  holdMs?: number;
  /** How many calls are held at a time. @default 1_000 */
  maxHeld?: number;
  /** After which an attempt is given up for another; it may still succeed. @default holdMs */
  attemptMs?: number;
  /** How long the one attempt may take when `maxHeld` is reached. @default 250 */
  attemptWhenFullMs?: number;
  /** The first pause between attempts; each is twice the one before it. @default 25 */
  firstPauseMs?: number;
  /** The longest pause. @default 500 */
  longestPauseMs?: number;
}

/**
 * Makes a function that holds a call while what it needs is down, rather than refuse it at once: a
 * store that restarts then costs no call.
 *
 * When `maxHeld` calls are held, another gets one short attempt: so those who wait for what does
 * not come do not block those whose store responds.
 *
 * @throws WebhookError (by what it returns) `code` after `holdMs`, and `OVERLOADED` when `maxHeld`
 *   calls are held and the attempt failed, both with a cause that holds no arguments of the last
 *   failure. A WebhookError that an attempt throws is thrown at once.
 */
export function createHold({
  code = "STORE_UNAVAILABLE",
  what = "a store",
  isNeutral = () => false,
  holdMs = 8_000,
  maxHeld = 1_000,
  attemptMs = holdMs,
  attemptWhenFullMs = 250,
  firstPauseMs = 25,
  longestPauseMs = 500,
}: HoldOptions = {}): Hold {
  const toCause = (error: unknown) => (isNeutral(error) ? error : createNeutralCause(error));
  let held = 0;

  async function waitOnce<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      return await within(answer, attemptWhenFullMs);
    } catch (error) {
      if (error instanceof WebhookError) throw error;
      const message = `${maxHeld} webhook requests already wait for ${what}; see the cause.`;
      throw new WebhookError("OVERLOADED", message, { cause: toCause(error) });
    }
  }

  async function retry<Value>(
    first: Promise<Value>,
    attempt: () => Value | Promise<Value>,
    latestMs: number,
  ): Promise<Value> {
    const startMs = performance.now();
    const deadlineMs = Math.min(startMs + holdMs, latestMs);
    let answer: Value | Promise<Value> = first;
    let cause: unknown;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        return await within(answer, Math.min(attemptMs, deadlineMs - performance.now()));
      } catch (error) {
        if (error instanceof WebhookError) throw error;
        if (cause === undefined) publish("held", {});
        // What the store said tells more than the time-out of the attempt at the deadline.
        if (cause === undefined || !(error instanceof ResponseTimeout)) cause = error;
      }
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) {
        const message = `${capitalize(what)} failed or did not respond within ${Math.round(performance.now() - startMs)} ms; see the cause.`;
        throw new WebhookError(code, message, { cause: toCause(cause) });
      }
      await sleep(Math.min(pauseMs, leftMs));
      answer = begin(attempt);
    }
  }

  return async function hold(attempt, deadlineAtMs = Number.POSITIVE_INFINITY) {
    const first = begin(attempt);
    if (!isPending(first)) return first;
    if (held >= maxHeld) return waitOnce(first);
    held++;
    try {
      return await retry(first, attempt, deadlineAtMs);
    } finally {
      held--;
    }
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
  constructor(limitMs: number) {
    super(`There was no response within ${Math.round(limitMs)} ms.`);
  }
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns whether a value has a `then`: as a promise, and as queries of some libraries. */
export function isPending<Value>(answer: Value | Promise<Value>): answer is Promise<Value> {
  return typeof answer === "object" && answer !== null && "then" in answer;
}

/**
 * Awaits a value for up to `limitMs`; sets no timer for a value that is no promise.
 *
 * @throws Error after `limitMs`.
 */
export async function within<Value>(
  answer: Value | Promise<Value>,
  limitMs: number,
): Promise<Value> {
  if (!isPending(answer)) return answer;
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ResponseTimeout(limitMs)), limitMs);
  });
  try {
    return await Promise.race([answer, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
