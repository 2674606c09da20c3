import { onAbort } from "./abort-signal";
import { WebhookError } from "./errors";
import type { ChallengeEvent } from "./event";

/** The pending waits of this process, by key. */
export interface Waiters {
  /**
   * Resolves with the event that {@link Waiters.resolve} is called with for the key.
   *
   * @throws WebhookError `CHALLENGE_TIMEOUT`, `CLOSING`, or `OVERLOADED` when too many waits are
   *   pending; the reason of `signal`.
   */
  wait(
    key: string,
    options: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<ChallengeEvent>;
  /** Resolves every wait for a key. */
  resolve(key: string, event: ChallengeEvent): void;
  /** The keys of the pending waits. */
  listKeys(): string[];
  /** Rejects the pending waits in the same turn, and every later wait. */
  close(): void;
}

/** Bounds and observers of {@link createWaiters}. */
export interface WaitersOptions {
  /** How many waits may be pending. @default 10_000 */
  maxWaiting?: number;
  /** Called when a key gets its first wait. */
  onFirst?: (key: string) => void;
  /** Called when the last wait of a key is over. */
  onLast?: (key: string) => void;
}

/** Creates an empty list of waits. */
export function createWaiters({
  maxWaiting = 10_000,
  onFirst,
  onLast,
}: WaitersOptions = {}): Waiters {
  const waitersByKey = new Map<string, Set<Waiter>>();
  let count = 0;
  let closed = false;

  function add(key: string, waiter: Waiter): void {
    count++;
    const waiters = waitersByKey.get(key);
    if (waiters !== undefined) {
      waiters.add(waiter);
      return;
    }
    waitersByKey.set(key, new Set([waiter]));
    onFirst?.(key);
  }

  function remove(key: string, waiter: Waiter): void {
    count--;
    const waiters = waitersByKey.get(key);
    waiters?.delete(waiter);
    if (waiters?.size !== 0) return;
    waitersByKey.delete(key);
    onLast?.(key);
  }

  return {
    async wait(key, { timeoutMs, signal }) {
      signal?.throwIfAborted();
      if (closed) throw closing();
      if (count >= maxWaiting) {
        throw new WebhookError("OVERLOADED", `${maxWaiting} waits for challenges are pending.`);
      }
      const waiter = createWaiter();
      const timer = setTimeout(() => {
        waiter.reject(
          new WebhookError("CHALLENGE_TIMEOUT", `No outcome arrived within ${timeoutMs} ms.`),
        );
      }, timeoutMs);
      const stopListening = signal && onAbort(signal, () => waiter.reject(signal.reason));
      try {
        add(key, waiter);
        return await waiter.promise;
      } finally {
        remove(key, waiter);
        clearTimeout(timer);
        stopListening?.();
      }
    },
    resolve(key, event) {
      for (const waiter of waitersByKey.get(key) ?? []) waiter.resolve(event);
    },
    listKeys: () => [...waitersByKey.keys()],
    close() {
      closed = true;
      for (const waiters of waitersByKey.values()) {
        for (const waiter of waiters) waiter.reject(closing());
      }
    },
  };
}

interface Waiter {
  promise: Promise<ChallengeEvent>;
  resolve: (event: ChallengeEvent) => void;
  reject: (reason: unknown) => void;
}

function createWaiter(): Waiter {
  let resolve!: Waiter["resolve"];
  let reject!: Waiter["reject"];
  const promise = new Promise<ChallengeEvent>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  return { promise, resolve, reject };
}

function closing(): WebhookError {
  return new WebhookError("CLOSING", "The receiver is closing: no outcome will arrive.");
}
