import { isChallengeEvent } from "./event";
import type { ChallengeEvent, PushEvent, UnknownPushEvent } from "./event";
import type { Pair } from "./form";
import { parsePayload } from "./payload";
import { createRecent } from "./recent";
import { createTextBlocks, readTexts, type KeptTexts } from "./text-blocks";
import { assertWait, createWaiting, type WaitOptions } from "./waiting";

/** Who waits for which challenge's outcome, and the outcomes that nobody waited for yet. */
export interface ChallengeOutcomes {
  /**
   * Takes down the outcome that an event may be; what it returns keeps it, and resolves those who
   * wait for it.
   */
  prepare(event: PushEvent | UnknownPushEvent): () => void;
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
  const outcomes = createRecent<KeptTexts>({ ttlMs: rememberMs, maxEntries: maxRemembered });
  const keepTexts = createTextBlocks();
  const waiting = createWaiting({ maxWaiting });

  return {
    prepare(event) {
      if (!isChallengeEvent(event)) return () => {};
      const { challenge_sid } = event;
      const texts = listTexts(event.params);
      return function record() {
        if (outcomes.add(challenge_sid, () => keepTexts(texts))) waiting.resolve(event);
      };
    },
    async wait(challengeSid, options = {}) {
      assertWait(challengeSid, options);
      options.signal?.throwIfAborted();
      const kept = outcomes.get(challengeSid);
      return kept === undefined ? waiting.wait(challengeSid, options) : readEvent(kept);
    },
    close: waiting.close,
  };
}

/** The names and values of an event, in turn. */
function listTexts(params: readonly Pair[]): string[] {
  const texts: string[] = [];
  for (const [name, value] of params) texts.push(name, value);
  return texts;
}

function readEvent(kept: KeptTexts): ChallengeEvent {
  const texts = readTexts(kept);
  const params: Pair[] = [];
  for (let index = 0; index < texts.length; index += 2) {
    params.push([texts[index] ?? "", texts[index + 1] ?? ""]);
  }
  return parsePayload(params) as ChallengeEvent;
}
