import { isChallengeEvent } from "../event/event";
import type { QueuedEvent } from "./event-queue";
import { readOutcome, toOutcome, writeOutcome, type ChallengeOutcome } from "./outcome";
import { Waiters } from "./waiters";

/** The outcomes that a store keeps as texts, and the waits of this process for them. */
export class StoredOutcomes extends Waiters {
  /** Writes an outcome as it is stored. */
  write(authenticatedAccount: string, outcome: ChallengeOutcome): { key: string; value: string } {
    const challengeSid = outcome.challenge_sid;
    return {
      key: this.keyOf({ authenticatedAccount, challengeSid }),
      value: writeOutcome(outcome),
    };
  }

  /** Writes the outcome of an event; undefined if it has none, or none yet. */
  writeOf(queued: QueuedEvent): ReturnType<StoredOutcomes["write"]> | undefined {
    const { event, authenticatedAccount, needsConfirmation } = queued;
    if (!isChallengeEvent(event) || needsConfirmation === true) return undefined;
    return this.write(authenticatedAccount, toOutcome(event));
  }

  /** Returns whether a stored outcome is of a user; false for one that is unreadable. */
  static isOf(user: { accountSid: string; entityIdentity: string }, value: string): boolean {
    const outcome = readOutcome(value);
    const { accountSid, entityIdentity } = user;
    return outcome?.account_sid === accountSid && outcome.entity_identity === entityIdentity;
  }

  /** Resolves the waits for a key with its stored outcome, unless that is unreadable. */
  read(key: string, value: string): void {
    const outcome = readOutcome(value);
    if (outcome !== undefined) this.resolve(key, outcome);
  }
}
