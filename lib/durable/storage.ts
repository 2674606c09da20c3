import type { Count, JournalEntry } from "../core/door";
import type { BatchLimits } from "./batches";
import type { EventState } from "./event-operations";

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
  /**
   * What an operator has set in BullMQ, as with bull-board: `"paused"`, or `"limited"` in concurrency or
   * rate. Undefined for neither, and on the other engines.
   */
  hold?: "paused" | "limited" | undefined;
}

/** The outcome of a challenge as it is stored. */
export interface StoredOutcome {
  /** The hash of queue, account and challenge in 32 hexadecimal digits. */
  key: string;
  /** As `writeOutcome` writes it: ASCII characters. */
  value: string;
}

/** An event to be stored. */
export interface NewEvent {
  /**
   * The hashes of the uuid, and of account and uuid, with the parameters if it needs a confirmation: 16
   * hexadecimal digits each. So the keys of a uuid follow each other.
   */
  key: string;
  /** Kept under the key: 24 hexadecimal digits of a hash of the content, and 8 random ones. */
  content: string;
  /** The hash of the uuid in 32 hexadecimal digits; `key` has the first 16. */
  uuidHash: string;
  /** A `StoredEvent` as JSON of ASCII characters. */
  body: string;
  /** Stored together with the event, unless the challenge has an outcome. */
  outcome: StoredOutcome | undefined;
}

/** A run of the handlers of an event. No two runs of an event have the same `started`. */
export interface Run {
  id: number;
  /** Counts the runs of an event, also over retries of a dead letter. */
  started: number;
}

/** An event whose handlers a worker must run. */
export interface ClaimedEvent extends Run {
  body: string;
  /** How often its handlers were started since the last retry, this run included. */
  attempt: number;
  /** How often its handlers have failed. */
  failures: number;
  /** Its failed attempts, as `addFailure` writes them. */
  errors: string | null;
}

/** A run whose handlers failed; `failures` and `errors` include it. */
export interface FailedRun extends Run {
  failures: number;
  errors: string;
  /** The error without values of the event, as JSON of ASCII characters. */
  failure: string;
  /** A name of the user, by which users are counted. */
  person: string | undefined;
  /** The pause before the next run, in milliseconds; undefined makes the event a dead letter. */
  pauseMs: number | undefined;
  /** Whether its uuid is forgotten: the genuine event may follow. */
  isForged: boolean;
}

/** A member of a queue: a worker, or a process without one. */
export interface Member {
  /** A random integer below 2^48. */
  id: number;
  /** Whether it takes events. */
  isWorker: boolean;
}

/** An event that is stored, or whose key is kept. */
export interface StoredState {
  id: string;
  state: EventState;
  /** Null, as `errors` and `atMs`, when only the key is kept. */
  body: string | null;
  /** How often its handlers were started. */
  attempts: number;
  errors: string | null;
  /** When its handlers are to run, or failed for the last time. */
  atMs: number | null;
}

/** A dead letter as it is stored. */
export interface StoredDeadLetter extends StoredState {
  body: string;
  atMs: number;
  /** When it was listed, by the clock of the store, as `atMs`. */
  listedAtMs: number;
}

/** A text that may name a user. */
export interface StoredText {
  /** For an entry of the journal a number that grows. */
  id: string;
  state: Exclude<EventState, "handled" | "discarded"> | "outcome" | "entry";
  /** The body of an event, the value of an outcome, or an entry of the journal. */
  text: string;
}

/** Which dead letters are listed. */
export interface StoredDeadLetterChoice {
  /** Of the last run; undefined for all. */
  failure: string | undefined;
  /** Whether the last failure comes first. */
  newestFirst: boolean;
}

/** The dead letters of one failure. */
export interface StoredDeadGroup {
  failure: string;
  count: number;
  users: number;
  firstAtMs: number;
  lastAtMs: number;
}

/** What a text is of. */
export type TextKind = "event" | "outcome" | "entry";

/** The kinds of entries that have a bound each; a start counts as a change. */
export type EntryKind = Exclude<JournalEntry["kind"], "start">;

/** An entry of the journal to be stored. */
export interface NewStoredEntry {
  kind: EntryKind;
  /** See `NewEntry`. */
  share: string;
  /** A `JournalEntry` as JSON of ASCII characters. */
  text: string;
}

/** Texts of a store, and where the next slice begins; undefined at the end. */
export interface TextSlice {
  readonly texts: readonly StoredText[];
  readonly next: string | undefined;
}

/** Whether events may be due, and the keys of outcomes that were stored; may be lost. */
export interface Hint {
  hasEvents: boolean;
  outcomes: readonly string[];
}

/**
 * What an engine keeps. Each method is one transaction, may be repeated when its reply was lost, and
 * settles within seconds, also while the store does not respond. Only the clock of the store counts.
 */
