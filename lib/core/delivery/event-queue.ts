import type { DeliveryResult, AnyEvent } from "../event/event";
import type { RequestIdentity } from "./dedupe";
import type { Health } from "../../kit/health";
import type { Journal } from "../journal/journal";
import type { OutcomeStore } from "./outcome-store";

/** An authenticated event that a queue stores. @experimental */
export interface QueuedEvent extends RequestIdentity {
  event: AnyEvent;
  /** See `OutcomeKey`. The inherited `accountSid` is what the event claims. */
  authenticatedAccount: string;
  /** Whether its outcome is recorded, and its handlers run, only after `confirm` of the worker. */
  needsConfirmation?: boolean | undefined;
  /** See `ConfirmContext`. */
  ambiguity?: string | undefined;
  authTokenIndex: number;
  publicUrlIndex: number;
  /** The option `name` of the receiver. */
  receiver: string | undefined;
}

/** Stores events in a database to run their handlers later, as `sqliteQueue()`. @experimental */
export interface EventQueue {
  /**
   * Stores an event, and the outcome of its challenge unless it needs a confirmation; neither if an
   * event with the same account and uuid was stored before. Resolves when both are durable.
   *
   * @param deadlineAtMs the latest time to stop, in milliseconds of `performance.now()`.
   * @throws WebhookError `STORE_UNAVAILABLE`, `OVERLOADED`, `CLOSING`.
   */
  store(queued: QueuedEvent, deadlineAtMs: number): Promise<DeliveryResult>;
  /** The outcomes, shared by every process that uses this queue. */
  readonly outcomes: OutcomeStore;
  /** The history of its requests and events; undefined when it keeps none. @internal */
  readonly journal?: Journal | undefined;
  /** The health of a receiver with this queue. @default healthy */
  health?(): Promise<Health>;
}
