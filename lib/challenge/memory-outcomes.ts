import { createFairMap } from "../memory/fair-map";
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
  /** How many bytes the outcomes may take: 32 MiB. */
  maxBytes: 33_554_432,
};
/** Measured: a pair, without the characters of its texts. */
const PAIR_BYTES = 110;
/** How many bytes a text and the form that it is a slice of take at most for one byte in UTF-8. */
const BYTES_PER_BYTE = 4;

/** Creates an {@link OutcomeStore} in the memory of this process, bounded in time, count, bytes. */
export function createMemoryOutcomes(): OutcomeStore {
  /** The parameters of each event: the event takes more, and writing them as one text takes time. */
  const outcomes = createFairMap<readonly Pair[]>(BOUNDS);
  const waiters = createWaiters();

  return {
    record(account, event) {
      const { challenge_sid: challengeSid, params } = event;
      const added = outcomes.add(account, challengeSid, params, { bytes: countFormBytes(params) });
      if (added !== undefined) waiters.resolve(joinOutcomeKey({ account, challengeSid }), event);
    },
    async wait(wait) {
      const params = outcomes.get(wait.account, wait.challengeSid);
      return params === undefined
        ? waiters.wait(joinOutcomeKey(wait), wait)
        : (parseEvent(params) as ChallengeEvent);
    },
  };
}

/** Returns how many bytes parameters take at most. */
function countFormBytes(params: readonly Pair[]): number {
  let bytes = 0;
  for (const [name, value] of params) {
    bytes += PAIR_BYTES + BYTES_PER_BYTE * (Buffer.byteLength(name) + Buffer.byteLength(value));
  }
  return bytes;
}
