import { setTimeout as sleep } from "node:timers/promises";
import { publish } from "./diagnostics";
import { WebhookError } from "./errors";

/** Runs an attempt until it succeeds, within limits. */
export type Hold = <Value>(
  attempt: () => Value | Promise<Value>,
  /** When to give up at the latest, as `performance.now()` counts. */
  deadlineAtMs?: number,
) => Promise<Value>;

/** Limits of {@link createHold}. */
export interface HoldOptions {
  /** How long a call is held before it is refused. @default 8_000, below the sender's 15 s */
  holdMs?: number;
  /** How many calls are held at a time. @default 1_000 */
  maxHeld?: number;
  /** After which an attempt is given up for another; it may still succeed. @default holdMs */
  attemptMs?: number;
  /** The first pause between attempts; each is twice the one before it. @default 25 */
  firstPauseMs?: number;
  /** The longest pause. @default 500 */
  longestPauseMs?: number;
}

const ATTEMPT_WHEN_FULL_MS = 250;

/**
 * Makes a function that holds a call while what it needs is down, rather than refuse it at once: a
 * store that restarts then costs no call.
 *
 * When `maxHeld` calls are held, another gets one short attempt: so those who wait for what does
 * not come keep nobody from what is there.
 *
 * @throws WebhookError (by what it returns) `STORE_UNAVAILABLE` after `holdMs`, with the last
 *   failure as its cause; `OVERLOADED` when `maxHeld` calls are held and the attempt failed.
 */
export function createHold({
  holdMs = 8_000,
  maxHeld = 1_000,
  attemptMs = holdMs,
  firstPauseMs = 25,
  longestPauseMs = 500,
}: HoldOptions = {}): Hold {
  let held = 0;

  async function waitOnce<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      return await within(answer, ATTEMPT_WHEN_FULL_MS);
    } catch (cause) {
      const message = `${maxHeld} calls wait for a store to answer already.`;
      throw new WebhookError("OVERLOADED", message, { cause });
    }
  }

  async function retry<Value>(
    first: Promise<Value>,
    attempt: () => Value | Promise<Value>,
    latestMs: number,
  ): Promise<Value> {
    const deadlineMs = Math.min(performance.now() + holdMs, latestMs);
    let answer: Value | Promise<Value> = first;
    let cause: unknown;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        return await within(answer, Math.min(attemptMs, deadlineMs - performance.now()));
      } catch (error) {
        if (cause === undefined) publish("held", {});
        cause = error;
      }
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) {
        const message = `A store gave no good answer within ${holdMs} ms; see the cause.`;
        throw new WebhookError("STORE_UNAVAILABLE", message, { cause });
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

/** Anything with a `then`, such as a query of some library, is a promise too. */
function isPending<Value>(answer: Value | Promise<Value>): answer is Promise<Value> {
  return typeof answer === "object" && answer !== null && "then" in answer;
}

/** An answer that is awaited for a time; there is no timer where it is at hand. */
async function within<Value>(answer: Value | Promise<Value>, limitMs: number): Promise<Value> {
  if (!isPending(answer)) return answer;
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("it did not answer in time")), limitMs);
  });
  try {
    return await Promise.race([answer, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
