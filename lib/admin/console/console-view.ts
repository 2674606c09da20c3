/**
 * The responses of the console's routes to its page; shared with the script of the page.
 *
 * | route | body | response |
 * | --- | --- | --- |
 * | `GET /console` | | {@link ConsoleSettings} |
 * | `POST /console/view` | {@link ViewRequest} | {@link ConsoleView} |
 * | `POST /console/search` | `{ text }` | {@link LoginSearch} |
 * | `GET /console/requests/:id` | | {@link RequestDetails}; 404 `NOT_FOUND` |
 * | `GET /console/queue` | | {@link QueueView} |
 * | `GET /console/findings` | | `{ findings }` |
 * | `POST /console/resend` | {@link ResendChoice} | lines: {@link ActionLine} |
 * | `POST /console/dead-letters/retry`, `…/discard` | {@link DeadLetterChoice} | lines: {@link ActionLine} |
 * | `POST /console/test-event` | `{ type, via }` | {@link TestEventResult} |
 * | `POST /console/user-data/count`, `…/erase` | `{ accountSid, entityIdentity }` | `UserData` |
 *
 * Polls are a POST, as their text may be an identity, and the address of a request is in many logs. An
 * error is `{ code, message, status }`: 503 `STORE_UNAVAILABLE` for a store that is down, 403 for a
 * person who is signed out. All times are whole milliseconds since 1970.
 */
import type { RequestEntry } from "../../core/door";
import type { DeadLetterGroup as StoredGroup } from "../../durable";

/** What a request has come to. */
export type RequestResult = RequestEntry["result"];
/** The likeliest cause of a wrong signature, in words. */
export type Explanation = NonNullable<RequestEntry["explanation"]>;

