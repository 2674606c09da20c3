import { isChallengeEvent } from "./event";
import type { ChallengeEvent, PushEvent, UnknownPushEvent } from "./event";
import { assertWait, createWaiting, type WaitOptions } from "./waiting";

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
  const waiting = createWaiting({ maxWaiting });

  function forgetOld(): void {
    for (const [sid, { atMs }] of outcomes) {
      if (performance.now() - atMs < rememberMs && outcomes.size <= maxRemembered) return;
      outcomes.delete(sid);
    }
  }

  return {
    record(event) {
      if (!isChallengeEvent(event)) return;
      forgetOld();
      if (outcomes.has(event.challenge_sid)) return;
      outcomes.set(event.challenge_sid, { event, atMs: performance.now() });
      forgetOld();
      waiting.resolve(event);
    },
    async wait(challengeSid, options = {}) {
      assertWait(challengeSid, options);
      options.signal?.throwIfAborted();
      forgetOld();
      return outcomes.get(challengeSid)?.event ?? (await waiting.wait(challengeSid, options));
    },
    close: waiting.close,
  };
}
