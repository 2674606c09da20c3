import { setTimeout as sleep } from "node:timers/promises";
import { WebhookError } from "./errors";

/** Runs an attempt until it succeeds, within limits. */
export type Hold = <Value>(attempt: () => Value | Promise<Value>) => Promise<Value>;

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;

/**
 * Makes a function that holds a call while what it needs is down, rather than refuse it at once: a
 * store that restarts then costs no call.
 *
 * @param holdMs how long a call is held before it is refused; below the sender's timeout of 15 s.
 * @param maxHeld how many calls are held at a time.
 * @throws WebhookError `STORE_UNAVAILABLE` after `holdMs`, with the last failure as its cause;
 *   `OVERLOADED` when `maxHeld` calls are held.
 */
export function createHold({ holdMs = 8_000, maxHeld = 1_000 } = {}): Hold {
  let held = 0;

  return async function hold(attempt) {
    if (held >= maxHeld) {
      throw new WebhookError("OVERLOADED", `${maxHeld} calls wait for a store to answer already.`);
    }
    held++;
    const deadline = new AbortController();
    const expired = expire(holdMs, deadline.signal);
    try {
      return await retryUntil(attempt, expired, holdMs);
    } finally {
      held--;
      deadline.abort();
    }
  };
}

const EXPIRED = Symbol("expired");

function expire(delayMs: number, signal: AbortSignal): Promise<typeof EXPIRED> {
  return sleep(delayMs, EXPIRED, { signal }).catch(() => EXPIRED);
}

async function retryUntil<Value>(
  attempt: () => Value | Promise<Value>,
  expired: Promise<typeof EXPIRED>,
  holdMs: number,
): Promise<Value> {
  let cause: unknown = new Error("no attempt was answered in time");
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const value = await Promise.race([tryOnce(attempt), expired]);
      if (value !== EXPIRED) return value;
    } catch (error) {
      cause = error;
    }
    if ((await Promise.race([sleep(pauseMs), expired])) === EXPIRED) {
      throw new WebhookError("STORE_UNAVAILABLE", `A store gave no answer within ${holdMs} ms.`, {
        cause,
      });
    }
  }
}

async function tryOnce<Value>(attempt: () => Value | Promise<Value>): Promise<Value> {
  return attempt();
}
