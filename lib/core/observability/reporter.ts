import { publish } from "./diagnostics";
import type { DeliveryResult, PushEvent, UnknownPushEvent } from "../event/event";
import { describeCause } from "../../kit/neutral-cause";
import type { SignatureCause } from "../errors/signature-causes";
import type { WebhookError } from "../errors/webhook-error";
import type { WebhookErrorCode } from "../errors/codes";
import { escapeControls } from "../../kit/text";
import { warnOnce } from "../../kit/process-warning";
import { adaptConsole, type Logger } from "../../kit/logger";
import { callSafely } from "../../kit/safe-call";

/** Describes a rejected request without secrets and without data that identifies a user. */
export interface RejectedRequest {
  method: string;
  /** The path without the query, which contains the parameters of a GET request. */
  path: string;
  /** The address of the peer: behind a proxy, that of the proxy. */
  remoteAddress: string | undefined;
}

/**
 * Receives a failure of handlers, of a store, of a token lookup or of the receiver itself; `event`
 * is undefined when the request failed before its event was accepted.
 */
export type ErrorListener = (error: WebhookError, event?: PushEvent | UnknownPushEvent) => unknown;

/**
 * One request as it arrived, with all of its parameters: it identifies a user, and anyone who has it
 * can send it again. A line of JSON for `push-webhooks explain --capture` and `replay`.
 */
export interface Capture {
  method: string;
  /** The target of the request line: the path with its query. */
  url: string;
  /** In the order and the spelling of arrival; names are in lower case where a platform changes them. */
  headers: (readonly [name: string, value: string])[];
  /** The bytes of the body in base64. */
  body: string;
}

/**
 * Receives a rejected request. `capture` returns all of it; undefined when its body was not read, or
 * another middleware has parsed it. Without a call nothing is copied.
 */
export type RejectedListener = (
  error: WebhookError,
  request: RejectedRequest,
  capture: () => Capture | undefined,
) => unknown;

/** Reports the results and failures of a receiver or a worker to its listeners and its logger. */
export type Reporter = ReturnType<typeof createReporter>;

const MESSAGES: Readonly<Record<DeliveryResult, string>> = {
  new: "Event accepted",
  duplicate: "Delivery dropped: its uuid was accepted before",
  conflict: "Delivery dropped: its uuid was accepted before, with other content",
};

/** How often a rejection of one code is explained for the logger, in milliseconds. */
const EXPLAIN_EVERY_MS = 60_000;

/**
 * Creates the reporter of a receiver or a worker. Without a logger and a listener, the first
 * rejection or failure of each code emits a process warning with its cause: otherwise it would
 * leave no trace.
 *
 * @param common fields of each line: the names of the receiver or the queue.
 */
export function createReporter(logger: Logger | undefined, common: object = {}) {
  const errorListeners = new Set<ErrorListener>();
  const rejectedListeners = new Set<RejectedListener>();
  const explainedAtMs = new Map<WebhookErrorCode, number>();

  const adapted = logger && adaptConsole(logger);

  function log(level: keyof Logger, fields: object, message: string): void {
    const all = { ...common, ...fields };
    if (adapted !== undefined) callSafely(adapted, () => adapted[level](all, message));
  }

  function warnWithoutListeners(error: WebhookError, listenerCount: number): void {
    if (error.code === "CLOSING" || listenerCount > 0 || logger !== undefined) return;
    const message = `${error.message} This warning is emitted once per code; set the option logger, or onError and onRejected.`;
    warnOnce(error.code, message, errorListeners, () => describeCause(error));
  }

  /** Returns the likeliest cause of a rejection, for the first of its code within 60 s. */
  function explainFirst(error: WebhookError): SignatureCause | undefined {
    const nowMs = performance.now();
    if (nowMs - (explainedAtMs.get(error.code) ?? -Infinity) < EXPLAIN_EVERY_MS) return undefined;
    explainedAtMs.set(error.code, nowMs);
    return error.explain()?.causes[0];
  }

  return {
    onError: (listener: ErrorListener) => void errorListeners.add(listener),
    onRejected: (listener: RejectedListener) => void rejectedListeners.add(listener),
    /** Reports a failure of handlers, of a store or of the receiver; `run` are fields of its line. */
    error(error: WebhookError, event?: PushEvent | UnknownPushEvent, run: object = {}): void {
      log("error", { code: error.code, ...identify(event), ...run, err: error }, error.message);
      for (const listener of errorListeners) callSafely(listener, () => listener(error, event));
      warnWithoutListeners(error, errorListeners.size);
    },
    /** Reports a rejected request; if it {@link isFailure}, to the listeners of failures too. */
    rejected(
      error: WebhookError,
      request: RejectedRequest,
      durationMs: number,
      capture: () => Capture | undefined,
    ): void {
      const { code, status, parameter } = error;
      const about = { code, status, ...(parameter !== undefined && { parameter }) };
      publish("rejected", () => ({ ...about, durationMs }));
      const fields = { ...about, ...request };
      if (isFailure(error)) log("error", { ...fields, err: error }, error.message);
      // A text of the app, or a parameter that the service has added, rejects genuine events.
      else if (code === "PAYLOAD_AMBIGUOUS") log("error", fields, error.message);
      else if (logger !== undefined) {
        const { code: cause, subject, fix } = explainFirst(error) ?? {};
        const explained = cause !== undefined && { cause, subject, fix };
        log("warn", { ...fields, ...explained }, error.message);
      }
      for (const listener of rejectedListeners)
        callSafely(listener, () => listener(error, request, capture));
      const failureListeners = isFailure(error) ? errorListeners : [];
      for (const listener of failureListeners) callSafely(listener, () => listener(error));
      warnWithoutListeners(error, rejectedListeners.size + errorListeners.size);
    },
    /** Reports an event that no handler has received, and no login waits for. */
    unhandled(event: PushEvent | UnknownPushEvent): void {
      const { type } = event;
      publish("unhandled", () => ({ type }));
      const message = `No handler ran for an event of the type ${JSON.stringify(type)}. Add one with push.on, or push.onUnhandled(() => {}) to ignore such events.`;
      if (logger === undefined)
        warnOnce("EVENT_UNHANDLED", `${message} (Said once.)`, errorListeners);
      else log("warn", { ...identify(event) }, message);
    },
    /** Reports the result of a delivery. */
    delivered(event: PushEvent | UnknownPushEvent, result: DeliveryResult): void {
      if (result !== "new") publish(result, () => ({ type: event.type }));
      const level = result === "conflict" ? "warn" : "debug";
      if (logger !== undefined) log(level, { ...identify(event), result }, MESSAGES[result]);
    },
  };
}

/** Returns whether an error is a failure: of status 500 or above, except the planned `CLOSING`. */
function isFailure({ status, code }: WebhookError): boolean {
  return status >= 500 && code !== "CLOSING";
}

function identify(event: PushEvent | UnknownPushEvent | undefined): object {
  if (event === undefined) return {};
  // A type that this version does not know, and a uuid, may be any text.
  return { type: escapeControls(event.type), uuid: escapeControls(event.uuid) };
}
