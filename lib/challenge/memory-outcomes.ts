import { createFairMap } from "../memory/fair-map";
import type { ChallengeEvent } from "../event/event";
import { joinOutcomeKey, type OutcomeStore } from "./outcome-store";
import { parseEvent } from "../event/parse";
import { joinPairs, sizeOfText, splitPairs } from "../memory/texts";
import { createWaiters } from "./waiters";

const BOUNDS = {
  /** How long an outcome is kept, in milliseconds: 24 h, as long as its uuid. */
  ttlMs: 86_400_000,
  /** How many outcomes are kept; the oldest are evicted first. */
  maxEntries: 100_000,
  /** How many bytes the outcomes may take: 16 MiB. */
  maxBytes: 16_777_216,
  /** How many waits may be pending. */
  maxWaiting: 10_000,
};

/** Creates an {@link OutcomeStore} in the memory of this process, bounded in time, count, bytes. */
export function createMemoryOutcomes(options: Partial<typeof BOUNDS> = {}): OutcomeStore {
  const { maxWaiting, ...bounds } = { ...BOUNDS, ...options };
  /** The parameters as a text: a parsed event would keep the body of its request. */
  const outcomes = createFairMap<string>(bounds);
  const waiters = createWaiters({ maxWaiting });

  return {
    record(account, event) {
      const { challenge_sid: challengeSid, params } = event;
      const text = joinPairs(params);
      const added = outcomes.add(account, challengeSid, text, { bytes: sizeOfText(text) });
      if (added !== undefined) waiters.resolve(joinOutcomeKey({ account, challengeSid }), event);
    },
    async wait(wait) {
      wait.signal?.throwIfAborted();
      const text = outcomes.get(wait.account, wait.challengeSid);
      return text === undefined
        ? waiters.wait(joinOutcomeKey(wait), wait)
        : (parseEvent(splitPairs(text)) as ChallengeEvent);
    },
  };
}
