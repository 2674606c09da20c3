import { onAbort } from "./abort-signal";
import { WebhookError } from "../errors/webhook-error";
import type { ChallengeEvent } from "../event/event";

/** The pending waits of this process, by key. */
export type Waiters = ReturnType<typeof createWaiters>;

/** How long a wait lasts, and whose share it counts against. */
export interface WaiterOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** @default an account that all waits without one share */
  account?: string | undefined;
}

/** Options of {@link createWaiters}. */
export interface WaitersOptions {
  /** How many waits may be pending, of all accounts together. @default 10_000 */
  maxWaiting?: number;
  /** Called when the first wait for a key starts. */
  onFirst?: (key: string) => void;
  /** Called when the last wait for a key has ended. */
  onLast?: (key: string) => void;
}

/** Creates the pending waits of a process, without any at first. */
export function createWaiters({ maxWaiting = 10_000, onFirst, onLast }: WaitersOptions = {}) {
  const waitersByKey = new Map<string, Set<Waiter>>();
  /** The oldest first. */
  const waitersByAccount = new Map<string, Set<Waiter>>();
  let count = 0;
  let closed = false;

  function add(waiter: Waiter): void {
    count++;
    addTo(waitersByAccount, waiter.account, waiter);
    if (addTo(waitersByKey, waiter.key, waiter)) onFirst?.(waiter.key);
  }

  function remove(waiter: Waiter): void {
    // False when it was evicted.
    if (waitersByAccount.get(waiter.account)?.has(waiter) !== true) return;
    count--;
    removeFrom(waitersByAccount, waiter.account, waiter);
    if (removeFrom(waitersByKey, waiter.key, waiter)) onLast?.(waiter.key);
  }

  function makeRoom(account: string): void {
    const own = waitersByAccount.get(account)?.size ?? 0;
    const accounts = waitersByAccount.size + (own === 0 ? 1 : 0);
    if ((own + 1) * accounts > maxWaiting) throw overloaded();
    // So another account has more than its share.
    let largest = new Set<Waiter>();
    for (const waiters of waitersByAccount.values()) {
      if (waiters.size > largest.size) largest = waiters;
    }
    const [oldest] = largest;
    if (oldest === undefined) return;
    remove(oldest);
    oldest.reject(overloaded());
  }

  function overloaded(): WebhookError {
    return new WebhookError("OVERLOADED", `${maxWaiting} waits for challenges are pending.`);
  }

  return {
    /**
     * Waits until `resolve` is called for the key, and resolves with its event.
     *
     * When too many waits are pending, the account that has more than its share loses its oldest one:
     * a challenge that is not approved soon is rarely approved later.
     *
     * @throws WebhookError `CHALLENGE_TIMEOUT`, `CLOSING`, or `OVERLOADED` when too many waits are
     *   pending; the reason of `signal`.
     */
    async wait(
      key: string,
      { timeoutMs, signal, account = "" }: WaiterOptions,
    ): Promise<ChallengeEvent> {
      signal?.throwIfAborted();
      if (closed) throw createClosingError();
      if (count >= maxWaiting) makeRoom(account);
      const waiter = createWaiter(key, account);
      const timer = setTimeout(() => {
        const message = `The challenge was neither approved nor denied within ${timeoutMs} ms.`;
        waiter.reject(new WebhookError("CHALLENGE_TIMEOUT", message));
      }, timeoutMs);
      const stopListening = signal && onAbort(signal, () => waiter.reject(signal.reason));
      try {
        add(waiter);
        return await waiter.promise;
      } finally {
        remove(waiter);
        clearTimeout(timer);
        stopListening?.();
      }
    },
    /** Resolves every pending wait for a key. */
    resolve(key: string, event: ChallengeEvent): void {
      for (const waiter of waitersByKey.get(key) ?? []) waiter.resolve(event);
    },
    /** The keys of the pending waits. */
    listKeys: () => [...waitersByKey.keys()],
    /** Rejects the pending waits in the same turn, and every later wait. */
    close(): void {
      closed = true;
      for (const waiters of waitersByKey.values()) {
        for (const waiter of waiters) waiter.reject(createClosingError());
      }
    },
  };
}

interface Waiter {
  key: string;
  account: string;
  promise: Promise<ChallengeEvent>;
  resolve: (event: ChallengeEvent) => void;
  reject: (reason: unknown) => void;
}

function createWaiter(key: string, account: string): Waiter {
  let resolve!: Waiter["resolve"];
  let reject!: Waiter["reject"];
  const promise = new Promise<ChallengeEvent>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  return { key, account, promise, resolve, reject };
}

/** Adds a waiter to the set of a key; returns whether it is the first. */
function addTo(sets: Map<string, Set<Waiter>>, key: string, waiter: Waiter): boolean {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([waiter]));
  else set.add(waiter);
  return set === undefined;
}

/** Removes a waiter from the set of a key; returns whether it was the last. */
function removeFrom(sets: Map<string, Set<Waiter>>, key: string, waiter: Waiter): boolean {
  const set = sets.get(key);
  set?.delete(waiter);
  return set?.size === 0 && sets.delete(key);
}

/** Creates the error of a wait whose receiver or store is closing. */
export function createClosingError(): WebhookError {
  return new WebhookError(
    "CLOSING",
    "The receiver is closing and cannot receive outcomes. Retry the wait in another process.",
  );
}
