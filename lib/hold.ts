import { setTimeout as sleep } from "node:timers/promises";
import { publish } from "./diagnostics";
import { WebhookError } from "./errors";

/** Runs an attempt until it succeeds, within limits. */
export type Hold = <Value>(attempt: () => Value | Promise<Value>) => Promise<Value>;

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

  async function attemptOnce<Value>(attempt: () => Value | Promise<Value>): Promise<Value> {
    try {
      return await within(attempt, ATTEMPT_WHEN_FULL_MS);
    } catch (cause) {
      const message = `${maxHeld} calls wait for a store to answer already.`;
      throw new WebhookError("OVERLOADED", message, { cause });
    }
  }

  async function retry<Value>(attempt: () => Value | Promise<Value>): Promise<Value> {
    const deadlineMs = performance.now() + holdMs;
    let cause: unknown;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        return await within(attempt, Math.min(attemptMs, deadlineMs - performance.now()));
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
    }
  }

  return async function hold(attempt) {
    if (held >= maxHeld) return attemptOnce(attempt);
    held++;
    try {
      return await retry(attempt);
    } finally {
      held--;
    }
  };
}

/** The answer of an attempt; there is no timer where it comes at once. */
function within<Value>(attempt: () => Value | Promise<Value>, limitMs: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const answer = attempt();
    // Anything with a `then`, such as a query of some library, is a promise too.
    if (typeof answer !== "object" || answer === null) return resolve(answer);
    const timer = setTimeout(() => reject(new Error("it did not answer in time")), limitMs);
    void Promise.resolve(answer)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
