import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createNeutralCause } from "../kit/neutral-cause";
import { WebhookError } from "../index";
import type { StoreOutage } from "../kit/health";
import type { Logger } from "../kit/logger";
import { pauseAfter } from "../kit/backoff";
import { emitWarning } from "../kit/process-warning";
import { QueueError } from "./queue-error";
import type { Storage, Hint } from "./storage";

const PAUSES = { firstMs: 25, longestMs: 250 };
const PAUSE_AFTER_REJECTION_MS = 2_000;
/** The store is not opened again until a restart. */
const FINAL: ReadonlySet<string> = new Set([
  "FILE_FOREIGN",
  "FILE_DAMAGED",
  "FILE_NEWER",
  "FILE_OLDER",
]);
const PAUSE_AFTER_FAILURE_MS = 100;
/** After this time without a failed write, any success ends an outage. */
const QUIET_MS = 2_000;

/** Creates the error of an operation on a queue that was closed. */
export function createClosedError(): WebhookError {
  return new WebhookError("CLOSING", "The queue was closed.");
}

/**
 * Whether the store of a queue can be used. Connects to it, also after each outage, until it is closed.
 * Reports each outage, its end, and each new rejection to the logger, or as process warnings.
 */
export class Availability {
  readonly #storage: Storage;
  readonly #logger: Logger | undefined;
  /** Why the store cannot be used; undefined while it can. */
  #closedBy: Error | undefined;
  #outage: StoreOutage | undefined;
  /** The message of the last report of an outage. */
  #reported: string | undefined;
  /** When the last write failed; undefined after the end of the outage. */
  #writeFailedAtMs: number | undefined;
  readonly #closing = new AbortController();
  readonly #state = new EventEmitter<{ change: [] }>().setMaxListeners(0);

  constructor(
    storage: Storage,
    logger: Logger | undefined,
    onOpen: () => void,
    onHint: (hint: Hint) => void,
  ) {
    this.#storage = storage;
    this.#logger = logger;
    const error = new Error(`${storage.title} was not reached yet.`);
    this.#closedBy = error;
    this.#outage = { error, since: new Date() };
    void this.#keepConnected(onOpen, onHint);
  }

  /** See the queue's method. */
  async ready(): Promise<void> {
    while (!this.#isOpen() && !this.#isRejected() && !this.#closing.signal.aborted) {
      await once(this.#state, "change");
    }
    if (this.#closedBy !== undefined) throw this.#closedBy;
  }

  /** Repeats a write until the store has it; undefined if it never will. */
  async writeAtLast<Value>(write: () => Promise<Value>): Promise<Value | undefined> {
    while (!this.isOver()) {
      try {
        return await write();
      } catch {
        await sleep(PAUSE_AFTER_FAILURE_MS);
        while (!this.#isOpen() && !this.isOver()) await once(this.#state, "change");
      }
    }
    return undefined;
  }

  /** Throws why it cannot be used; WebhookError `STORE_UNAVAILABLE` if only a person can repair it. */
  assertOpen(): void {
    const error = this.#closedBy;
    if (error === undefined) return;
    if (!this.isOver()) throw error;
    const message = `${this.#storage.title} cannot be used; see the cause.`;
    const cause = error instanceof QueueError ? error : createNeutralCause(error);
    throw new WebhookError("STORE_UNAVAILABLE", message, { cause });
  }

  outage(): StoreOutage | undefined {
    return this.#outage;
  }

  /** Whether it will never be used again. */
  isOver(): boolean {
    const error = this.#closedBy;
    return this.#closing.signal.aborted || (error instanceof QueueError && FINAL.has(error.code));
  }

  /**
   * Reports that writes begin to fail, and that they succeed again.
   *
   * @param addsRows whether a full disk rejects it, while other writes succeed.
   */
  async watchWrite<Value>(write: Promise<Value>, addsRows = false): Promise<Value> {
    try {
      const value = await write;
      const failedAtMs = this.#writeFailedAtMs;
      const isQuiet = performance.now() - (failedAtMs ?? 0) >= QUIET_MS;
      if (failedAtMs !== undefined && (addsRows || isQuiet) && this.#isOpen()) this.#endOutage();
      return value;
    } catch (error) {
      // Otherwise the end of the connection is reported.
      if (this.#isOpen()) {
        this.#writeFailedAtMs = performance.now();
        const cause = error instanceof QueueError ? error : createNeutralCause(error);
        this.#outage ??= { error: cause, since: new Date() };
        this.#report(cause);
      }
      throw error;
    }
  }

  /** Rejects pending and later calls of `ready`. */
  close(): void {
    this.#closing.abort();
    this.#closedBy = createClosedError();
    this.#state.emit("change");
  }

  async #keepConnected(onOpen: () => void, onHint: (hint: Hint) => void): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    while (!this.isOver()) {
      try {
        const { ended } = await this.#storage.connect(onHint);
        if (!signal.aborted) this.#open(onOpen);
        failures = 0;
        throw await ended;
      } catch (error) {
        if (!signal.aborted) this.#fail(error as Error);
      }
      if (this.isOver()) return;
      const pauseMs = this.#isRejected()
        ? PAUSE_AFTER_REJECTION_MS
        : pauseAfter(++failures, PAUSES);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  #isOpen(): boolean {
    return this.#closedBy === undefined;
  }

  #isRejected(): boolean {
    return this.#closedBy instanceof QueueError;
  }

  #open(onOpen: () => void): void {
    this.#endOutage();
    this.#closedBy = undefined;
    this.#state.emit("change");
    onOpen();
  }

  #fail(error: Error): void {
    this.#closedBy = error;
    this.#outage = { error, since: this.#outage?.since ?? new Date() };
    this.#report(error);
    this.#state.emit("change");
  }

  #report(error: Error): void {
    const { title, outageCode } = this.#storage;
    // A failed connection to several addresses has a code and no message.
    const reason = error.message || String((error as NodeJS.ErrnoException).code);
    const isRejection = error instanceof QueueError;
    // One outage has many errors; a rejection names the change to make.
    if (this.#reported !== undefined && (!isRejection || this.#reported === reason)) return;
    this.#reported = reason;
    const text = isRejection ? reason : `${title} cannot be used: ${reason}`;
    const code = isRejection ? error.code : outageCode;
    const logger = this.#logger;
    if (logger === undefined) emitWarning(code, text);
    else logger[isRejection ? "error" : "warn"]({ code }, text);
  }

  #endOutage(): void {
    const { title } = this.#storage;
    if (this.#reported !== undefined) this.#logger?.info({}, `${title} can be used again`);
    this.#reported = undefined;
    this.#writeFailedAtMs = undefined;
    this.#outage = undefined;
  }
}
