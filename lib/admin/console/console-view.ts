/** The responses of the console's routes to its page; shared with the script of the page. */

/** The settings of a console. */
export interface ConsoleSettings {
  name: string | undefined;
  readOnly: boolean;
  /** Whether identities are shown in full. */
  reveals: boolean;
  /** SID of the Key that the admin client uses; undefined when it uses the account itself. */
  keySid: string | undefined;
  eventTypes: readonly string[];
  hasQueue: boolean;
  receiver:
    | {
        /** Without user info. */
        publicUrls: readonly string[];
        /** Whether a Webhook can be set to the publicUrl from the page: it has no user info. */
        isUrlComplete: boolean;
        /** Number of static tokens; undefined when a function finds them. */
        tokenCount: number | undefined;
        handledTypes: readonly string[];
        /** Whether the receiver has the option confirm. */
        hasConfirm: boolean;
        /** Whether a test event can be sent: the receiver has exactly one static token. */
        canSendTest: boolean;
      }
    | undefined;
}

/** The result of a request: that of its delivery, or that it was rejected or failed. */
export type RequestResult = "handled" | "stored" | "duplicate" | "conflict" | "rejected" | "failed";

/** An event, as the console may show it; all undefined when it was not authenticated, or cannot be read. */
export interface EventView {
  type: string | undefined;
  version: string | undefined;
  factorSid: string | undefined;
  challengeSid: string | undefined;
  /** The entity_identity, masked unless the console reveals it. */
  entity: string | undefined;
  /** The same for one identity in this process; undefined when the console reveals identities. */
  pseudonym: string | undefined;
}

/** Names in a request that was not authenticated: its sender may have invented them. */
export type Claims = Pick<RequestRow, "uuid" | "accountSid" | "factorSid" | "challengeSid">;

/** One webhook request. It never holds a token or a signature. */
export interface RequestRow extends EventView {
  /** No request of another process has it: a random text of the process, and a number. */
  id: string;
  /** Grows with each change of any row. */
  change: number;
  atMs: number;
  durationMs: number;
  result: RequestResult;
  status: number;
  code: string | undefined;
  /** The message of the error, or why no handler ran. */
  message: string | undefined;
  /** The errors of the handlers: without the values of the event, unless the console reveals them. */
  failure: string | undefined;
  /** Which delivery of its uuid it is among the rows, from 1. */
  attempt: number;
  /** Undefined when the request was not authenticated, like the three below. */
  uuid: string | undefined;
  accountSid: string | undefined;
  tokenIndex: number | undefined;
  urlIndex: number | undefined;
  /** Undefined when the request was authenticated. */
  claimed: Claims | undefined;
  issues: readonly string[];
  /** Method and path. */
  target: string;
  isTest: boolean;
  explanation: Explanation | undefined;
  canExplain: boolean;
  canResend: boolean;
  resent: Resent | undefined;
}

/** A run of the handlers that a person started. */
export interface Resent {
  atMs: number;
  /** The result of the option `actor`. */
  by: string | undefined;
  /** Undefined when they succeeded, or run later. */
  problem: string | undefined;
}

type Pairs = readonly (readonly [name: string, value: string])[];

/** The details of a request that its row does not have. */
export interface RequestDetails {
  /** Undefined when the request was not authenticated, or has more than 16,384 characters. */
  params: Pairs | undefined;
  headers: Pairs;
  /** The headers of the response that depend on the error. */
  responseHeaders: Pairs;
  /** Undefined without a queue, or when it does not know the event. */
  queued: QueuedState | undefined;
}

/** Where the event of a request is in the queue, which many processes may share. */
export interface QueuedState {
  state: string;
  attempts: number;
  /** Its last failed attempts, the oldest first; the errors as {@link RequestRow.failure}. */
  failures: readonly {
    atMs: number;
    error: string;
    durationMs?: number | undefined;
    process?: string | undefined;
  }[];
  /** When its handlers run next, or failed last. */
  atMs: number | undefined;
}

/** Requests over time: one count for each step. */
export interface Series {
  stepMs: number;
  startMs: number;
  accepted: readonly number[];
  bad: readonly number[];
}

/** The likeliest cause of a signature that does not match. */
export interface Explanation {
  code: string;
  isProven: boolean;
  cause: string;
  fix: string;
  /** The subject of the cause: the URL that was signed, a parameter, or the fingerprint of a token. */
  subject: string | undefined;
  /** Less likely causes. */
  others: readonly string[];
}

