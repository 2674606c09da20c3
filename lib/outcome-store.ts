import type { ChallengeEvent } from "./event";

/**
 * Identifies the outcome of a challenge.
 *
 * @experimental
 */
export interface OutcomeKey {
  /**
   * The account that was authenticated: its SID, or the name or URL of a receiver whose static
   * `authToken` belongs to an account without a configured SID. An outcome never reaches a wait of
   * another account.
   */
  account: string;
  challengeSid: string;
}

/**
 * A wait for an outcome, and how long it lasts.
 *
 * @experimental
 */
export interface OutcomeWait extends OutcomeKey {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Stores the first outcome of each challenge and wakes the waits for it.
 *
 * @experimental
 */
export interface OutcomeStore {
  /** Stores an outcome unless the challenge has one; resolves when it is stored. */
  record(account: string, event: ChallengeEvent): void | Promise<void>;
  /**
   * Resolves with the outcome of a challenge, also when it was stored before.
   *
   * @throws WebhookError `CHALLENGE_TIMEOUT`, `OVERLOADED` when too many waits are pending, `CLOSING`
   *   when the store is closed; the reason of `signal`.
   */
  wait(wait: OutcomeWait): Promise<ChallengeEvent>;
}

/** Writes an {@link OutcomeKey} as one text. */
export function joinOutcomeKey({ account, challengeSid }: OutcomeKey): string {
  return `${account}:${challengeSid}`;
}
