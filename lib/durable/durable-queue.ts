import type { DeadLetterOptions, EventFailure, EventState } from "./event-state";
import type { Confirm } from "../delivery/confirmation";
import type { ErrorListener } from "../observability/reporter";
import type { EventQueue } from "../delivery/event-queue";
import type { Handlers } from "../delivery/handler-registry";
import type { PushEvent, UnknownPushEvent } from "../event/event";
import type { CloseOptions } from "../time/close-options";
import type { Health } from "../observability/health";

export type { QueueErrorCode } from "./queue-error";
export type { Backoff } from "./backoff";
export type { QueueOptions } from "./queue-options";

/** Runs handlers for the events of a queue; see `queue.work`. */
export interface EventWorker extends AsyncDisposable {
  /** Takes no more events, and resolves when the running handlers have finished. */
  close(options?: CloseOptions): Promise<void>;
}

/** How many events a queue holds. */
export interface QueueStats {
  /** Stored and not handled yet. */
  waiting: number;
  /** Being handled. */
  active: number;
  /** Failed, to be handled again. */
  delayed: number;
  deadLetters: number;
  /** How long the oldest waiting event has waited, in milliseconds; 0 without a waiting event. */
  oldestWaitingMs: number;
  /** How many workers of this queue take events, in all processes. */
  workers: number;
}

/** An event that exhausted its attempts. */
export interface DeadLetter {
  uuid: string;
  accountSid: string;
  /** The option `name` of the receiver that verified the event. */
  receiver: string | undefined;
  /** Undefined when this version cannot read the stored event. */
  event: PushEvent | UnknownPushEvent | undefined;
  /** The code and the message of the last error of its handlers. */
  error: string;
  /** How often its handlers ran. */
  attempts: number;
  /** When they failed last. */
  failedAt: Date;
}

/** The place of an event in a queue; see `queue.find`. */
export interface EventStatus {
  /**
   * - `"waiting"`: it waits for a worker.
   * - `"active"`: its handlers run now.
   * - `"delayed"`: its handlers failed, and run again at `at`.
   * - `"dead"`: it is a dead letter; its handlers failed for the last time at `at`.
   * - `"handled"`: its handlers succeeded, or it was discarded; only its uuid is kept.
   */
  state: EventState;
  /** The account that the event claims; undefined when it was handled, as all that follows. */
  accountSid: string | undefined;
  /** The option `name` of the receiver that verified the event. */
  receiver: string | undefined;
  /** Undefined also when this version cannot read the stored event. */
  event: PushEvent | UnknownPushEvent | undefined;
  /** How often its handlers were started, since it was stored or retried; 0 when it was handled. */
  attempts: number;
  /** Its last failed attempts, at most 10, the oldest first; also those before a retry. */
  failures: readonly EventFailure[];
  /** When its handlers were or are to run, or when they failed for the last time. */
  at: Date | undefined;
}

/** Options of `queue.work`. */
export interface WorkOptions {
  /** How many events are handled at a time in this process. @default 16 */
  concurrency?: number | undefined;
  /** How long the handlers of an event may run, in milliseconds. @default 10_000 */
  handlerTimeoutMs?: number | undefined;
  /**
   * Confirms the events of receivers with the option `confirm`, in each attempt, before their outcome
   * is recorded and their handlers run; `false` makes an event a dead letter at once.
   * @default the option of the receiver of these handlers in this process; without one, such an
   *   event fails
   */
  confirm?: Confirm | undefined;
  /** Called with the failure of each attempt. @default none */
  onError?: ErrorListener | undefined;
}

/** A queue of events that outlives this process; alike on every engine. */
export interface DurableQueue extends EventQueue, AsyncDisposable {
  /**
   * Resolves once events can be stored; waits for a store that is down.
   *
   * @throws QueueError for a store that cannot be used until you change something; WebhookError `CLOSING`.
   */
  ready(): Promise<void>;
  /**
   * Runs handlers for stored events in this process, until the worker or the queue is closed. The
   * handlers of an event that fails run again, `attempts` times, then the event is a dead letter;
   * a `PermanentError` makes it one at once.
   *
   * @throws TypeError when `handlers` is not a result of `createHandlers()` or has no handler, or
   *   for an option that is unknown or impossible.
   */
  work(handlers: Handlers, options?: WorkOptions): EventWorker;
  /** Lists the events that exhausted their attempts, the oldest failure first. */
  deadLetters(): AsyncIterableIterator<DeadLetter>;
  /**
   * Runs the handlers of a dead letter again, with all attempts.
   *
   * @returns whether there was one.
   * @throws TypeError when several accounts have one of this uuid and `accountSid` is not given.
   */
  retry(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  /** Runs the handlers of every dead letter again; returns how many there were. */
  retryAll(): Promise<number>;
  /**
   * Removes a dead letter. Its uuid is kept, so that a replay is not handled.
   *
   * @returns whether there was one.
   * @throws TypeError as {@link DurableQueue.retry}.
   */
  discard(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  /**
   * Returns where an event is, dead letters included, or that it was handled; undefined for a uuid
   * that the queue does not keep (any more).
   *
   * @throws TypeError as {@link DurableQueue.retry}.
   */
  find(uuid: string, options?: DeadLetterOptions): Promise<EventStatus | undefined>;
  /**
   * Counts the events of the queue, over all processes.
   *
   * @throws WebhookError `STORE_UNAVAILABLE`, `OVERLOADED`, `CLOSING`.
   */
  stats(): Promise<QueueStats>;
  /**
   * Lists the names of the queues of the store in which an event was ever stored; undefined for
   * SQLite, whose file is one queue.
   */
  names?(): Promise<readonly string[]>;
  /**
   * Returns within a second whether this process stores and handles events: `"unhealthy"` when one of
   * its workers has taken no event for 15 s while one waits, `"degraded"` when the store cannot be
   * used, or when events wait and no process has a worker that takes them. Never rejects.
   */
  health(): Promise<Health>;
  /** Stores no more, finishes running handlers within the deadline, and disconnects. */
  close(options?: CloseOptions): Promise<void>;
}
