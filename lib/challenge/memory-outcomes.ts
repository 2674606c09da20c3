import { countBytes, createFairMap } from "../memory/fair-map";
import type { ChallengeEvent } from "../event/event";
import { joinOutcomeKey, type OutcomeStore } from "./outcome-store";
import { parseEvent } from "../event/parse";
import type { Pair } from "../form/parameters";
import { createWaiters } from "./waiters";

const BOUNDS = {
  /** How long an outcome is kept, in milliseconds: 24 h, as long as its uuid. */
  ttlMs: 86_400_000,
  /** How many outcomes are kept; the oldest are evicted first. */
  maxEntries: 100_000,
  /** How many bytes the outcomes may take: 16 MiB. */
  maxBytes: 16_777_216,
};

/** Creates an {@link OutcomeStore} in the memory of this process, bounded in time, count, bytes. */
export function createMemoryOutcomes(): OutcomeStore {
  /** The parameters of each event, as JSON: the event takes about three times as much. */
  const outcomes = createFairMap<string>(BOUNDS);
  const waiters = createWaiters();

  return {
    record(account, event) {
      const { challenge_sid: challengeSid } = event;
      const json = JSON.stringify(event.params);
      const added = outcomes.add(account, challengeSid, json, { bytes: countBytes(json) });
      if (added !== undefined) waiters.resolve(joinOutcomeKey({ account, challengeSid }), event);
    },
    async wait(wait) {
      const json = outcomes.get(wait.account, wait.challengeSid);
      return json === undefined
        ? waiters.wait(joinOutcomeKey(wait), wait)
        : (parseEvent(JSON.parse(json) as Pair[]) as ChallengeEvent);
    },
  };
}
