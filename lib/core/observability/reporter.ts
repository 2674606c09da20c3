import { publish } from "./diagnostics";
import type { DeliveryResult, PushEvent, UnknownPushEvent, AnyEvent } from "../event/event";
import { describeCause } from "../../kit/neutral-cause";
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
  /** The address of the peer: behind a proxy, the proxy. */
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

const MESSAGES: Readonly<Record<DeliveryResult, string>> = {
  new: "Event accepted",
  duplicate: "Delivery dropped: its uuid was accepted before",
  conflict: "Delivery dropped: its uuid was accepted before, with other content",
};

/** How often a rejection of one code is explained for the logger, in milliseconds. */
const EXPLAIN_EVERY_MS = 60_000;

/**
 * Reports the results and failures of a receiver or a worker to its listeners and its logger. Without
 * either, the first rejection or failure of each code emits a process warning with its cause.
 */
export class Reporter {
  readonly #logger: Logger | undefined;
  readonly #common: object;
  readonly #errorListeners = new Set<ErrorListener>();
  readonly #rejectedListeners = new Set<RejectedListener>();
  readonly #explainedAtMs = new Map<WebhookErrorCode, number>();

  /** @param common fields of each line: the names of the receiver or the queue. */
  constructor(logger: Logger | undefined, common: object = {}) {
    this.#logger = logger && adaptConsole(logger);
    this.#common = common;
  }

  onError(listener: ErrorListener): void {
    this.#errorListeners.add(listener);
  }

  onRejected(listener: RejectedListener): void {
    this.#rejectedListeners.add(listener);
  }

  /** Reports a failure; `run` are fields of its line. */
  error(error: WebhookError, event?: AnyEvent, run: object = {}): void {
    const fields = () => ({ code: error.code, ...identify(event), ...run, err: error });
    this.#log("error", fields, error.message);
    for (const listener of this.#errorListeners) callSafely(listener, () => listener(error, event));
    this.#warnWithoutListeners(error, this.#errorListeners.size);
  }

  /** Reports a rejected request; if it {@link isFailure}, to the listeners of failures too. */
  rejected(
    error: WebhookError,
    request: RejectedRequest,
    durationMs: number,
    capture: () => Capture | undefined,
  ): void {
    publish("rejected", () => ({ ...describeError(error), durationMs }));
    this.#logRejected(error, request);
    for (const listener of this.#rejectedListeners) {
      callSafely(listener, () => listener(error, request, capture));
    }
    if (isFailure(error)) {
      for (const listener of this.#errorListeners) callSafely(listener, () => listener(error));
    }
    const listenerCount = this.#rejectedListeners.size + this.#errorListeners.size;
    this.#warnWithoutListeners(error, listenerCount);
  }

  /** Reports an event that no handler has received, and no login waits for. */
  unhandled(event: AnyEvent): void {
    const { type } = event;
    publish("unhandled", () => ({ type }));
    const message = `No handler ran for an event of the type ${JSON.stringify(type)}. Add one with push.on, or push.onUnhandled(() => {}) to ignore such events.`;
    if (this.#logger === undefined)
      warnOnce("EVENT_UNHANDLED", `${message} (Said once.)`, this.#errorListeners);
    else this.#log("warn", () => identify(event), message);
  }

  /** Reports the result of a delivery. */
  delivered(event: AnyEvent, result: DeliveryResult): void {
    if (result !== "new") publish(result, () => ({ type: event.type }));
    const level = result === "conflict" ? "warn" : "debug";
    this.#log(level, () => ({ ...identify(event), result }), MESSAGES[result]);
  }

  #log(level: keyof Logger, describe: () => object, message: string): void {
    const logger = this.#logger;
    if (logger === undefined) return;
    const fields = { ...this.#common, ...describe() };
    callSafely(logger, () => logger[level](fields, message));
  }

  #logRejected(error: WebhookError, request: RejectedRequest): void {
    const fields = () => ({ ...describeError(error), ...request });
    if (isFailure(error)) {
      this.#log("error", () => ({ ...fields(), err: error }), error.message);
    } else if (error.code === "PAYLOAD_AMBIGUOUS") {
      // A text of the app, or a parameter that the service has added, rejects genuine events.
      this.#log("error", fields, error.message);
    } else {
      this.#log("warn", () => ({ ...fields(), ...this.#explainFirst(error) }), error.message);
    }
  }

  /** Returns the likeliest cause of a rejection, for the first of its code within 60 s. */
  #explainFirst(error: WebhookError): object | undefined {
    const nowMs = performance.now();
    const explainedAtMs = this.#explainedAtMs.get(error.code) ?? -Infinity;
    if (nowMs - explainedAtMs < EXPLAIN_EVERY_MS) return undefined;
    this.#explainedAtMs.set(error.code, nowMs);
    const { code: cause, subject, fix } = error.explain()?.causes[0] ?? {};
    return cause === undefined ? undefined : { cause, subject, fix };
  }

  #warnWithoutListeners(error: WebhookError, listenerCount: number): void {
    if (error.code === "CLOSING" || listenerCount > 0 || this.#logger !== undefined) return;
    const message = `${error.message} This warning is emitted once per code; set the option logger, or onError and onRejected.`;
    warnOnce(error.code, message, this.#errorListeners, () => describeCause(error));
  }
}

function describeError({ code, status, parameter }: WebhookError) {
  return { code, status, ...(parameter !== undefined && { parameter }) };
}

/** Returns whether an error is a failure: of status 500 or above, except the planned `CLOSING`. */
function isFailure({ status, code }: WebhookError): boolean {
  return status >= 500 && code !== "CLOSING";
}

function identify(event: AnyEvent | undefined): object {
  if (event === undefined) return {};
  // A type that this version does not know, and a uuid, may be any text.
  return { type: escapeControls(event.type), uuid: escapeControls(event.uuid) };
}
