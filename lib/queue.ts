import type { DeliveryOutcome, RequestIdentity } from "./deliver-once";
import type { PushEvent, UnknownPushEvent } from "./event";
import type { OutcomeStore } from "./outcome-store";

/**
 * An event that a receiver verified, on its way into a queue.
 *
 * @experimental
 */
export interface QueuedEvent extends RequestIdentity {
  event: PushEvent | UnknownPushEvent;
  /** The account of its outcome, as an `OutcomeKey` has it. */
  account: string;
  authTokenIndex: number;
  publicUrlIndex: number;
  /** The option `name` of the receiver. */
  receiver: string | undefined;
}

/**
 * Stores events beyond this process and runs their handlers later; `durableQueue` returns one.
 *
 * @experimental
 */
export interface EventQueue {
  /**
   * Stores an event, unless one of its account and uuid was stored before, and the outcome of its
   * challenge. Resolves when neither can be lost any more.
   *
   * @param deadlineAtMs when to give up, as `performance.now()` counts.
   * @throws WebhookError `STORE_UNAVAILABLE`, `OVERLOADED`, `CLOSING`.
   */
  store(queued: QueuedEvent, deadlineAtMs: number): Promise<DeliveryOutcome>;
  /** The outcomes that every process of this queue shares. */
  readonly outcomes: OutcomeStore;
}
