import { FairMap, type FairEntry } from "../../kit/fair-map";
import { createClosingError, type OutcomeKey, type OutcomeWait } from "./outcome-store";
import { WebhookError } from "../errors/webhook-error";
import type { ChallengeOutcome } from "./outcome";

/** How many waits for one key may be pending: a login page that is open in several tabs. */
const MAX_WAITING_PER_KEY = 10;

/**
 * The pending waits of a process. A new wait is always accepted: at a limit, another one is rejected
 * with `OVERLOADED`, as a challenge that is not approved soon is rarely approved later.
 *
 * At the limit of a key, this is the oldest wait for the key. At the limit of the process, it is the
 * wait that {@link FairMap} evicts: accounts share the process, and users their account.
 */
export class Waiters {
  readonly #maxWaiting: number;
  readonly #hash: (key: string) => string;
  /** The oldest first. */
  readonly #byKey = new Map<string, Set<Waiter>>();
  readonly #waiting: FairMap<Waiter>;
  #count = 0;
  #isClosed = false;

  /**
   * @param maxWaiting how many waits may be pending, of all accounts together.
   * @param hash shortens a key for the store of the outcomes. @default none
   */
  constructor(maxWaiting = 10_000, hash = (key: string) => key) {
    this.#maxWaiting = maxWaiting;
    this.#hash = hash;
    this.#waiting = new FairMap<Waiter>({
      maxEntries: maxWaiting,
      onEvict: (waiter) => this.#giveWay(waiter, this.#maxWaiting),
    });
  }

  /** Returns the key of an outcome, and of the waits for it. */
  keyOf({ authenticatedAccount, challengeSid }: OutcomeKey): string {
    return this.#hash(`${authenticatedAccount}:${challengeSid}`);
  }

  /**
   * Waits until `resolve` is called for the key of the wait; see `OutcomeStore.wait`.
   */
  async wait(wait: OutcomeWait): Promise<ChallengeOutcome> {
    const { timeoutMs, signal, authenticatedAccount, entityIdentity = "" } = wait;
    signal?.throwIfAborted();
    if (this.#isClosed) throw createClosingError();
    let waiter!: Waiter;
    const outcome = new Promise<ChallengeOutcome>((resolve, reject) => {
      waiter = { key: this.keyOf(wait), resolve, reject };
    });
    const timer = setTimeout(() => {
      const message = `The challenge was neither approved nor denied within ${timeoutMs} ms.`;
      waiter.reject(new WebhookError("CHALLENGE_TIMEOUT", message));
    }, timeoutMs);
    const onAbort = () => waiter.reject(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    try {
      this.#add(waiter, authenticatedAccount, entityIdentity);
      return await outcome;
    } finally {
      this.#remove(waiter);
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  resolve(key: string, outcome: ChallengeOutcome): void {
    for (const waiter of this.#byKey.get(key) ?? []) waiter.resolve(outcome);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  listKeys(): string[] {
    return [...this.#byKey.keys()];
  }

  /** Rejects the pending waits in the same turn, and every later wait. */
  close(): void {
    this.#isClosed = true;
    for (const waiters of this.#byKey.values()) {
      for (const waiter of waiters) waiter.reject(createClosingError());
    }
  }

  #add(waiter: Waiter, account: string, owner: string): void {
    const { key } = waiter;
    const waiters = this.#byKey.get(key) ?? new Set();
    const [oldest] = waiters;
    if (oldest !== undefined && waiters.size >= MAX_WAITING_PER_KEY) {
      this.#giveWay(oldest, MAX_WAITING_PER_KEY);
    }
    this.#byKey.set(key, waiters.add(waiter));
    waiter.entry = this.#waiting.add(account, String(++this.#count), waiter, { owner });
  }

  #remove(waiter: Waiter): void {
    const waiters = this.#byKey.get(waiter.key);
    // False when it gave way.
    if (waiters?.delete(waiter) !== true) return;
    if (waiter.entry !== undefined) this.#waiting.remove(waiter.entry);
    if (waiters.size === 0) this.#byKey.delete(waiter.key);
  }

  #giveWay(waiter: Waiter, limit: number): void {
    this.#remove(waiter);
    const message = `More than ${limit} waits are pending, so the oldest gave way.`;
    waiter.reject(new WebhookError("OVERLOADED", message));
  }
}

interface Waiter {
  key: string;
  entry?: FairEntry<Waiter> | undefined;
  resolve: (outcome: ChallengeOutcome) => void;
  reject: (reason: unknown) => void;
}
