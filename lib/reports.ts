import type { DeliveryOutcome } from "./deliver-once";
import { publish } from "./diagnostics";
import type { WebhookError, WebhookErrorCode } from "./errors";
import type { PushEvent, UnknownPushEvent } from "./event";
import { runSafely } from "./listener";

/** Where a receiver logs to; pino and console have this shape. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What a listener learns of a rejected request: nothing that identifies a user, no secret. */
export interface RejectedRequest {
  method: string;
  /** Without the query, where a GET request carries its parameters. */
  path: string;
  /** The peer of the connection: behind a proxy, the proxy. */
  remoteAddress: string | undefined;
}

/**
 * Receives a failure of handlers, of a store, of a token lookup or of the receiver itself; `event`
 * is undefined when the request failed before its event was accepted.
 */
export type ErrorListener = (error: WebhookError, event?: PushEvent | UnknownPushEvent) => unknown;

/** Receives a rejected request. */
export type RejectedListener = (error: WebhookError, request: RejectedRequest) => unknown;

/** The reports of a receiver or a worker to its listeners and its logger. */
export interface Reports {
  onError(listener: ErrorListener): void;
  onRejected(listener: RejectedListener): void;
  /** Reports a failure of handlers or of a store. */
  error(error: WebhookError, event?: PushEvent | UnknownPushEvent): void;
  /** Reports a rejected request; to the listeners of failures too when it {@link isFailure}. */
  rejected(error: WebhookError, request: RejectedRequest, durationMs: number): void;
  /** Reports an event without a handler. */
  unhandled(event: PushEvent | UnknownPushEvent): void;
  /** Reports an event that was accepted, or dropped as a duplicate. */
  taken(event: PushEvent | UnknownPushEvent, outcome: DeliveryOutcome): void;
}

const MESSAGES: Readonly<Record<DeliveryOutcome, string>> = {
  new: "taken",
  duplicate: "dropped: its uuid was taken before",
  conflict: "dropped: its uuid was taken before, with other content",
};

/**
 * Creates the reports of a receiver. A listener or logger that fails changes no response.
 *
 * Without a logger and a listener, the first failure of each code emits a process warning:
 * otherwise a response with a 5xx would leave no trace.
 */
export function createReports(logger: Logger | undefined, receiver?: string): Reports {
  const errorListeners = new Set<ErrorListener>();
  const rejectedListeners = new Set<RejectedListener>();
  const warnedCodes = new Set<WebhookErrorCode>();

  function log(level: keyof Logger, fields: object, message: string): void {
    const named = receiver === undefined ? fields : { receiver, ...fields };
    void runSafely(() => logger?.[level](named, message));
  }

  function warnIfUnheard(error: WebhookError, listenerCount: number): void {
    if (!isFailure(error) || warnedCodes.has(error.code)) return;
    if (listenerCount > 0 || logger !== undefined) return;
    warnedCodes.add(error.code);
    process.emitWarning(`${error.message} (Said once: set a logger, onError and onRejected.)`, {
      type: "PushWebhooksWarning",
      code: error.code,
    });
  }

  return {
    onError(listener) {
      errorListeners.add(listener);
    },
    onRejected(listener) {
      rejectedListeners.add(listener);
    },
    error(error, event) {
      log("error", { code: error.code, ...identify(event), err: error }, error.message);
      for (const listener of errorListeners) void runSafely(() => listener(error, event));
      warnIfUnheard(error, errorListeners.size);
    },
    rejected(error, request, durationMs) {
      publish("rejected", { code: error.code, status: error.status, durationMs });
      const fields = { code: error.code, status: error.status, ...request };
      if (isFailure(error)) log("error", { ...fields, err: error }, error.message);
      else log("warn", fields, error.message);
      for (const listener of rejectedListeners) void runSafely(() => listener(error, request));
      if (isFailure(error)) {
        for (const listener of errorListeners) void runSafely(() => listener(error));
      }
      warnIfUnheard(error, rejectedListeners.size + errorListeners.size);
    },
    unhandled(event) {
      publish("unhandled", { type: event.type });
      if (logger !== undefined) log("warn", { ...identify(event) }, "No handler for this event");
    },
    taken(event, outcome) {
      if (outcome !== "new") publish(outcome, { type: event.type });
      const level = outcome === "conflict" ? "warn" : "debug";
      if (logger !== undefined) log(level, { ...identify(event), outcome }, MESSAGES[outcome]);
    },
  };
}

/** Tells whether an error is a failure: of status 500 or above, except the planned `CLOSING`. */
function isFailure({ status, code }: WebhookError): boolean {
  return status >= 500 && code !== "CLOSING";
}

function identify(event: PushEvent | UnknownPushEvent | undefined): object {
  return event === undefined ? {} : { type: event.type, uuid: event.uuid };
}
