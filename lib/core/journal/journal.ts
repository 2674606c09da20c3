import type { DeliveryResult, PushEventType } from "../event/event";
import type { PushEventVersion } from "../event/event-parameters";

/**
 * The history of requests, events and changes of an app: receivers, workers and the admin router append
 * to it, and the console reads it. A queue keeps it in its store, for all processes; without one it is in
 * the memory of the process. It never delays or fails a request, drops entries beyond its bounds, and
 * counts them.
 */
export interface Journal {
  /** Whether it outlives this process, and has the entries of all others. */
  readonly isShared: boolean;
  /** Appends an entry, later, and takes the object over. Never throws. */
  append(entry: NewEntry): void;
  /**
   * Whether an entry would be dropped now, so that it need not be made; the caller counts it as
   * "dropped". Undefined for a journal that drops others in its place.
   */
  isFull?(kind: JournalEntry["kind"], share: string): boolean;
  /** Adds 1 to the counters of the current minute, later. Never throws. */
  count(...names: CounterName[]): void;
  /**
   * Reads at most 1,000 entries, the oldest first, after a position or from the beginning.
   *
   * @throws WebhookError `STORE_UNAVAILABLE`, `CLOSING`.
   */
  read(after?: string): Promise<EntrySlice>;
  /**
   * Reads the counters of the last 24 hours, the oldest minute first.
   *
   * @param fromMs leaves out the minutes before this one.
   * @throws WebhookError as {@link Journal.read}.
   */
  readCounts(fromMs?: number): Promise<readonly Count[]>;
  /**
   * Names an identity by a hash, keyed by a secret of the store: the same in all processes.
   *
   * @throws WebhookError as {@link Journal.read}.
   */
  createPseudonym(identity: string): Promise<string>;
}

/** Entries, and the position of the last one. */
export interface EntrySlice {
  readonly entries: readonly JournalEntry[];
  /** Where the next slice begins. */
  readonly position: string;
  /** Whether more can be read now. */
  readonly hasMore: boolean;
}

/** A counter of one minute. */
export interface Count {
  /** The start of the minute, in milliseconds since 1970. */
  readonly minuteMs: number;
  readonly name: CounterName;
  readonly count: number;
}

/** `token:` is followed by an authenticated account, and the index of its token. */
export type CounterName =
  | `result:${RequestResult}`
  | `code:${string}`
  | `attempt:${"handled" | "failed"}`
  | `token:${string}:${number}`
  | "dropped";

/** The result of the delivery of a request, or that it was rejected or failed. */
export type RequestResult =
  Exclude<DeliveryResult, "new"> | "handled" | "stored" | "rejected" | "failed";

/** An entry to be appended: the journal adds the process, and names its user by a pseudonym. */
export type NewEntry = New<RequestEntry> | New<StepEntry> | New<ChangeEntry> | New<StartEntry>;

/**
 * An entry before the journal signs it. `identity` is not stored. When a kind has too many entries, the
 * oldest of the share with the most go first: `share` must not be what the sender of a request claims.
 */
type New<Entry> = Omit<Entry, keyof Signed> & {
  readonly identity?: string | undefined;
  readonly share: string;
};

/** What the journal adds to an entry. */
interface Signed {
  /** Such as `4711 on web-1`. */
  readonly process: string;
  /** The environment variable PUSH_BUILD of the process. */
  readonly build?: string | undefined;
  /** See {@link Journal.createPseudonym}; undefined for an entry without an identity. */
  readonly person?: string | undefined;
  /** Its part of the bound of its kind, as it was appended. */
  readonly share?: string | undefined;
}

/** An entry of the journal. */
export type JournalEntry = RequestEntry | StepEntry | ChangeEntry | StartEntry;

/** One webhook request. It never holds a token, a signature, a body or an identity. */
export interface RequestEntry extends Signed {
  /** Each kind has its own bound: bad requests push out no good ones, nor good ones them. */
  readonly kind: "accepted" | "rejected";
  readonly id: string;
  /** When it arrived, in milliseconds since 1970. */
  readonly atMs: number;
  /** How long it took until its response was decided. */
  readonly durationMs: number;
  readonly result: RequestResult;
  readonly status: number;
  readonly code?: string | undefined;
  /** The message of the error, or why no handler ran. */
  readonly message?: string | undefined;
  /** The errors of the handlers, without the values of the event. */
  readonly failure?: string | undefined;
  /** Whether an authenticated event has the names below; else the sender may have invented them. */
  readonly isAuthenticated: boolean;
  readonly type?: PushEventType | (string & {}) | undefined;
  readonly version?: PushEventVersion | undefined;
  readonly uuid?: string | undefined;
  readonly accountSid?: string | undefined;
  readonly factorSid?: string | undefined;
  readonly challengeSid?: string | undefined;
  /** The masked entity_identity. */
  readonly entity?: string | undefined;
  readonly tokenIndex?: number | undefined;
  readonly urlIndex?: number | undefined;
  /** The option `name` of the receiver. */
  readonly receiver?: string | undefined;
  readonly issues: readonly string[];
  /** Method and path. */
  readonly target: string;
  /** Any client can choose the headers, and `address` may be a proxy. */
  readonly sender: {
    readonly address?: string | undefined;
    readonly forwardedFor?: string | undefined;
    readonly userAgent?: string | undefined;
  };
  /** The likeliest cause of a signature that does not match. */
  readonly explanation?: Explanation | undefined;
}

/** Why a signature is wrong, without a secret. */
export interface Explanation {
  readonly code: string;
  readonly isProven: boolean;
  readonly cause: string;
  readonly fix: string;
  /** The subject of the cause: the URL that was signed, a parameter, or the fingerprint of a token. */
  readonly subject?: string | undefined;
  /** Less likely causes. */
  readonly others: readonly string[];
}

/** What happened to an event after its request. */
export interface StepEntry extends Signed {
  readonly kind: "step";
  readonly atMs: number;
  readonly uuid: string;
  /** The account that the event claims. */
  readonly accountSid: string;
  readonly what: "handled" | "failed" | "dead" | "retried" | "discarded" | "resent";
  /** The number of the attempt, from 1, of `handled`, `failed` and `dead`. */
  readonly attempt?: number | undefined;
  readonly durationMs?: number | undefined;
  /** Why the handlers did not succeed, without the values of the event. */
  readonly error?: string | undefined;
  /** Who did it: the result of the option `actor` of the admin router. */
  readonly by?: string | undefined;
}

/** An audit entry of the admin router. */
export interface ChangeEntry extends Signed {
  readonly kind: "change";
  readonly atMs: number;
  readonly action?: string | undefined;
  readonly by?: string | undefined;
  /** The Key or Webhook. */
  readonly sid?: string | undefined;
  readonly uuid?: string | undefined;
  /** The error whose dead letters were chosen, without values of the events. */
  readonly error?: string | undefined;
  readonly count?: number | undefined;
  /** The earlier values of what it changed. */
  readonly before?: Readonly<Record<string, unknown>> | undefined;
  readonly status: number;
  readonly code?: number | string | undefined;
}

/** A process began to append. */
export interface StartEntry extends Signed {
  readonly kind: "start";
  readonly atMs: number;
}
