import { WebhookError } from "./errors";
import { isPending, within } from "./hold";

/** Runs a lookup of auth tokens at once, or when a slot is free. */
export type RunInSlot = <Value>(lookup: () => Value | Promise<Value>) => Value | Promise<Value>;

/** Limits of {@link createLookupSlots}. */
export interface LookupSlotsOptions {
  /** How many lookups run at a time. */
  maxRunning: number;
  /** How many wait; above it the one that waits longest is rejected. */
  maxWaiting: number;
  /** How long a lookup waits before it is not worth running any more, in milliseconds. */
  maxWaitMs: number;
  /** When a lookup that has not settled gives up its slot, in milliseconds. */
  maxRunMs: number;
}

interface WaitingLookup {
  sinceMs: number;
  start: () => void;
  reject: (reason: unknown) => void;
}

/**
 * Makes a function that bounds how many lookups run at a time. Of those that wait, the newest runs
 * first: in a flood the oldest are about to time out, and each would wait as long as they did.
 *
 * @throws WebhookError (by what it returns) `OVERLOADED` when a lookup waited for `maxWaitMs`, or
 *   more than `maxWaiting` newer ones wait.
 */
export function createLookupSlots(options: LookupSlotsOptions): RunInSlot {
  const { maxRunning, maxWaiting, maxWaitMs, maxRunMs } = options;
  /** The oldest first. */
  const waiting: WaitingLookup[] = [];
  let running = 0;

  function start<Value>(lookup: () => Value | Promise<Value>): Value | Promise<Value> {
    const found = lookup();
    if (!isPending(found)) return found;
    running++;
    // Once: `then` of a query builder runs its query each time.
    const pending = Promise.resolve(found);
    within(pending, maxRunMs).then(release, release);
    return pending;
  }

  function release(): void {
    running--;
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (performance.now() - next.sinceMs < maxWaitMs) next.start();
      else next.reject(overloaded(`No lookup slot was free for ${maxWaitMs} ms.`));
      if (running >= maxRunning) return;
    }
  }

  return function runInSlot<Value>(lookup: () => Value | Promise<Value>) {
    if (running < maxRunning) return start(lookup);
    if (waiting.length >= maxWaiting) {
      waiting.shift()?.reject(overloaded(`More than ${maxWaiting} lookups of auth tokens wait.`));
    }
    return new Promise<Value>((resolve, reject) => {
      const begin = () => {
        try {
          resolve(start(lookup));
        } catch (error) {
          reject(error);
        }
      };
      waiting.push({ sinceMs: performance.now(), start: begin, reject });
    });
  };
}

function overloaded(message: string): WebhookError {
  return new WebhookError("OVERLOADED", message);
}
