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

/** What may be known of a call that was refused: nothing that identifies a user, no secret. */
export interface RejectedRequest {
  method: string;
  /** Without the query, where a GET call carries its parameters. */
  path: string;
  /** The peer of the connection: behind a proxy, the proxy. */
  remoteAddress: string | undefined;
}

/** Told of a failure after the call was accepted. */
export type ErrorListener = (error: WebhookError, event?: PushEvent | UnknownPushEvent) => unknown;

/** Told of a call that was refused. */
export type RejectedListener = (error: WebhookError, request: RejectedRequest) => unknown;

/** Who is told of what went wrong. */
export interface Reports {
  onError(listener: ErrorListener): void;
  onRejected(listener: RejectedListener): void;
  /** Handlers or a store failed. */
  error(error: WebhookError, event?: PushEvent | UnknownPushEvent): void;
  /** A call was refused. */
  rejected(error: WebhookError, request: RejectedRequest, durationMs: number): void;
  /** An event had no handler. */
  unhandled(event: PushEvent | UnknownPushEvent): void;
  /** An event was taken, or dropped. */
  taken(event: PushEvent | UnknownPushEvent, outcome: DeliveryOutcome): void;
}

const MESSAGES: Readonly<Record<DeliveryOutcome, string>> = {
  new: "taken",
  duplicate: "dropped: its uuid was taken before",
  conflict: "dropped: its uuid was taken before, with other content",
};

/**
 * Makes the reports of a receiver. A listener or logger that fails harms no call.
 *
 * A failure that nobody listens to would be a silent 5xx, so each code of them is brought up once,
 * as a warning of the process.
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
    if (error.status < 500 || error.code === "CLOSING" || warnedCodes.has(error.code)) return;
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
      const level = error.status < 500 || error.code === "CLOSING" ? "warn" : "error";
      log(level, { code: error.code, status: error.status, ...request }, error.message);
      for (const listener of rejectedListeners) void runSafely(() => listener(error, request));
      warnIfUnheard(error, rejectedListeners.size);
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

function identify(event: PushEvent | UnknownPushEvent | undefined): object {
  return event === undefined ? {} : { type: event.type, uuid: event.uuid };
}