/** The settings of a console. */
export interface ConsoleSettings {
  name: string | undefined;
  readOnly: boolean;
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

/**
 * What became of a request until now: its result, or that of its event in the queue. `failing`: an
 * attempt failed, and another one follows. `dead`: a dead letter. `discarded`: by a person.
 */
export type RequestState = RequestResult | "failing" | "dead" | "discarded";

/** Which requests to show; a member that is undefined selects all. */
export interface RequestFilter {
  /** `bad`: rejected, failed, failing or dead; `accepted`: all others. */
  state?: RequestState | "bad" | "accepted" | undefined;
  code?: string | undefined;
  type?: string | undefined;
  build?: string | undefined;
  /** The first time, and the time after the last. */
  fromMs?: number | undefined;
  toMs?: number | undefined;
  /**
   * An identity or a pseudonym, exact; or a part of the uuid, of a SID or of the path. Of
   * `<challenge SID> <identity>` only the SID counts.
   */
  text?: string | undefined;
}

/** A poll of the page. */
export interface ViewRequest {
  filter: RequestFilter;
  /** The `position` of an earlier response for the same filter, of any process. */
  position?: string | undefined;
}

/** What the receiver's page shows. */
export interface ConsoleView {
  /** The time of the server: what is shown was read not more than a second before. */
  atMs: number;
  /** Names what is shown: it is the same in all processes that show the same. */
  position: string;
  /** The process that responds, such as `4711 on web-1`. */
  process: string;
  /** Undefined when nothing has changed since the position of the request. */
  shown: ShownHistory | undefined;
}

/** The history of requests, events and changes. */
export interface ShownHistory {
  /** Whether it is of all processes, and survives them: there is a queue. Else it is of the process that responds. */
  isShared: boolean;
  /** The begin of the history: 24 hours ago, or when its first process started. */
  sinceMs: number;
  /** How many entries were dropped, because there were too many at once. */
  dropped: number;
  /** The newest 200 that the filter selects, the newest first. */
  rows: readonly RequestRow[];
  /** How many the filter selects in all. */
  found: number;
  /** Those that the filter selects whose handlers may run again because they failed. */
  failed: FailedRequests;
  /** Why signatures did not match, of all rejected requests that are kept: what is proven comes first. */
  causes: readonly RejectionCause[];
  totals: Totals;
  /** By the minute, for 24 hours. */
  minutes: Minutes;
  /** Where another build begins, the oldest first. */
  builds: readonly BuildStart[];
  /** The last 200 writes of people, the newest first. */
  changes: readonly ChangeRow[];
}

/** Names of an event. Of a request that was not authenticated, its sender may have invented them. */
export interface EventView {
  type: string | undefined;
  version: string | undefined;
  factorSid: string | undefined;
  challengeSid: string | undefined;
  /** The masked entity_identity; of a dead letter in full when the console reveals it. */
  entity: string | undefined;
  /** The pseudonym of the user, the same in all processes that share the history. */
  person: string | undefined;
}

/** One webhook request, and what became of it. */
export interface RequestRow extends EventView {
  /** No request of another process has it. */
  id: string;
  atMs: number;
  /** Until the response was decided: with a queue, how long it took to store the event. */
  durationMs: number;
  /** How long the last attempt of the handlers took; undefined without one after the response. */
  handlersMs: number | undefined;
  state: RequestState;
  status: number;
  code: string | undefined;
  /** The message of the error, why no handler ran, or what became of the event. */
  message: string | undefined;
  /** The errors of the last attempt, without the values of the event. */
  failure: string | undefined;
  /** Which delivery of its uuid it is among the rows, from 1. */
  attempt: number;
  /** Whether the event is authenticated; else its names are claims. */
  isAuthenticated: boolean;
  uuid: string | undefined;
  accountSid: string | undefined;
  tokenIndex: number | undefined;
  urlIndex: number | undefined;
  issues: readonly string[];
  /** Method and path. */
  target: string;
  receiver: string | undefined;
  process: string;
  build: string | undefined;
  sender: RequestEntry["sender"];
  isTest: boolean;
  explanation: Explanation | undefined;
  /** Whether its handlers may run again: it is a dead letter, or without a queue kept in this process. */
  canResend: boolean;
  resent: Resent | undefined;
}

/** The last run of the handlers that a person started. */
export interface Resent {
  atMs: number;
  /** The result of the option `actor`. */
  by: string | undefined;
  /** Why it failed again; undefined when it succeeded, or is to run. */
  problem: string | undefined;
}

/** The requests that a run of all that failed would run again. */
export interface FailedRequests {
  count: number;
  /** How many users they have. */
  users: number;
  firstAtMs: number | undefined;
  lastAtMs: number | undefined;
  /** The most frequent 10 first. */
  errors: readonly { error: string; count: number }[];
}

/** The details of a request that its row does not have. */
export interface RequestDetails {
  row: RequestRow;
  /** What happened to its event after the request, the oldest first. */
  steps: readonly StepView[];
  /** Undefined without a queue, or when it does not know the event. */
  queued: QueuedState | undefined;
}

/** What happened to an event after its request. */
export interface StepView {
  atMs: number;
  what: "handled" | "failed" | "dead" | "retried" | "discarded" | "resent";
  attempt: number | undefined;
  durationMs: number | undefined;
  process: string;
  error: string | undefined;
  by: string | undefined;
}

/** Where the event of a request is in the queue now. */
export interface QueuedState {
  state: string;
  attempts: number;
  /** When its handlers run next, or failed last. */
  atMs: number | undefined;
}

/** Counts by the minute. */
export interface Minutes {
  startMs: number;
  /** Requests that were accepted. */
  accepted: readonly number[];
  /** Requests that were rejected or failed, and attempts of the queue that failed. */
  bad: readonly number[];
  /** Attempts of the handlers after the response that succeeded. */
  handled: readonly number[];
}

/** The first process of a build. */
export interface BuildStart {
  atMs: number;
  /** The environment variable PUSH_BUILD; undefined where it is not set. */
  build: string | undefined;
}

/** A write of a person, successful or rejected. */
export interface ChangeRow {
  atMs: number;
  action: string | undefined;
  by: string | undefined;
  sid: string | undefined;
  uuid: string | undefined;
  /** The error whose dead letters were chosen. */
  error: string | undefined;
  count: number | undefined;
  status: number;
  code: number | string | undefined;
}

/** Use of the tokens of one account. */
export interface TokenUse {
  accountSid: string;
  /** By index of the token: number of requests, and the minute of the last. */
  tokens: readonly { count: number; lastAtMs: number | undefined }[];
}

/** The rejected requests with one code. */
export interface Rejections {
  code: string;
  count: number;
  /** How many of them are of the last 5 minutes. */
  lately: number;
  /** The minute of the first, and that of the last. */
  firstAtMs: number;
  lastAtMs: number;
  /** The last senders. Any client can choose the headers, and `address` may be that of a proxy. */
  sources: readonly (RequestEntry["sender"] & { count: number; lastAtMs: number })[];
}

/** The rejected requests with one cause of a wrong signature. */
export interface RejectionCause {
  /** Undefined for those that were not explained: there were too many at once. */
  explanation: Explanation | undefined;
  count: number;
  /** How many more of the same sender and path were not explained: one a minute is. */
  alike: number;
  /** The newest of them. */
  id: string;
  /** When the first of them, and of those alike, arrived, and the build of its process. */
  firstAtMs: number;
  firstBuild: string | undefined;
}

/** Totals of the history. */
export interface Totals {
  received: number;
  /** By the response: the result of an event of a queue is "stored", also when its handlers fail later. */
  byResult: Readonly<Record<RequestResult, number>>;
  byCode: Readonly<Record<string, number>>;
  /** Attempts of the handlers after the response. */
  attempts: Readonly<Record<"handled" | "failed", number>>;
  rejections: readonly Rejections[];
  rotation: readonly TokenUse[];
}

/** A login that waits for its challenge in the process that responds. */
export interface PendingWaitRow {
  challengeSid: string;
  /** Masked unless the console reveals it. */
  entity: string;
  startedAtMs: number;
}

/** A challenge, as the service responded. */
export interface FoundChallenge {
  challengeSid: string;
  status: string | null;
  date_responded: string | null;
  /**
   * The code of the error: `NOT_FOUND` when the service knows no such challenge of this user. `NOT_ASKED`
   * when no identity is known: a search for `<challenge SID> <identity>` asks.
   */
  problem: string | undefined;
  /** How many requests of it arrived, and how many of these were rejected or failed. */
  requests: number;
  bad: number;
}

/** The places where a login was found. */
export interface LoginSearch {
  /** The newest 100 that are authenticated, and the newest 100 that claim the name, the newest first. */
  rows: readonly RequestRow[];
  deadLetters: readonly DeadLetterRow[];
  /** Those of `process`, the process that responds. */
  waits: readonly PendingWaitRow[];
  process: string;
  isShared: boolean;
  /** The newest 3 challenges that were found, and the newest 3 that are only claimed, the newest first. */
  challenges: readonly FoundChallenge[];
}

/**
 * Which requests to run again: those of a filter that failed, until the time of the response that
 * counted them; or some.
 */
export type ResendChoice = { filter: RequestFilter; untilMs: number } | { ids: readonly string[] };

/**
 * A line of an action on many: the response is newline-delimited JSON. The lines say how far it is; the
 * last one has `result`, or the error that ended it. It stops when the connection is closed.
 */
export interface ActionLine {
  done: number;
  count: number;
  result?: ActionResult;
  error?: { code: string; message: string; status: number };
}

/** The result of an action on many. */
export interface ActionResult {
  /** How many were run again, given to a worker, or discarded. */
  changed: number;
  /** Why the others were not, and which request has it. */
  problems: readonly { id: string; problem: string }[];
}

/** The dead letters with one cause. */
export interface DeadLetterGroup extends StoredGroup {
  /** The newest 20 of them, the newest first. */
  deadLetters: readonly DeadLetterRow[];
}

type Pairs = readonly (readonly [name: string, value: string])[];

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

/** Which dead letters to change: some; or those with an error, or with any, that had failed until then. */
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
  /** Of all dead letters, the largest 50 groups. */
  groups: readonly DeadLetterGroup[];
}

/** The result of a test event. */
export interface TestEventResult {
  status: number | undefined;
  durationMs: number;
  failure: string | undefined;
  uuid: string;
}
