import { WebhookError } from "./errors";
import { isChallengeEvent, sidSchema } from "./event";
import type { ChallengeEvent, PushEvent, UnknownPushEvent } from "./event";
import { MAX_TIMER_MS } from "./option-rules";

/** How long to wait for the outcome of a challenge. */
export interface WaitOptions {
  /** In milliseconds. @default 300_000, the 5 minutes after which a challenge expires */
  timeoutMs?: number;
  /** Ends the wait: it rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Who waits for which challenge's outcome, and the outcomes that nobody waited for yet. */
export interface ChallengeOutcomes {
  /** Keeps the outcome that an event may be, and resolves those who wait for it. */
  record(event: PushEvent | UnknownPushEvent): void;
  /**
   * Resolves with the event that approved or denied a challenge, also when it came before.
   *
   * @throws TypeError for what is not a challenge SID or not a timeout; WebhookError
   *   `CHALLENGE_TIMEOUT`, `CLOSING`, or `OVERLOADED` when too many wait; the reason of `signal`.
   */
  wait(challengeSid: string, options?: WaitOptions): Promise<ChallengeEvent>;
  /** Rejects everybody who waits, and whoever comes later. */
  close(): void;
}

const challengeSidSchema = sidSchema("YC");

/**
 * Makes the memory of challenge outcomes of one process. The first outcome of a challenge stays.
 *
 * @param rememberMs how long an outcome is kept for those who ask later. Default: 1 h.
 * @param maxRemembered how many are kept; the oldest go first. Default: 10,000.
 * @param maxWaiting how many may wait at a time. Default: 10,000.
 */
export function createChallengeOutcomes({
  rememberMs = 3_600_000,
  maxRemembered = 10_000,
  maxWaiting = 10_000,
} = {}): ChallengeOutcomes {
  const outcomes = new Map<string, { event: ChallengeEvent; atMs: number }>();
  const waiting = new Set<Waiter>();
  const waitingBySid = new Map<string, Set<Waiter>>();
  let closed = false;

  function forgetOld(): void {
    for (const [sid, { atMs }] of outcomes) {
      if (performance.now() - atMs < rememberMs && outcomes.size <= maxRemembered) return;
      outcomes.delete(sid);
    }
  }

  function enter(sid: string, waiter: Waiter): void {
    waiting.add(waiter);
    const same = waitingBySid.get(sid) ?? new Set();
    waitingBySid.set(sid, same.add(waiter));
  }

  function leave(sid: string, waiter: Waiter): void {
    waiting.delete(waiter);
    const same = waitingBySid.get(sid);
    same?.delete(waiter);
    if (same?.size === 0) waitingBySid.delete(sid);
  }

  return {
    record(event) {
      if (!isChallengeEvent(event)) return;
      forgetOld();
      if (outcomes.has(event.challenge_sid)) return;
      outcomes.set(event.challenge_sid, { event, atMs: performance.now() });
      forgetOld();
      for (const waiter of waitingBySid.get(event.challenge_sid) ?? []) waiter.resolve(event);
    },

    async wait(challengeSid, { timeoutMs = 300_000, signal } = {}) {
      assertWait(challengeSid, timeoutMs);
      signal?.throwIfAborted();
      if (closed) throw closing();
      forgetOld();
      const outcome = outcomes.get(challengeSid);
      if (outcome !== undefined) return outcome.event;
      if (waiting.size >= maxWaiting) {
        throw new WebhookError("OVERLOADED", `${maxWaiting} calls wait for challenges already.`);
      }

      const waiter = createWaiter();
      const timer = setTimeout(() => {
        waiter.reject(
          new WebhookError("CHALLENGE_TIMEOUT", `No outcome came within ${timeoutMs} ms.`),
        );
      }, timeoutMs);
      const abort = () => waiter.reject(signal?.reason);
      signal?.addEventListener("abort", abort);
      enter(challengeSid, waiter);
      try {
        return await waiter.promise;
      } finally {
        leave(challengeSid, waiter);
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      }
    },

    close() {
      closed = true;
      for (const waiter of waiting) waiter.reject(closing());
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
  return new WebhookError("CLOSING", "The receiver is closed; no outcome will come any more.");
}

function assertWait(challengeSid: unknown, timeoutMs: unknown): void {
  if (!challengeSidSchema.safeParse(challengeSid).success) {
    throw new TypeError(
      "waitForChallenge: challengeSid must be YC and 32 hexadecimal digits: the sid that the service gave the challenge.",
    );
  }
  if (!(
    Number.isInteger(timeoutMs) &&
    Number(timeoutMs) > 0 &&
    Number(timeoutMs) <= MAX_TIMER_MS
  )) {
    throw new TypeError(
      `waitForChallenge: timeoutMs must be a whole number of milliseconds from 1 to ${MAX_TIMER_MS}.`,
    );
  }
}
