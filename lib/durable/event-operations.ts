import type { PushEvent, UnknownPushEvent } from "../index";

/** An attempt whose handlers failed. */
export interface EventFailure {
  /** When they failed. */
  at: Date;
  /** The code and the messages of their errors. */
  error: string;
  /** How long they ran; undefined when the process died. */
  durationMs: number | undefined;
  /** The process that ran them, such as `4711 on web-1`; undefined when it died. */
  process: string | undefined;
}

/** Where an event of a queue is. */
export type EventState = "waiting" | "active" | "delayed" | "dead" | "handled" | "discarded";

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

/** Which dead letters are listed. */
export interface DeadLetterFilter {
  /** Those with the `error` of a {@link DeadLetterGroup}. @default all */
  error?: string | undefined;
  /** Whether the last failure comes first. @default false */
  newestFirst?: boolean | undefined;
}

/** The dead letters that failed alike. */
export interface DeadLetterGroup {
  /** The last error of their handlers without the values of the events, at most 500 characters. */
  error: string;
  count: number;
  /** How many users they are of, as far as known. */
  users: number;
  /** When the first and the last of them failed, in milliseconds since 1970. */
  firstAtMs: number;
  lastAtMs: number;
}

/** The place of an event in a queue; see `queue.find`. */
export interface EventStatus {
  /**
   * - `"waiting"`: it waits for a worker.
   * - `"active"`: its handlers run now.
   * - `"delayed"`: its handlers failed, and run again at `at`.
   * - `"dead"`: it is a dead letter; its handlers failed for the last time at `at`.
   * - `"handled"`: its handlers succeeded; only its uuid is kept.
   * - `"discarded"`: it was discarded, or erased with its user, or it is an event of `trigger` or the
   *   console that was not confirmed; only its uuid is kept.
   */
  state: EventState;
  /** The account that the event claims; undefined when only its uuid is kept, as all that follows. */
  accountSid: string | undefined;
  /** The option `name` of the receiver that verified the event. */
  receiver: string | undefined;
  /** Undefined also when this version cannot read the stored event. */
  event: PushEvent | UnknownPushEvent | undefined;
  /** How often its handlers were started, since it was stored or retried; 0 when only its uuid is kept. */
  attempts: number;
  /** Its last failed attempts, at most 10, the oldest first; also those before a retry. */
  failures: readonly EventFailure[];
  /** When its handlers were or are to run, or when they failed for the last time. */
  at: Date | undefined;
}

/** Chooses between events of one uuid. */
export interface DeadLetterOptions {
  /** Needed only when several accounts have an event of the uuid. */
  accountSid?: string | undefined;
  /** Needed only when receivers with static tokens share the queue, as `accountSid` is a claim. */
  receiver?: string | undefined;
  /** Who retries or discards it, for the journal. */
  by?: string | undefined;
}

/** A user of the service: an identity has a meaning only within an account. */
export interface QueueUser {
  /** The `account_sid` of the user's events. */
  accountSid: string;
  /** The `entity_identity` of the user's events. */
  entityIdentity: string;
}

/** How much a queue holds of a user. Uuids are not counted: they are hashes, which name no user. */
export interface UserData {
  /** Events that wait for a worker. */
  waiting: number;
  /** Events whose handlers run now. */
  active: number;
  /** Events whose handlers failed, and are to run again. */
  delayed: number;
  deadLetters: number;
  /** Outcomes of challenges. */
  outcomes: number;
  /** Entries of the journal. */
  entries: number;
}

/** What a queue does with single events, and with all events of a user. */
export interface EventOperations {
  /** Lists the events that exhausted their attempts, the oldest failure first. */
  deadLetters(filter?: DeadLetterFilter): AsyncIterableIterator<DeadLetter>;
  /** Groups all dead letters by their error: the 50 largest groups, the largest first. */
  deadGroups(): Promise<DeadLetterGroup[]>;
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
   * @throws TypeError as {@link EventOperations.retry}.
   */
  discard(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  /**
   * Returns where an event is, dead letters included, or that it was handled or discarded;
   * undefined for a uuid that the queue does not keep (any more).
   *
   * @throws TypeError as {@link EventOperations.retry}.
   */
  find(uuid: string, options?: DeadLetterOptions): Promise<EventStatus | undefined>;
  /**
   * Counts what the queue holds of a user. Reads all events and outcomes, in slices.
   *
   * @throws TypeError for a user that is none; it does not quote the identity.
   */
  countUserData(user: QueueUser): Promise<UserData>;
  /**
   * Erases what the queue holds of a user, and returns how much that was. Uuids stay, so that a replay
   * is not handled. The handlers of an event that is `active` run to their end, and never again. An
   * event that arrives meanwhile, and what the journal notes of such an end, may stay: erase again afterwards.
   *
   * @throws TypeError as {@link EventOperations.countUserData}.
   */
  eraseUserData(user: QueueUser): Promise<UserData>;
}
