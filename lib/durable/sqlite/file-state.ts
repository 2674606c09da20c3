import { createNeutralCause } from "../../errors/neutral-cause";
import { WebhookError } from "../../errors/webhook-error";
import type { Logger } from "../../observability/logger";
import { QueueError } from "../queue-error";
import { createClosedError } from "../closed-error";
import { isFinal } from "./file-error";

/** Whether the file of a queue can be used. */
export interface FileState {
  /** Resolves once it can; see the queue's method of this name. */
  ready(): Promise<void>;
  /** @throws WebhookError `STORE_UNAVAILABLE` when only a person can repair it. */
  assertUsable(): void;
  open(): void;
  fail(error: Error): void;
  /** Rejects pending and later calls of `ready`. */
  close(): void;
}

/** As long as a former process may take to close: its successor waits for the file. */
const MAX_IN_USE_MS = 12_000;
/** As long as a process may take to create the file: no outage. */
const CREATION_MS = 3_000;

/** Creates the state of a file that is not open yet. Logs the beginning and the end of an outage. */
export function createFileState(logger: Logger | undefined): FileState {
  const waiting = new Set<{ resolve: () => void; reject: (error: Error) => void }>();
  let isOpen = false;
  let isOut = false;
  let final: Error | undefined;
  /** When the first of the attempts began that have only failed because the file is in use. */
  let attemptsSinceMs = performance.now();
  let inUseTimer: NodeJS.Timeout | undefined;

  function reject(error: Error): void {
    for (const one of waiting) one.reject(error);
    waiting.clear();
  }

  function warn(error: Error): void {
    const { message, code } = error as NodeJS.ErrnoException;
    if (logger !== undefined) {
      logger.error({ code }, `The file of the queue cannot be used: ${message}`);
    } else process.emitWarning(message, { type: "PushWebhooksWarning", code: "QUEUE_FILE" });
  }

  return {
    ready() {
      if (final !== undefined) return Promise.reject(final);
      if (isOpen) return Promise.resolve();
      return new Promise((resolve, rejectOne) => {
        waiting.add({ resolve, reject: rejectOne });
      });
    },
    assertUsable() {
      if (final === undefined) return;
      const message = "The file of the queue cannot be used; see the cause.";
      const cause = final instanceof QueueError ? final : createNeutralCause(final);
      throw new WebhookError("STORE_UNAVAILABLE", message, { cause });
    },
    open() {
      if (isOut) logger?.info({}, "The file of the queue can be used again");
      isOut = false;
      isOpen = true;
      clearTimeout(inUseTimer);
      for (const { resolve } of waiting) resolve();
      waiting.clear();
    },
    fail(error) {
      if (final !== undefined) return;
      clearTimeout(inUseTimer);
      const isInUse = error instanceof QueueError && error.code === "FILE_IN_USE";
      if (isOpen || !isInUse) attemptsSinceMs = performance.now();
      isOpen = false;
      const inUseMs = performance.now() - attemptsSinceMs;
      if (!isOut && !(isInUse && inUseMs < CREATION_MS)) {
        warn(error);
        isOut = true;
      }
      if (isFinal(error)) final = error;
      if (final !== undefined || inUseMs > MAX_IN_USE_MS) reject(error);
      // The next attempt may wait 5 s for the lock.
      else if (isInUse) inUseTimer = setTimeout(reject, MAX_IN_USE_MS - inUseMs, error);
    },
    close() {
      clearTimeout(inUseTimer);
      final ??= createClosedError();
      reject(final);
    },
  };
}
