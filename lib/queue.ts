import type { CallIdentity, Delivery } from "./dedupe";
import type { ChallengeEvent, PushEvent, UnknownPushEvent } from "./event";
import type { WaitOptions } from "./waiting";

/** An event on its way into a queue. */
export interface QueuedCall extends CallIdentity {
  event: PushEvent | UnknownPushEvent;
  authTokenIndex: number;
}

/**
 * Keeps events beyond this process, and hands them to handlers later; `durableQueue` makes one.
 */
export interface EventQueue {
  /**
   * Keeps an event, unless one of its uuid was kept before, and the outcome of its challenge.
   * Resolves when it can no longer be lost.
   *
   * @throws WebhookError `STORE_UNAVAILABLE`, `OVERLOADED`, `CLOSING` when it could not.
   */
  store(call: QueuedCall): Promise<Delivery["outcome"]>;
  /** Waits for an outcome that any process stored; as the receiver's method of this name. */
  waitForChallenge(challengeSid: string, options?: WaitOptions): Promise<ChallengeEvent>;
}
