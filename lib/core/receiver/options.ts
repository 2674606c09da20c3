import type { DedupeStore } from "../delivery/dedupe-store";
import { isHandlers, type Handlers } from "../delivery/handler-registry";
import { createMemoryDedupe } from "../delivery/memory-dedupe";
import { DURATION_MS, LOGGER } from "../../kit/option-rules";
import {
  validateOptions,
  hasMethods,
  MAX_TIMER_MS,
  oneOf,
  wholeNumber,
} from "../../kit/validate-options";
import type { OptionRules } from "../../kit/validate-options";
import type { EventQueue } from "../delivery/event-queue";
import type { Logger } from "../../kit/logger";
import { fillVerifyDefaults, VERIFY_RULES } from "./verify-options";
import type { VerifyOptions } from "./verify-options";

/** Which webhook requests a receiver accepts, and what it does with them. */
export interface PushWebhooksOptions extends VerifyOptions {
  /** The name of the receiver in logs, diagnostics and the context of handlers. @default none */
  name?: string | undefined;
  /** Handlers to share with other receivers and workers. @default a new registry */
  handlers?: Handlers | undefined;
  /**
   * How long a webhook request may take until its response, in milliseconds: body (10 s at most),
   * token lookup, claim, handlers and completion. The service waits for 15 s at most.
   * @default 14_000
   */
  deadlineMs?: number | undefined;
  /**
   * When to respond. `"after"` the handlers: the service receives the status of a failure.
   * `"before"` the handlers: the service does not wait for them. Not allowed with a queue.
   * @default "after"
   */
  acknowledge?: "after" | "before" | undefined;
  /**
   * How long handlers may run, in milliseconds, before their signal aborts and the request fails;
   * at most deadlineMs, unless `acknowledge` is `"before"`. @default 10_000
   */
  handlerTimeoutMs?: number | undefined;
  /**
   * Stores which webhook requests were handled, to drop duplicates; false runs the handlers for
   * each delivery. Not allowed with a queue, which drops duplicates itself.
   * @default a store in memory: 100,000 webhook requests, 24 h
   */
  dedupe?: DedupeStore | false | undefined;
  /**
   * Stores events before the response and runs their handlers later; see `sqliteQueue`,
   * `redisQueue` and `postgresQueue`.
   * @default none: handlers run in this process
   */
  queue?: EventQueue | undefined;
  /**
   * Whether to pass rejections and failures to `next(error)` as a WebhookError, so that the error
   * handler of the app responds. @default false: the receiver responds
   */
  forwardErrors?: boolean | undefined;
  /**
   * Where to log: `pino()`, `console`, or a {@link Logger} of your own.
   * @default none: without listeners, the first failure of each code emits a process warning
   */
  logger?: Logger | undefined;
}

/** {@link PushWebhooksOptions}, validated, with each default. */
export type PushWebhooksSettings = ReturnType<typeof resolveReceiverOptions>;

const RECEIVER_RULES: OptionRules<PushWebhooksOptions> = {
  ...VERIFY_RULES,
  name: {
    accepts: (value) => typeof value === "string" && /^[\w.-]{1,100}$/.test(value),
    expected: 'up to 100 letters, digits, "_", "." and "-"',
  },
  handlers: { accepts: isHandlers, expected: "an object that createHandlers() returned" },
  deadlineMs: wholeNumber(100, MAX_TIMER_MS, "milliseconds"),
  acknowledge: oneOf("after", "before"),
  handlerTimeoutMs: DURATION_MS,
  dedupe: {
    accepts: (value) => value === false || hasMethods(value, ["claim", "complete", "release"]),
    expected: "false, or a store with the methods claim, complete and release",
  },
  queue: {
    accepts: (value) => hasMethods(value, ["store"]) && "outcomes" in (value as object),
    expected:
      'a queue that sqliteQueue(), redisQueue() or postgresQueue() of "express-push-verification/durable" returned',
  },
  forwardErrors: oneOf(true, false),
  logger: LOGGER,
};

/**
 * Validates the options of a receiver and adds their defaults.
 *
 * @throws TypeError for an option that is unknown or not valid.
 */
export function resolveReceiverOptions(options: PushWebhooksOptions) {
  validateOptions("pushWebhooks", options, RECEIVER_RULES);
  for (const name of ["acknowledge", "dedupe"] as const) {
    if (options.queue === undefined || options[name] === undefined) continue;
    throw new TypeError(
      `pushWebhooks: option ${name} must not be set with option queue, because a queue drops duplicates itself and the receiver responds as soon as an event is stored. Remove ${name}.`,
    );
  }
  const { deadlineMs = 14_000, acknowledge = "after", handlerTimeoutMs } = options;
  // Handlers that run after the response do not count against the deadline.
  if (acknowledge === "after" && handlerTimeoutMs !== undefined && handlerTimeoutMs > deadlineMs) {
    throw new TypeError(
      `pushWebhooks: option handlerTimeoutMs must be at most deadlineMs, ${deadlineMs}; received ${handlerTimeoutMs}. The service waits for 15 s at most.`,
    );
  }
  return {
    ...fillVerifyDefaults("pushWebhooks", options),
    name: options.name,
    handlers: options.handlers,
    deadlineMs,
    acknowledge,
    handlerTimeoutMs:
      handlerTimeoutMs ?? (acknowledge === "before" ? 10_000 : Math.min(10_000, deadlineMs)),
    dedupe: options.dedupe ?? createMemoryDedupe(),
    queue: options.queue,
    forwardErrors: options.forwardErrors ?? false,
    logger: options.logger,
  };
}
