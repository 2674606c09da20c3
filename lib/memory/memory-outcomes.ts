import { createAccountMap } from "./account-map";
import type { ChallengeEvent } from "../event/event";
import type { Pair } from "../form/form";
import { joinOutcomeKey, type OutcomeStore } from "../challenge/outcome-store";
import { parseEvent } from "../event/parse";
import { createTextBlocks, readTexts, type KeptTexts } from "./text-blocks";
import { createWaiters } from "../challenge/waiters";

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

/** Measured: an entry without its texts. */
const ENTRY_BYTES = 250;

/** Creates an {@link OutcomeStore} in the memory of this process, bounded in time, count, bytes. */
export function createMemoryOutcomes(options: Partial<typeof BOUNDS> = {}): OutcomeStore {
  const { maxWaiting, ...bounds } = { ...BOUNDS, ...options };
  const outcomes = createAccountMap<KeptTexts>({
    ...bounds,
    sizeOf: (key, { start, end }) => ENTRY_BYTES + key.length + end - start,
  });
  const keepTexts = createTextBlocks();
  const waiters = createWaiters({ maxWaiting });

  return {
    record(account, event) {
      const { challenge_sid: challengeSid, params } = event;
      const isFirst = outcomes.add(account, challengeSid, () => keepTexts(listTexts(params)));
      if (isFirst) waiters.resolve(joinOutcomeKey({ account, challengeSid }), event);
    },
    async wait(wait) {
      wait.signal?.throwIfAborted();
      const kept = outcomes.get(wait.account, wait.challengeSid);
      return kept === undefined ? waiters.wait(joinOutcomeKey(wait), wait) : readEvent(kept);
    },
  };
}

function listTexts(params: readonly Pair[]): string[] {
  // Not params.flat(): it takes 10 µs for the 13 parameters of a challenge.
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
  return parseEvent(params) as ChallengeEvent;
}
