import { TextColumn } from "../../kit/text-column";
import { FairMap } from "../../kit/fair-map";
import { readOutcome, writeOutcome, type ChallengeOutcome } from "./outcome";
import type { OutcomeStore } from "./outcome-store";
import { Waiters } from "./waiters";

const BOUNDS = {
  /** How long an outcome is kept, in milliseconds: 24 h, as long as its uuid. */
  ttlMs: 86_400_000,
  /** How many outcomes are kept; the oldest are evicted first. */
  maxEntries: 100_000,
  /** How many bytes they may take: 52 MiB, as much as 100,000 whose identities have 64 characters. */
  maxBytes: 54_525_952,
};
/** An outcome whose identity has 64 characters. */
const OUTCOME_BYTES = 262;

/** Creates an {@link OutcomeStore} in the memory of this process. */
export function createMemoryOutcomes(): OutcomeStore {
  const values = new TextColumn(OUTCOME_BYTES);
  const outcomes = new FairMap<string>({ ...BOUNDS, values });
  const waiters = new Waiters();

  return {
    record(authenticatedAccount, outcome) {
      const { challenge_sid: challengeSid } = outcome;
      const text = writeOutcome(outcome);
      const bytes = values.countBytes(text);
      const added = outcomes.add(authenticatedAccount, challengeSid, text, { bytes });
      if (added !== undefined)
        waiters.resolve(waiters.keyOf({ authenticatedAccount, challengeSid }), outcome);
    },
    async wait(wait) {
      const text = outcomes.get(wait.authenticatedAccount, wait.challengeSid);
      return text === undefined ? waiters.wait(wait) : (readOutcome(text) as ChallengeOutcome);
    },
  };
}
