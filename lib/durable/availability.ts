import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createNeutralCause } from "../kit/neutral-cause";
import { type StoreOutage, WebhookError } from "../core/door";
import type { Logger } from "../kit/logger";
import { pauseAfter } from "../kit/backoff";
import { emitWarning } from "../kit/process-warning";
import { QueueError } from "./queue-error";
import type { Storage, Hint } from "./storage";

/** Whether the store of a queue can be used. */
export type Availability = ReturnType<typeof keepConnected>;

const PAUSES = { firstMs: 25, longestMs: 250 };
const PAUSE_AFTER_REJECTION_MS = 2_000;
/** The store is not opened again: a person must correct these, and restart the process. */
const FINAL: ReadonlySet<string> = new Set(["FILE_FOREIGN", "FILE_DAMAGED", "FILE_NEWER"]);
const PAUSE_AFTER_FAILURE_MS = 100;
/** After this time without a failed write, any that succeeds ends an outage. */
const QUIET_MS = 2_000;

/** Creates the error of an operation on a queue that was closed. */
export function createClosedError(): WebhookError {
  return new WebhookError("CLOSING", "The queue was closed.");
}

/**
 * Connects to a store, and again after each outage until it is closed. Reports the beginning and the
 * end of an outage, and each new reason why the store cannot be used: to the logger, or as process
 * warnings.
 */
export function keepConnected(
  storage: Storage,
  logger: Logger | undefined,
  onOpen: () => void,
  onHint: (hint: Hint) => void,
) {
  const { title } = storage;
  let closedBy: Error | undefined = new Error(`${title} was not reached yet.`);
  let outage: StoreOutage | undefined = { error: closedBy, since: new Date() };
  /** The message of the last report; undefined while the store can be used. */
  let reported: string | undefined;
  let writeFailedAtMs: number | undefined;
  const closing = new AbortController();
  const { signal } = closing;
  const state = new EventEmitter<{ change: [] }>().setMaxListeners(0);

  const isOpen = () => closedBy === undefined;
  const isRejected = () => closedBy instanceof QueueError;
  const isOver = () =>
    signal.aborted || (closedBy instanceof QueueError && FINAL.has(closedBy.code));

  function report(error: Error): void {
    const { message, code = storage.outageCode } = error as NodeJS.ErrnoException;
    // A failed connection to several addresses has a code and no message.
    const reason = message || code;
    const isRejection = error instanceof QueueError;
    // One outage has many errors; a rejection names the change to make.
    if (reported !== undefined && (!isRejection || reported === reason)) return;
    reported = reason;
    const text = isRejection ? reason : `${title} cannot be used: ${reason}`;
    if (logger !== undefined) return logger[isRejection ? "error" : "warn"]({ code }, text);
    const isNamed = isRejection && !code.startsWith("FILE_");
    emitWarning(isNamed ? code : storage.outageCode, text);
  }

  function endOutage(): void {
    if (reported !== undefined) logger?.info({}, `${title} can be used again`);
    reported = undefined;
    writeFailedAtMs = undefined;
    outage = undefined;
  }

  function open(): void {
    endOutage();
    closedBy = undefined;
    state.emit("change");
    onOpen();
  }

  function fail(error: Error): void {
    closedBy = error;
    outage = { error, since: outage?.since ?? new Date() };
    report(error);
    state.emit("change");
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!isOver()) {
      try {
        const { ended } = await storage.connect(onHint);
        if (!signal.aborted) open();
        failures = 0;
        throw await ended;
      } catch (error) {
        if (!signal.aborted) fail(error as Error);
      }
      if (isOver()) return;
      const pauseMs = isRejected() ? PAUSE_AFTER_REJECTION_MS : pauseAfter(++failures, PAUSES);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  void run();
  return {
    /** Resolves once it can; see the queue's method of this name. */
    async ready(): Promise<void> {
      while (!isOpen() && !isRejected() && !signal.aborted) await once(state, "change");
      if (closedBy !== undefined) throw closedBy;
    },
    /** Repeats a write until the store has it; undefined when that is not wanted any more. */
    async writeAtLast<Value>(write: () => Promise<Value>): Promise<Value | undefined> {
      while (!isOver()) {
        try {
          return await write();
        } catch {
          await sleep(PAUSE_AFTER_FAILURE_MS);
          while (!isOpen() && !isOver()) await once(state, "change");
        }
      }
      return undefined;
    },
    /** Throws why it cannot be used; WebhookError `STORE_UNAVAILABLE` if only a person can repair it. */
    assertOpen(): void {
      if (closedBy === undefined) return;
      if (!isOver()) throw closedBy;
      const message = `${title} cannot be used; see the cause.`;
      const cause = closedBy instanceof QueueError ? closedBy : createNeutralCause(closedBy);
      throw new WebhookError("STORE_UNAVAILABLE", message, { cause });
    },
    /** The outage that is not over; undefined while the store can be used. */
    outage: () => outage,
    /** Whether it will never be used again. */
    isOver,
    /**
     * Reports that writes begin to fail, and that they succeed again.
     *
     * @param addsRows a full disk rejects these writes alone: others succeed meanwhile.
     */
    async watchWrite<Value>(write: Promise<Value>, addsRows = false): Promise<Value> {
      try {
        const value = await write;
        const isFailing = writeFailedAtMs !== undefined;
        const isQuiet = performance.now() - (writeFailedAtMs ?? 0) >= QUIET_MS;
        if (isFailing && (addsRows || isQuiet) && closedBy === undefined) endOutage();
        return value;
      } catch (error) {
        // If the connection was closed, its end is reported instead.
        if (closedBy === undefined && !signal.aborted) {
          writeFailedAtMs = performance.now();
          const cause = error instanceof QueueError ? error : createNeutralCause(error);
          outage ??= { error: cause, since: new Date() };
          report(cause);
        }
        throw error;
      }
    },
    /** Rejects pending and later calls of `ready`. */
    close(): void {
      closing.abort();
      closedBy = createClosedError();
      state.emit("change");
    },
  };
}
