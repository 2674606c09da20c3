import { createMemoryDedupe, type DedupeStore } from "./dedupe";
import {
  checkOptions,
  hasMethods,
  HEADER_NAME,
  MAX_TIMER_MS,
  oneOf,
  wholeNumber,
} from "./option-rules";
import type { OptionRule, OptionRules } from "./option-rules";
import type { EventQueue } from "./queue";
import { sidSchema } from "./event";
import type { Logger } from "./reports";
import type { UrlMatching } from "./signature";
import type { AuthTokenResolver, AuthTokens } from "./tokens";
import { isHttpUrl } from "./url";

/** How calls are verified. */
export interface VerifyOptions {
  /**
   * The account's auth token; several while one replaces another; or a function that finds them
   * for the account and service that a call claims to come from.
   */
  authToken: AuthTokens | AuthTokenResolver;
  /**
   * The webhook_url exactly as configured at the service, byte for byte: it is part of what is
   * signed. A proxy in between changes nothing about it.
   */
  publicUrl: string;
  /** The header that holds the signature. @default "X-Service-Signature" */
  signatureHeader?: string;
  /** Whether the default port may be spelled out or left out. @default "ports" */
  urlMatching?: UrlMatching;
  /** The largest body that is read, in bytes. @default 65_536 */
  limitBytes?: number;
  /** The accounts whose calls are taken. @default all that the token signs for */
  accountSid?: string | readonly string[];
  /** The services whose calls are taken. @default all that the token signs for */
  serviceSid?: string | readonly string[];
}

/** How calls are received, beside how they are verified. */
export interface PushWebhooksOptions extends VerifyOptions {
  /** How long a body may take to arrive, in milliseconds. @default 10_000 */
  bodyTimeoutMs?: number;
  /**
   * Whether a call is answered after its handlers, so that the sender learns of a failure, or
   * before them, so that it never waits. Not with a queue. @default "after"
   */
  acknowledge?: "after" | "before";
  /**
   * How long handlers may take, in milliseconds, before their signal is aborted and the call
   * fails. The sender waits for 15 s at the most. @default 10_000
   */
  handlerTimeoutMs?: number;
  /**
   * Remembers which calls were handled; false runs the handlers for each delivery. Not with a
   * queue, which remembers by itself. @default in memory, 100,000 calls, 24 h
   */
  dedupe?: DedupeStore | false;
  /**
   * Keeps events before they are answered, and has handlers run from there; see `durableQueue`.
   * @default none: handlers run at once
   */
  queue?: EventQueue;
  /**
   * Hands refusals and failures to `next(error)` as a WebhookError, for the app's own error
   * handler to answer. @default false: they are answered here
   */
  forwardErrors?: boolean;
  /** Where to log, shaped like pino or console. @default nothing is logged */
  logger?: Logger;
}

/** Options of the verification with every default filled in. */
export interface VerifySettings {
  authToken: AuthTokens | AuthTokenResolver;
  publicUrl: string;
  /** In lower case. */
  signatureHeader: string;
  urlMatching: UrlMatching;
  limitBytes: number;
  /** Undefined: every account. */
  accountSids: ReadonlySet<string> | undefined;
  /** Undefined: every service. */
  serviceSids: ReadonlySet<string> | undefined;
}

/** Options of a receiver with every default filled in. */
export interface ReceiverSettings extends VerifySettings {
  bodyTimeoutMs: number;
  acknowledge: "after" | "before";
  handlerTimeoutMs: number;
  dedupe: DedupeStore | false;
  queue: EventQueue | undefined;
  forwardErrors: boolean;
  logger: Logger | undefined;
}

const VERIFY_RULES: OptionRules<VerifyOptions> = {
  authToken: {
    accepts: (value) => typeof value === "function" || isListOf(isText)(value),
    expected:
      "the account's auth token, a list of several that has no empty one, or a function that finds it",
    required: true,
    secret: true,
  },
  publicUrl: {
    accepts: isHttpUrl,
    expected:
      'the absolute http or https URL that is configured as webhook_url at the service, such as "https://app.example.com/webhooks/push"',
    required: true,
  },
  signatureHeader: HEADER_NAME,
  urlMatching: oneOf("exact", "ports"),
  limitBytes: wholeNumber(1, 2 ** 30, "bytes"),
  accountSid: sidRule("AC"),
  serviceSid: sidRule("VA"),
};

const RECEIVER_RULES: OptionRules<PushWebhooksOptions> = {
  ...VERIFY_RULES,
  bodyTimeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  acknowledge: oneOf("after", "before"),
  handlerTimeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  dedupe: {
    accepts: (value) => value === false || hasMethods(value, ["claim", "complete", "release"]),
    expected: "false, or a store with the methods claim, complete and release",
  },
  queue: {
    accepts: (value) => hasMethods(value, ["store", "waitForChallenge"]),
    expected: 'what durableQueue() of "express-push-verification/durable" returns',
  },
  forwardErrors: oneOf(true, false),
  logger: {
    accepts: (value) => hasMethods(value, ["debug", "info", "warn", "error"]),
    expected: "an object with the methods debug, info, warn and error, such as pino() or console",
  },
};

/**
 * Checks the options of a verification and fills in the defaults.
 *
 * @param owner the function whose options they are, for the message.
 * @throws TypeError for an option that is unknown or impossible.
 */
export function resolveVerifyOptions(owner: string, options: VerifyOptions): VerifySettings {
  checkOptions(owner, options, VERIFY_RULES);
  return fillVerifyDefaults(options);
}

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
  return {
    ...fillVerifyDefaults(options),
    bodyTimeoutMs: options.bodyTimeoutMs ?? 10_000,
    acknowledge: options.acknowledge ?? "after",
    handlerTimeoutMs: options.handlerTimeoutMs ?? 10_000,
    dedupe: options.dedupe ?? createMemoryDedupe(),
    queue: options.queue,
    forwardErrors: options.forwardErrors ?? false,
    logger: options.logger,
  };
}

function fillVerifyDefaults(options: VerifyOptions): VerifySettings {
  const { authToken } = options;
  return {
    // A copy: what the caller does to its list later changes nothing here.
    authToken: Array.isArray(authToken) ? [...(authToken as readonly string[])] : authToken,
    publicUrl: options.publicUrl,
    signatureHeader: (options.signatureHeader ?? "X-Service-Signature").toLowerCase(),
    urlMatching: options.urlMatching ?? "ports",
    limitBytes: options.limitBytes ?? 65_536,
    accountSids: toSet(options.accountSid),
    serviceSids: toSet(options.serviceSid),
  };
}

function toSet(sids: string | readonly string[] | undefined): ReadonlySet<string> | undefined {
  return sids === undefined ? undefined : new Set(typeof sids === "string" ? [sids] : sids);
}

function sidRule(prefix: "AC" | "VA"): OptionRule {
  const schema = sidSchema(prefix);
  return {
    accepts: isListOf((value) => schema.safeParse(value).success),
    expected: `a SID (${prefix} and 32 hexadecimal digits) or a list of them that is not empty`,
  };
}

/** One, or a list that is not empty. */
function isListOf(accepts: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) =>
    Array.isArray(value) ? value.length > 0 && value.every(accepts) : accepts(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
