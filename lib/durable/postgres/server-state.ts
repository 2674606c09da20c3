import { EventEmitter, once } from "node:events";
import type { Logger } from "../../observability/logger";
import type { QueueError } from "../queue-error";
import { findRejection } from "./rejection";
import { createClosedError } from "../closed-error";

/** Whether the Postgres of a queue can be used. */
export interface ServerState {
  /** Resolves once it can; see the queue's method of this name. */
  ready(): Promise<void>;
  /** Resolves once it can, also after it was rejected. Settles never once closed. */
  wait(): Promise<void>;
  /** @throws why it cannot be used. */
  assertOpen(): void;
  /** Whether its setup must be changed before it can be used. */
  isRejected(): boolean;
  open(): void;
  fail(error: Error): void;
  /** Rejects pending and later calls of `ready`. */
  close(): void;
}

/**
 * Creates the state of a Postgres that was not reached yet. Reports the beginning and the end of an
 * outage, and each new reason why Postgres cannot be used: to the logger, or as process warnings.
 */
export function createServerState(logger: Logger | undefined): ServerState {
  const changes = new EventEmitter<{ changed: [] }>();
  changes.setMaxListeners(0);
  let closedBy: Error | undefined = new Error("Postgres was not reached yet.");
  let rejection: QueueError | undefined;
  let isOut = false;
  let isClosed = false;

  const isOpen = () => closedBy === undefined;

  function warnOfRejection({ code, message }: QueueError): void {
    if (logger !== undefined) logger.error({ code }, message);
    else process.emitWarning(message, { type: "PushWebhooksWarning", code });
  }

  function warnOfOutage(error: Error): void {
    const { code = error.name, message } = error as NodeJS.ErrnoException;
    if (logger !== undefined) logger.warn({ code }, "Postgres is out of reach");
    else {
      // A failed connection to several addresses has a code and no message.
      process.emitWarning(`postgresQueue: Postgres is out of reach: ${message || code}`, {
        type: "PushWebhooksWarning",
        code: "POSTGRES_UNREACHABLE",
      });
    }
  }

  return {
    async ready() {
      while (!isOpen()) {
        if (isClosed) throw createClosedError();
        if (rejection !== undefined) throw rejection;
        await once(changes, "changed");
      }
    },
    async wait() {
      while (!isOpen()) await once(changes, "changed");
    },
    assertOpen() {
      if (closedBy !== undefined) throw closedBy;
    },
    isRejected: () => rejection !== undefined,
    open() {
      if (isClosed) return;
      if (isOut) logger?.info({}, "Postgres is back");
      isOut = false;
      closedBy = undefined;
      rejection = undefined;
      changes.emit("changed");
    },
    fail(error) {
      if (isClosed) return;
      const found = findRejection(error);
      if (found !== undefined && found.message !== rejection?.message) warnOfRejection(found);
      else if (!isOut && found === undefined) warnOfOutage(error);
      isOut = true;
      rejection = found;
      closedBy = found ?? error;
      changes.emit("changed");
    },
    close() {
      isClosed = true;
      closedBy = createClosedError();
      changes.emit("changed");
    },
  };
}
