import { WebhookError } from "../errors/webhook-error";
import type { ChallengeOutcome } from "./outcome";

/** Identifies the outcome of a challenge. @experimental */
export interface OutcomeKey {
  /**
   * The authenticated account: its SID, or text derived from the name or URL of a receiver with a
   * static `authToken` whose account SID is not configured. Outcomes reach only its own waits.
   */
  authenticatedAccount: string;
  challengeSid: string;
}

/** A wait for an outcome. @experimental */
export interface OutcomeWait extends OutcomeKey {
  /** The longest wait, in milliseconds. */
  timeoutMs: number;
  /** Cancels the wait. */
  signal?: AbortSignal | undefined;
  /** The user who waits: each has an equal share of the pending waits. @default one for all */
  entityIdentity?: string | undefined;
}

/** Stores the first outcome of each challenge and wakes the waits for it. @experimental */
export interface OutcomeStore {
  /**
   * Stores an outcome, unless the challenge already has one. Returns undefined if it is stored at
   * once, else a promise that resolves when it is stored.
   */
  record(authenticatedAccount: string, outcome: ChallengeOutcome): void | Promise<void>;
  /**
   * Waits for the outcome of a challenge; resolves immediately if it is stored already.
   *
   * @throws WebhookError `CHALLENGE_TIMEOUT`, `OVERLOADED` when it gave way to another wait,
   *   `CLOSING` when the store is closed; the reason of `signal`.
   */
  wait(wait: OutcomeWait): Promise<ChallengeOutcome>;
}

/** Creates the error of a wait whose receiver or store is closing. */
export function createClosingError(): WebhookError {
  return new WebhookError(
    "CLOSING",
    "The receiver is closing and cannot receive outcomes. Retry the wait in another process.",
  );
}
