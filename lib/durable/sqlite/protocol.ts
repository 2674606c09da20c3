import type { QueueStats } from "../durable-queue";
import type { QueueErrorCode } from "../queue-error";

/** An outcome to be kept. */
export interface FileOutcomeRow {
  /** The hash of account and challenge, in hexadecimal. */
  key: string;
  /** The parameters of the event as JSON. */
  params: string;
  expiresAt: number;
}

/** An event to be stored. */
export interface NewFileEvent {
  /** The hash of account and uuid, in hexadecimal. */
  key: string;
  /** The hash of the content, in hexadecimal. */
  content: string;
  uuid: string;
  /** A `StoredEvent` as JSON. */
  body: string;
  /** When the uuid is forgotten. */
  expiresAt: number;
  outcome: FileOutcomeRow | undefined;
}

/** A run of the handlers of an event. No two runs of an event have the same `started`. */
export interface EventRun {
  id: number;
  /** How often its handlers were started, this time included. */
  started: number;
}

/** An event whose handlers a worker of this process must run. */
export interface ClaimedEvent extends EventRun {
  worker: number;
  body: string;
  /** How often its handlers have failed. */
  failures: number;
}

/** A dead letter as stored. */
export interface LetterRow {
  id: number;
  body: string;
  error: string;
  started: number;
  failedAt: number;
}

/** The dead letters that `retry` and `discard` mean. */
export interface LetterQuery {
  uuid: string;
  accountSid: string | undefined;
  receiver: string | undefined;
}

/** The operations of the thread: what each takes and returns. */
export interface Operations {
  /** Returns the content of the event that was stored before under its uuid; undefined: none was. */
  store(event: NewFileEvent): string | undefined;
  record(outcome: FileOutcomeRow): void;
  /** Returns the parameters of the outcome, or reports them when they are stored. */
  watch(key: string): string | undefined;
  unwatch(key: string): void;
  /** Lets a worker have so many more events. */
  want(demand: { worker: number; count: number }): void;
  unwant(worker: number): void;
  finish(run: EventRun): void;
  /** Runs the handlers again at `runAt`; without it, the event is a dead letter. */
  fail(failure: EventRun & { error: string; runAt: number | undefined }): void;
  heartbeat(isWorker: boolean): void;
  letters(page: { afterId: number; afterMs: number; untilMs: number }): LetterRow[];
  /** Returns how many were retried, or "ambiguous". */
  retry(query: LetterQuery): number | "ambiguous";
  /** Retries a number of those that failed until then, and returns how many. */
  retrySome(untilMs: number): number;
  discard(query: LetterQuery): number | "ambiguous";
  stats(): Required<QueueStats>;
  /** Closes the file. Events whose handlers run here are given to others when their lease lapses. */
  leave(isIdle: boolean): void;
}

/** The name of an operation. */
export type OperationName = keyof Operations;

/** What an operation takes. */
export type Argument<Name extends OperationName> = Parameters<Operations[Name]>[0];

/** What an operation returns. */
export type Result<Name extends OperationName> = ReturnType<Operations[Name]>;

/** One operation on its way to the thread. */
export type Request = readonly [id: number, name: OperationName, argument: unknown];

/** What went wrong in the thread; errors lose their code when they are posted. */
export interface ThreadFailure {
  code: string | undefined;
  message: string;
  /** Of a file that cannot be used. */
  fileCode?: QueueErrorCode;
}

/** What the thread posts. */
export type ThreadMessage =
  | { type: "open" }
  | { type: "closed"; failure: ThreadFailure }
  | { type: "failed"; ids: number[]; failure: ThreadFailure }
  | { type: "done"; results: (readonly [id: number, result: unknown])[]; claimed: ClaimedEvent[] }
  | { type: "outcomes"; outcomes: (readonly [key: string, params: string])[] };

/** What the thread is started with. */
export interface ThreadSettings {
  file: string;
  name: string;
}

/** After which without a heartbeat the events of a process are given to others. */
export const LEASE_MS = 6_000;

/** How often a process writes down that it is alive. */
export const HEARTBEAT_MS = 2_000;