export interface Storage {
  /** The subject of messages, such as "Postgres". */
  readonly title: string;
  /** The code of an outage in the log, or of its process warning. */
  readonly outageCode: string;
  /** The size of the batches of `store`. */
  readonly storeBatches?: BatchLimits;
  /**
   * Connects, checks the setup and creates missing tables; called again after `ended` resolved.
   *
   * @throws QueueError for a store that cannot be used as it is set up; Error for an outage.
   */
  connect(onHint: (hint: Hint) => void): Promise<{ ended: Promise<Error> }>;
  /** Disconnects, whether or not the store responds; `ended` resolves. */
  close(): Promise<void>;
  /**
   * Stores events with their outcomes, except those whose key is kept already.
   *
   * @returns the content that is kept under each key: its own for an event that is stored, also by an
   *   attempt whose reply was lost.
   */
  store(events: readonly NewEvent[]): Promise<readonly string[]>;
  /** Stores outcomes of challenges that have none. */
  record(outcomes: readonly StoredOutcome[]): Promise<unknown>;
  /** Returns the outcomes that are stored under these keys. */
  outcomes(keys: readonly string[]): Promise<readonly StoredOutcome[]>;
  /** Returns a page of dead letters, after the last of the page before. */
  deadLetters(
    choice: StoredDeadLetterChoice,
    after?: StoredDeadLetter,
  ): Promise<readonly StoredDeadLetter[]>;
  /** Groups all dead letters by their `failure`: the `MAX_DEAD_GROUPS` largest, the largest first. */
  deadGroups(): Promise<readonly StoredDeadGroup[]>;
  /** Returns the stored events of a uuid, and its keys that are kept, the oldest first. */
  find(uuidHash: string): Promise<readonly StoredState[]>;
  /** Makes dead letters due, with all attempts; returns how many there were. */
  retry(ids: readonly string[]): Promise<number>;
  /** Removes dead letters; returns how many there were. */
  discard(ids: readonly string[]): Promise<number>;
  /**
   * Reads a slice of all events, outcomes or entries of the journal, also of expired ones; blocks no
   * other method for longer than 20 ms. What is stored all the time is in one slice at least.
   *
   * A slice of the journal has the next `MAX_SLICE_ENTRIES`, the oldest first. No entry is committed
   * after a later one: what is appended meanwhile comes last.
   *
   * @param from the `next` of the slice before, or the id of an entry.
   */
  scan(kind: TextKind, from?: string): Promise<TextSlice>;
  /**
   * Removes events in any state, outcomes, or entries of the journal. Uuids stay, as after `discard`; a
   * run of such an event is the last.
   */
  erase(kind: TextKind, ids: readonly string[]): Promise<unknown>;
  /** Appends entries to the journal, and adds to the counters of their minutes, each name once. Not repeated. */
  appendEntries(entries: readonly NewStoredEntry[], counts: readonly Count[]): Promise<unknown>;
  /** Returns the counts since a minute, of the last `JOURNAL_MS` at most, the oldest first. */
  readCounts(fromMs: number): Promise<readonly Count[]>;
  /**
   * Removes what is over the bounds of the journal: older than `JOURNAL_MS`, and more than
   * `MAX_KEPT_ENTRIES` of a kind; of these, the oldest of the share with the most go first.
   */
  trimEntries(): Promise<unknown>;
  /** Keeps a secret unless the queue has one; returns the one that is kept. */
  secret(candidate: string): Promise<string>;
  stats(): Promise<QueueStats>;
  /** See the method of the queue; undefined for a store of one queue. */
  names?(): Promise<readonly string[]>;
}

/** How the workers of this package run the events of a storage. */
export interface Claims {
  /**
   * Gives events to a member that beats: first its own that it does not hold, because a reply was
   * lost, then those that have been due for the longest.
   *
   * @param held the events whose run this member has not settled: they are never given.
   */
  claim(owner: number, held: readonly number[], count: number): Promise<readonly ClaimedEvent[]>;
  /** Removes events, unless they were started again since. */
  finish(runs: readonly Run[]): Promise<unknown>;
  /**
   * Makes events due later, or dead letters, unless they were started again since.
   *
   * @returns the ids of those that these runs made dead letters.
   */
  fail(runs: readonly FailedRun[]): Promise<readonly number[]>;
  /**
   * Notes that members are alive. If one of them has been so for `LEASE_MS` without a gap, it takes
   * the events of members that have not: these are due again, or dead letters after `MAX_STALLS`.
   *
   * The clock was set back when one of these is in the future: the beat of a member, the end of the
   * last pause without the pause, the last failure. Such a beat counts as none, and pauses end.
   */
  beat(members: readonly Member[]): Promise<unknown>;
  /** Forgets a member, and gives its events back. */
  leave(member: Member): Promise<void>;
  /**
   * Forgets a slice of the expired uuids and outcomes, and frees events of unknown owners; blocks no
   * other method for longer than 20 ms. Returns whether there is more.
   */
  purge(): Promise<boolean>;
}

/** How many groups of dead letters are read. */
export const MAX_DEAD_GROUPS = 50;

/** The `failure` of a dead letter without one. */
export const NO_FAILURE = '""';

/** How many entries of the journal a slice has. */
export const MAX_SLICE_ENTRIES = 1_000;

/** How many entries of each kind the journal has after a trim. */
export const MAX_KEPT_ENTRIES = 2_000;

/** How long the journal keeps entries and counts. */
export const JOURNAL_MS = 86_400_000;

/** An end that is too late by more than this is of a clock that was ahead. */
export const MAX_AHEAD_MS = 366 * 86_400_000;

/** The greatest time that a Date can hold, in milliseconds. */
export const MAX_TIME_MS = 8_640_000_000_000_000;

const MAX_COUNT = 1_000_000_000;

/** The condition of a row whose numbers a queue has written; others make statements fail. */
export const ROW_IS_VALID = `
  started between 0 and ${MAX_COUNT} and failures between 0 and ${MAX_COUNT}
  and stalls between 0 and ${MAX_COUNT} and run_at between 0 and ${MAX_TIME_MS}
  and pause between 0 and ${MAX_TIME_MS} and coalesce(failed_at, 0) between 0 and ${MAX_TIME_MS}
  and coalesce(owner, 0) between 0 and ${Number.MAX_SAFE_INTEGER}
  and (failed_at is not null or event.id between 0 and ${Number.MAX_SAFE_INTEGER})`;

/** The error of an event whose row is not valid. */
export const ROW_INVALID =
  "INTERNAL_ERROR: Its row holds a number that this package does not write. Find the program that changed it.";
