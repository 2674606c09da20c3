import { FairMap, type FairEntry } from "../../kit/fair-map";
import { createClosingError, type OutcomeKey, type OutcomeWait } from "./outcome-store";
import { WebhookError } from "../errors/webhook-error";
import type { ChallengeOutcome } from "./outcome";

/** How many waits for one key may be pending: a login page that is open in several tabs. */
const MAX_WAITING_PER_KEY = 10;

/**
 * Creates the pending waits of a process, without any at first. A new wait is always accepted: at a
 * limit, another one is rejected with `OVERLOADED`. This is the oldest for the same key, or the oldest
 * of the user who has the most in the account that has the most. A challenge that is not approved
 * soon is rarely approved later.
 *
 * @param maxWaiting how many waits may be pending, of all accounts together.
 */
export function createWaiters(maxWaiting = 10_000) {
  /** The oldest first. */
  const waitersByKey = new Map<string, Set<Waiter>>();
  const waiting = new FairMap<Waiter>({
    maxEntries: maxWaiting,
    onEvict: (waiter) => giveWay(waiter, maxWaiting),
  });
  let count = 0;
  let closed = false;

  function add(waiter: Waiter, account: string, owner: string): void {
    const { key } = waiter;
    const waiters = waitersByKey.get(key) ?? new Set();
    const [oldest] = waiters;
    if (oldest !== undefined && waiters.size >= MAX_WAITING_PER_KEY) {
      giveWay(oldest, MAX_WAITING_PER_KEY);
    }
    waitersByKey.set(key, waiters.add(waiter));
    waiter.entry = waiting.add(account, String(++count), waiter, { owner });
  }

  function remove(waiter: Waiter): void {
    const waiters = waitersByKey.get(waiter.key);
    // False when it gave way.
    if (waiters?.delete(waiter) !== true) return;
    if (waiter.entry !== undefined) waiting.remove(waiter.entry);
    if (waiters.size === 0) waitersByKey.delete(waiter.key);
  }

  function giveWay(waiter: Waiter, limit: number): void {
    remove(waiter);
    const message = `More than ${limit} waits are pending, so the oldest gave way.`;
    waiter.reject(new WebhookError("OVERLOADED", message));
  }

  return {
    /**
     * Waits until `resolve` is called for the key, and resolves with its outcome.
     *
     * @throws WebhookError `CHALLENGE_TIMEOUT`, `CLOSING`, or `OVERLOADED` when it gave way to another
     *   wait; the reason of `signal`.
     */
    async wait(key: string, wait: Omit<OutcomeWait, "challengeSid">): Promise<ChallengeOutcome> {
      const { timeoutMs, signal, account, entityIdentity = "" } = wait;
      signal?.throwIfAborted();
      if (closed) throw createClosingError();
      let waiter!: Waiter;
      const outcome = new Promise<ChallengeOutcome>((resolve, reject) => {
        waiter = { key, resolve, reject };
      });
      const timer = setTimeout(() => {
        const message = `The challenge was neither approved nor denied within ${timeoutMs} ms.`;
        waiter.reject(new WebhookError("CHALLENGE_TIMEOUT", message));
      }, timeoutMs);
      const onAbort = () => waiter.reject(signal?.reason);
      signal?.addEventListener("abort", onAbort);
      try {
        add(waiter, account, entityIdentity);
        return await outcome;
      } finally {
        remove(waiter);
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      }
    },
    resolve(key: string, outcome: ChallengeOutcome): void {
      for (const waiter of waitersByKey.get(key) ?? []) waiter.resolve(outcome);
    },
    has: (key: string) => waitersByKey.has(key),
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

/** Joins an {@link OutcomeKey} to one string. */
export function joinOutcomeKey({ account, challengeSid }: OutcomeKey): string {
  return `${account}:${challengeSid}`;
}

interface Waiter {
  key: string;
  entry?: FairEntry<Waiter> | undefined;
  resolve: (outcome: ChallengeOutcome) => void;
  reject: (reason: unknown) => void;
}
