import { WebhookError } from "../errors/webhook-error";
import { isPending, within } from "../delivery/retry";

/** Options of {@link createLookupSlots}. */
export interface LookupSlotsOptions {
  /** How many lookups run at a time. */
  maxRunning: number;
  /** How many lookups wait; above it, the one that waits longest is rejected. */
  maxWaiting: number;
  /** How long a lookup may wait, in milliseconds; one that waited longer is rejected. */
  maxWaitMs: number;
  /** How long a lookup may occupy a slot, in milliseconds. */
  maxRunMs: number;
}

interface WaitingLookup {
  sinceMs: number;
  start: () => void;
  reject: (reason: unknown) => void;
}

/**
 * Creates a function that runs a lookup of auth tokens at once, or as soon as a slot is free. The
 * newest waiting lookup runs first: under overload the oldest ones are about to time out, and in
 * order of arrival every lookup would wait that long.
 *
 * The returned function throws a WebhookError `OVERLOADED` when a lookup waited for `maxWaitMs`, or
 * more than `maxWaiting` newer ones wait.
 */
export function createLookupSlots(options: LookupSlotsOptions) {
  const { maxRunning, maxWaiting, maxWaitMs, maxRunMs } = options;
  /** The oldest first. */
  const waiting: WaitingLookup[] = [];
  let running = 0;

  function start<Value>(lookup: () => Value | Promise<Value>): Value | Promise<Value> {
    const found = lookup();
    if (!isPending(found)) return found;
    running++;
    // Resolve only once: each `then` of a query builder runs its query.
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
