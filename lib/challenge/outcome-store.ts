import type { ChallengeEvent } from "../event/event";

/** Identifies the outcome of a challenge. @experimental */
export interface OutcomeKey {
  /**
   * The authenticated account: its SID, or text derived from the name or URL of a receiver with a
   * static `authToken` whose account SID is not configured. Outcomes reach only its own waits.
   */
  account: string;
  challengeSid: string;
}

/** A wait for an outcome. @experimental */
export interface OutcomeWait extends OutcomeKey {
  /** The longest wait, in milliseconds. */
  timeoutMs: number;
  /** Cancels the wait. */
  signal?: AbortSignal | undefined;
}

/** Stores the first outcome of each challenge and wakes the waits for it. @experimental */
export interface OutcomeStore {
  /**
   * Stores an outcome, unless the challenge already has one. Returns undefined if it is stored at
   * once, else a promise that resolves when it is stored.
   */
  record(account: string, event: ChallengeEvent): void | Promise<void>;
  /**
   * Waits for the outcome of a challenge; resolves at once if it is stored already.
   *
   * @throws WebhookError `CHALLENGE_TIMEOUT`, `OVERLOADED` when too many waits are pending,
   *   `CLOSING` when the store is closed; the reason of `signal`.
   */
  wait(wait: OutcomeWait): Promise<ChallengeEvent>;
}

/** Joins an {@link OutcomeKey} to one string. */
export function joinOutcomeKey({ account, challengeSid }: OutcomeKey): string {
  return `${account}:${challengeSid}`;
}
