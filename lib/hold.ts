import { setTimeout as sleep } from "node:timers/promises";
import { publish } from "./diagnostics";
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
 * @param attemptMs after which an attempt is given up for another; it may still succeed.
 * @throws WebhookError `STORE_UNAVAILABLE` after `holdMs`, with the last failure as its cause;
 *   `OVERLOADED` when `maxHeld` calls are held.
 */
export function createHold({
  holdMs = 8_000,
  maxHeld = 1_000,
  attemptMs = Number.POSITIVE_INFINITY,
} = {}): Hold {
  let held = 0;

  return async function hold(attempt) {
    if (held >= maxHeld) {
      throw new WebhookError("OVERLOADED", `${maxHeld} calls wait for a store to answer already.`);
    }
    held++;
    try {
      return await retry(attempt, holdMs, attemptMs);
    } finally {
      held--;
    }
  };
}

async function retry<Value>(
  attempt: () => Value | Promise<Value>,
  holdMs: number,
  attemptMs: number,
): Promise<Value> {
  const deadlineMs = performance.now() + holdMs;
  let cause: unknown;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const answer = attempt();
      // Anything with a `then`, such as a query of some library, is a promise too.
      const isPending = typeof answer === "object" && answer !== null;
      const limitMs = Math.min(attemptMs, deadlineMs - performance.now());
      return isPending ? await within(answer, limitMs) : answer;
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

function within<Value>(answer: Value | Promise<Value>, limitMs: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("it did not answer in time")), limitMs);
    void Promise.resolve(answer)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
