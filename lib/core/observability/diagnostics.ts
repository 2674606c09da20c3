import { channel, tracingChannel } from "node:diagnostics_channel";
import type { Channel, TracingChannel } from "node:diagnostics_channel";
import type { WebhookError } from "../errors/webhook-error";
import type { DeliveryResult } from "../event/event";

/**
 * The messages of the diagnostics channels by name. The channel of `node:diagnostics_channel` has
 * the prefix `express-push-verification:` before the name.
 *
 * Durations are in milliseconds. A message contains no secret and nothing that identifies a user.
 * @experimental
 */
export interface Diagnostics {
  /** A webhook request arrived. */
  received: { method: string };
  /** A webhook request was rejected; `parameter` as in `WebhookError`. */
  rejected: { code: string; status: number; durationMs: number; parameter?: string };
  /** A store or a token lookup failed or did not respond, and is retried. */
  retrying: object;
  /** The queue stored an event. */
  stored: { type: string; durationMs: number };
  /** A delivery was dropped as a duplicate: its uuid was handled or stored before. */
  duplicate: { type: string };
  /** A delivery was dropped: its uuid was handled or stored before, with other content. */
  conflict: { type: string };
  /** The handlers of an event have finished. */
  handled: { type: string; attempt: number; durationMs: number };
  /** An event had no handler, and no login of this process waits for such events. */
  unhandled: { type: string };
  /** The handlers of an event failed or timed out. */
  failed: { type: string; attempt: number; code: string; durationMs: number };
  /** An event exhausted its attempts. */
  "dead-lettered": { type: string; attempts: number };
}

export const DIAGNOSTIC_NAMES = [
  "received",
  "rejected",
  "retrying",
  "stored",
  "duplicate",
  "conflict",
  "handled",
  "unhandled",
  "failed",
  "dead-lettered",
] as const satisfies readonly (keyof Diagnostics)[];

const channels = new Map<keyof Diagnostics, Channel>(
  DIAGNOSTIC_NAMES.map((name) => [name, channel(`express-push-verification:${name}`)]),
);

/** Publishes a message. An error of a subscriber does not change a response. */
export function publish<Name extends keyof Diagnostics>(
  name: Name,
  describe: () => Diagnostics[Name],
): void {
  const open = channels.get(name);
  if (open?.hasSubscribers === true) open.publish(describe());
}

/** What a subscriber may add when an operation starts, and finds at its end. */
interface TracedOperation<Result> {
  /** Runs the operation, and with it the handlers: a subscriber sets it to activate a context. */
  around?: (<Value>(run: () => Value) => Value) | undefined;
  /** Set when the operation has ended. */
  result?: Result | undefined;
  /** Set when the operation has failed: a `WebhookError`, whose cause may be an error of a handler. */
  error?: unknown;
}

/**
 * The messages of the tracing channels by name. A channel of `node:diagnostics_channel` is named
 * `tracing:express-push-verification:`, the name, and `:start`, `:end`, `:asyncStart`, `:asyncEnd`
 * or `:error`. Except for `error`, a message contains no secret and nothing that identifies a user.
 * @experimental
 */
export interface Traces {
  /** A webhook request, until its response is decided; the result is the error of a rejected one. */
  receive: TracedOperation<WebhookError> & {
    method: string;
    /** The requested path without the query: the client chooses it. */
    path: string;
    /** The path of a publicUrl, when it is the requested one. */
    route: string | undefined;
    /** The scheme of the first publicUrl. */
    scheme: string;
    receiver: string | undefined;
  };
  /** An event that a queue stores. */
  store: TracedOperation<DeliveryResult> & {
    queue: string;
    type: string;
    uuid: string;
    receiver: string | undefined;
    /** Stored with the event when a subscriber adds to it. */
    carrier: Record<string, string>;
  };
  /** A run of the handlers of an event. */
  handle: TracedOperation<void> & {
    /** Undefined when a receiver without a queue runs them. */
    queue?: string | undefined;
    type: string;
    uuid: string;
    receiver: string | undefined;
    attempt: number;
    /** The trace context that was stored with the event. */
    carrier?: Record<string, string> | undefined;
  };
  /** A statement of a worker that no event has caused, many a minute: it claims, beats or purges. */
  poll: TracedOperation<unknown>;
}

export const TRACE_NAMES = [
  "receive",
  "store",
  "handle",
  "poll",
] as const satisfies readonly (keyof Traces)[];

const tracingChannels = new Map<keyof Traces, TracingChannel>(
  TRACE_NAMES.map((name) => [name, tracingChannel(`express-push-verification:${name}`)]),
);

/** Runs an operation, and publishes its start and its end if its channel has a subscriber. */
export function trace<Name extends keyof Traces, Result extends Promise<unknown> | void>(
  name: Name,
  describe: () => Traces[Name],
  run: (message?: Traces[Name]) => Result,
): Result | Promise<Awaited<Result>> {
  const open = tracingChannels.get(name);
  if (open?.hasSubscribers !== true) return run();
  const message = describe();
  const start = () => Promise.resolve(run(message));
  return open.tracePromise(
    () => (message.around === undefined ? start() : message.around(start)),
    message,
  );
}
