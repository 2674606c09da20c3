import type { DedupeStore } from "./dedupe-store";
import { isHandlers, type Handlers } from "./handlers";
import { createMemoryDedupe } from "./memory-dedupe";
import { checkOptions, hasMethods, MAX_TIMER_MS, oneOf, wholeNumber } from "./option-rules";
import type { OptionRules } from "./option-rules";
import type { EventQueue } from "./queue";
import type { Logger } from "./reports";
import { fillVerifyDefaults, VERIFY_RULES } from "./verify-options";
import type { VerifyOptions, VerifySettings } from "./verify-options";

/** Options of `pushWebhooks`. */
export interface PushWebhooksOptions extends VerifyOptions {
  /** The name of the receiver in logs, diagnostics and the context of handlers. @default none */
  name?: string | undefined;
  /** Handlers that other receivers and workers share. @default handlers of its own */
  handlers?: Handlers | undefined;
  /**
   * How long a webhook request may take in all, in milliseconds: body, token lookup, claim,
   * handlers and completion. The service waits for 15 s at most. @default 14_000
   */
  deadlineMs?: number | undefined;
  /** How long a body may take to arrive, in milliseconds. @default 10_000, at most deadlineMs */
  bodyTimeoutMs?: number | undefined;
  /**
   * Whether a call is answered after its handlers, so that the sender learns of a failure, or
   * before them, so that it never waits. Not with a queue. @default "after"
   */
  acknowledge?: "after" | "before" | undefined;
  /**
   * How long handlers may take, in milliseconds, before their signal is aborted and the call
   * fails. @default 10_000, at most deadlineMs
   */
  handlerTimeoutMs?: number | undefined;
  /**
   * Remembers which calls were handled; false runs the handlers for each delivery. Not with a
   * queue, which remembers by itself. @default in memory, 100,000 calls, 24 h
   */
  dedupe?: DedupeStore | false | undefined;
  /**
   * Keeps events before they are answered, and has handlers run from there; see `durableQueue`.
   * @default none: handlers run at once
   */
  queue?: EventQueue | undefined;
  /**
   * Hands refusals and failures to `next(error)` as a WebhookError, for the app's own error
   * handler to answer. @default false: they are answered here
   */
  forwardErrors?: boolean | undefined;
  /** Where to log, shaped like pino or console. @default nothing is logged */
  logger?: Logger | undefined;
}

/** Options of a receiver with every default filled in. */
export interface ReceiverSettings extends VerifySettings {
  name: string | undefined;
  handlers: Handlers | undefined;
  deadlineMs: number;
  bodyTimeoutMs: number;
  acknowledge: "after" | "before";
  handlerTimeoutMs: number;
  dedupe: DedupeStore | false;
  queue: EventQueue | undefined;
  forwardErrors: boolean;
  logger: Logger | undefined;
}

const RECEIVER_RULES: OptionRules<PushWebhooksOptions> = {
  ...VERIFY_RULES,
  name: {
    accepts: (value) => typeof value === "string" && /^[\w.-]{1,100}$/.test(value),
    expected: 'up to 100 letters, digits, "_", "." and "-"',
  },
  handlers: { accepts: isHandlers, expected: "what createHandlers() returns" },
  deadlineMs: wholeNumber(100, MAX_TIMER_MS, "milliseconds"),
  bodyTimeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  acknowledge: oneOf("after", "before"),
  handlerTimeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  dedupe: {
    accepts: (value) => value === false || isDedupeStore(value),
    expected:
      "false, or a store with the methods claim, complete and release, and init and close if it has these",
  },
  queue: {
    accepts: (value) => hasMethods(value, ["store"]) && "outcomes" in (value as object),
    expected: 'what durableQueue() of "express-push-verification/durable" returns',
  },
  forwardErrors: oneOf(true, false),
  logger: {
    accepts: (value) => hasMethods(value, ["debug", "info", "warn", "error"]),
    expected: "an object with the methods debug, info, warn and error, such as pino() or console",
  },
};

/**
 * Checks the options of a receiver and fills in the defaults.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function resolveReceiverOptions(
  owner: string,
  options: PushWebhooksOptions,
): ReceiverSettings {
  checkOptions(owner, options, RECEIVER_RULES);
  for (const name of ["acknowledge", "dedupe"] as const) {
    if (options.queue === undefined || options[name] === undefined) continue;
    throw new TypeError(
      `${owner}: option ${name} does not go with option queue, which answers once an event is stored and drops duplicates by itself; leave ${name} out.`,
    );
  }
  const { deadlineMs = 14_000, acknowledge = "after" } = options;
  for (const name of ["bodyTimeoutMs", "handlerTimeoutMs"] as const) {
    // Handlers that run after the response do not count against the deadline.
    if (name === "handlerTimeoutMs" && acknowledge === "before") continue;
    const value = options[name];
    if (value === undefined || value <= deadlineMs) continue;
    throw new TypeError(
      `${owner}: option ${name} must be at most deadlineMs, ${deadlineMs}; received ${value}. The service waits for 15 s at most.`,
    );
  }
  return {
    ...fillVerifyDefaults(owner, options),
    name: options.name,
    handlers: options.handlers,
    deadlineMs,
    bodyTimeoutMs: options.bodyTimeoutMs ?? Math.min(10_000, deadlineMs),
    acknowledge,
    handlerTimeoutMs:
      options.handlerTimeoutMs ??
      (acknowledge === "before" ? 10_000 : Math.min(10_000, deadlineMs)),
    dedupe: options.dedupe ?? createMemoryDedupe(),
    queue: options.queue,
    forwardErrors: options.forwardErrors ?? false,
    logger: options.logger,
  };
}

function isDedupeStore(value: unknown): boolean {
  if (!hasMethods(value, ["claim", "complete", "release"])) return false;
  const { init = () => {}, close = () => {} } = value as Partial<DedupeStore>;
  return typeof init === "function" && typeof close === "function";
}