/** Use of the tokens of one account, since the console started. */
export interface TokenUse {
  accountSid: string;
  /** By index of the token: number of requests, and when the last arrived. */
  tokens: readonly { count: number; lastAtMs: number | undefined }[];
}

/** The rejected requests with one code, since the console started. */
export interface Rejections {
  code: string;
  count: number;
  firstAtMs: number;
  lastAtMs: number;
  /** The last senders. Any client can choose the headers, and `address` may be that of a proxy. */
  sources: readonly {
    address: string | undefined;
    forwardedFor: string | undefined;
    userAgent: string | undefined;
    count: number;
    lastAtMs: number;
  }[];
}

/** Totals since the console started. */
export interface Totals {
  sinceMs: number;
  received: number;
  /** By the response: the result of an event of a queue is "stored", also when its handlers fail later. */
  byResult: Readonly<Record<RequestResult, number>>;
  byCode: Readonly<Record<string, number>>;
  rejections: readonly Rejections[];
  waits: { count: number; oldestMs: number | undefined };
  rotation: readonly TokenUse[];
}

/** What has changed since the page asked last. */
export interface Changes {
  /** The process whose requests these are: the start of their ids, and a name such as `4711 on web-1`. */
  process: { id: string; name: string };
  /** The position of the last change: `?after=`, with those of other processes after a comma. */
  cursor: string;
  /** Whether `rows` are all rows that the process has. */
  isComplete: boolean;
  /** The changed rows, the oldest first. */
  rows: readonly RequestRow[];
  totals: Totals;
  /** The logins that have waited longest. */
  waits: readonly PendingWaitRow[];
  /** The last hour by the minute, and the last day by the hour. */
  series: readonly Series[];
}

/** A login that waits for its challenge in this process. */
export interface PendingWaitRow {
  challengeSid: string;
  /** Masked unless the console reveals it. */
  entity: string;
  startedAtMs: number;
}

/** A challenge, as the service responded; `problem` is the code of the error. */
export interface FoundChallenge {
  challengeSid: string;
  status: string | null;
  date_responded: string | null;
  problem: string | undefined;
}

/** The places where a login was found. */
export interface LoginSearch {
  /** The process that was asked for requests and waits. */
  process: Changes["process"];
  /** The ids of requests, the oldest first. */
  ids: readonly string[];
  deadLetters: readonly DeadLetterRow[];
  waits: readonly PendingWaitRow[];
  challenge: FoundChallenge | undefined;
}

/** The dead letters with one cause. */
export interface DeadLetterGroup {
  /** The part that all their errors have, without the values of the events. */
  error: string;
  count: number;
  /** The newest of them. */
  deadLetters: readonly DeadLetterRow[];
}

/** One dead letter. */
export interface DeadLetterRow extends EventView {
  uuid: string;
  accountSid: string;
  receiver: string | undefined;
  /** Texts of the device; only when the console reveals them. */
  revealed: Pairs;
  /** With the values of the event; only when the console reveals them. */
  error: string | undefined;
  attempts: number;
  failedAtMs: number;
}

/** The fields that tell a dead letter from others of its uuid. */
export type DeadLetterName = Pick<DeadLetterRow, "uuid" | "accountSid"> &
  Partial<Pick<DeadLetterRow, "receiver">>;

/**
 * Which dead letters to change: some; or the first `count` with an error, or with any, that had
 * failed before they were counted.
 */
export type DeadLetterChoice =
  | { deadLetters: readonly DeadLetterName[] }
  | { error?: string | undefined; count: number; untilMs: number };

/** The state of the queue. */
export interface QueueView {
  atMs: number;
  waiting: number;
  active: number;
  delayed: number;
  deadLetters: number;
  oldestWaitingMs: number | undefined;
  workers: number | undefined;
  /** What an operator has set in the store. */
  hold?: "paused" | "limited" | undefined;
  groups: readonly DeadLetterGroup[];
  /** Whether there are more dead letters than were read. */
  isCut: boolean;
}

/** The result of a test event. */
export interface TestEventResult {
  status: number | undefined;
  durationMs: number;
  failure: string | undefined;
  uuid: string;
}
