import { FairMap } from "./fair-map";
import type { ChallengeEvent } from "../event/event";
import type { OutcomeStore } from "./outcome-store";
import { parseEvent } from "../event/parse";
import { decodeForm, readBytes } from "../event/form";
import { encodeForm } from "../../kit/text";
import { createWaiters, joinOutcomeKey } from "./waiters";

const BOUNDS = {
  /** How long an outcome is kept, in milliseconds: 24 h, as long as its uuid. */
  ttlMs: 86_400_000,
  /** How many outcomes are kept; the oldest are evicted first. */
  maxEntries: 100_000,
  /** How many bytes the outcomes may take: 16 MiB. */
  maxBytes: 16_777_216,
};
/** Measured: an outcome without the bytes of its form. */
const OUTCOME_BYTES = 120;

/** Creates an {@link OutcomeStore} in the memory of this process, bounded in time, count, bytes. */
export function createMemoryOutcomes(): OutcomeStore {
  /** The bytes of their forms, one a character: an event takes several times as much. */
  const outcomes = new FairMap<string>(BOUNDS);
  const waiters = createWaiters();

  return {
    record(account, event, form = readBytes(encodeForm(event.params))) {
      const { challenge_sid: challengeSid } = event;
      const bytes = OUTCOME_BYTES + form.length;
      const added = outcomes.add(account, challengeSid, form, { bytes });
      if (added !== undefined) waiters.resolve(joinOutcomeKey({ account, challengeSid }), event);
    },
    async wait(wait) {
      const form = outcomes.get(wait.account, wait.challengeSid);
      return form === undefined
        ? waiters.wait(joinOutcomeKey(wait), wait)
        : (parseEvent(decodeForm(Buffer.from(form, "latin1"))) as ChallengeEvent);
    },
  };
}
