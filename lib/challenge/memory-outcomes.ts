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
/** Measured: an outcome without its text, and the length of one name or value. */
const OUTCOME_BYTES = 120;
const LENGTH_BYTES = 8;

/**
 * The parameters of an event: all names and values joined, and the length of each. The event, and
 * texts that are slices of the form, would take several times as much.
 */
interface PackedParams {
  text: string;
  lengths: readonly number[];
}

/** Creates an {@link OutcomeStore} in the memory of this process, bounded in time, count, bytes. */
export function createMemoryOutcomes(): OutcomeStore {
  const outcomes = createFairMap<PackedParams>(BOUNDS);
  const waiters = createWaiters();

  return {
    record(account, event) {
      const { challenge_sid: challengeSid } = event;
      const packed = packParams(event.params);
      const bytes = OUTCOME_BYTES + countBytes(packed.text) + LENGTH_BYTES * packed.lengths.length;
      const added = outcomes.add(account, challengeSid, packed, { bytes });
      if (added !== undefined) waiters.resolve(joinOutcomeKey({ account, challengeSid }), event);
    },
    async wait(wait) {
      const packed = outcomes.get(wait.account, wait.challengeSid);
      return packed === undefined
        ? waiters.wait(joinOutcomeKey(wait), wait)
        : (parseEvent(unpackParams(packed)) as ChallengeEvent);
    },
  };
}

function packParams(params: readonly Pair[]): PackedParams {
  const texts = params.flat();
  return { text: texts.join(""), lengths: texts.map(({ length }) => length) };
}

function unpackParams({ text, lengths }: PackedParams): Pair[] {
  let at = 0;
  const texts = lengths.map((length) => text.slice(at, (at += length)));
  return texts.flatMap((name, index) =>
    index % 2 === 0 ? [[name, texts[index + 1] ?? ""] as const] : [],
  );
}
