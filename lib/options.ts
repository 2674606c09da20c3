import { V2_PARAMETERS } from "./call-parameters";
import type { DedupeStore } from "./dedupe-store";
import { isHandlers, type Handlers } from "./handlers";
import { createMemoryDedupe } from "./memory-dedupe";
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
import { sidSchema } from "./event-schema";
import type { Logger } from "./reports";
import type { UrlMatching } from "./signature";
import type { AuthTokenResolver, AuthTokens } from "./tokens";
import { isHttpUrl } from "./url";

/** How calls are verified. */
export interface VerifyOptions {
  /**
   * The auth token of the account; several tokens of this one account while it rotates them; or a
   * function that finds the token of the account that a request claims to come from.
   */
  authToken: AuthTokens | AuthTokenResolver;
  /**
   * The webhook_url exactly as configured at the service, byte for byte: it is part of what is
   * signed. A proxy in between changes nothing about it.
   */
  publicUrl: string;
  /** The header that holds the signature. @default "X-Service-Signature" */
  signatureHeader?: string | undefined;
  /** Whether the default port may be spelled out or left out. @default "ports" */
  urlMatching?: UrlMatching | undefined;
  /** The largest body that is read, in bytes. @default 65_536 */
  limitBytes?: number | undefined;
  /**
   * The accounts whose events are accepted. With several, `authToken` is a function or one token.
   * @default the account of the token
   */
  allowedAccountSids?: readonly string[] | undefined;
  /**
   * The services whose events are accepted. This does not authenticate a service: every service of
   * an account is signed with the token of the account. @default every service of the account
   */
  allowedServiceSids?: readonly string[] | undefined;
  /**
   * Names of parameters beyond the specification that every webhook request of the service carries.
   * Needed for those that sort directly after `entity_identity`, such as `event_id`: without it
   * these requests are rejected with PAYLOAD_AMBIGUOUS, and with it those that lack the parameter
   * are; see "Another reading" in SECURITY.md. @default none
   */
  extraParameters?: readonly string[] | undefined;
}

/** How calls are received, beside how they are verified. */
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

/** Options of the verification with every default filled in. */
export interface VerifySettings {
  authToken: AuthTokens | AuthTokenResolver;
  publicUrl: string;
  /** In lower case. */
  signatureHeader: string;
  urlMatching: UrlMatching;
  limitBytes: number;
  /** Undefined: every account. */
  allowedAccountSids: ReadonlySet<string> | undefined;
  /** Undefined: every service. */
  allowedServiceSids: ReadonlySet<string> | undefined;
  extraParameters: readonly string[];
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
  allowedAccountSids: sidsRule("AC"),
  allowedServiceSids: sidsRule("VA"),
  extraParameters: {
    accepts: (value) => Array.isArray(value) && value.every(isExtraName),
    expected:
      "a list of parameter names of at least 4 letters, digits and underscores that are no names of the specification",
  },
};

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
    accepts: (value) => value === false || hasMethods(value, ["claim", "complete", "release"]),
    expected: "false, or a store with the methods claim, complete and release",
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
 * Checks the options of a verification and fills in the defaults.
 *
 * @param owner the function whose options they are, for the message.
 * @throws TypeError for an option that is unknown or impossible.
 */
export function resolveVerifyOptions(owner: string, options: VerifyOptions): VerifySettings {
  checkOptions(owner, options, VERIFY_RULES);
  return fillVerifyDefaults(owner, options);
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

function fillVerifyDefaults(owner: string, options: VerifyOptions): VerifySettings {
  const { authToken, allowedAccountSids } = options;
  if (Array.isArray(authToken) && authToken.length > 1 && (allowedAccountSids?.length ?? 0) > 1) {
    throw new TypeError(
      `${owner}: a list of tokens is for the rotation of one account, and nothing binds its tokens to the accounts of allowedAccountSids. Pass a function as authToken that returns the tokens of the account it is asked for.`,
    );
  }
  return {
    // A copy: what the caller does to its list later changes nothing here.
    authToken: Array.isArray(authToken) ? [...(authToken as readonly string[])] : authToken,
    publicUrl: options.publicUrl,
    signatureHeader: (options.signatureHeader ?? "X-Service-Signature").toLowerCase(),
    urlMatching: options.urlMatching ?? "ports",
    limitBytes: options.limitBytes ?? 65_536,
    allowedAccountSids: toSet(allowedAccountSids),
    allowedServiceSids: toSet(options.allowedServiceSids),
    extraParameters: [...(options.extraParameters ?? [])],
  };
}

function toSet(sids: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return sids === undefined ? undefined : new Set(sids);
}

function sidsRule(prefix: "AC" | "VA"): OptionRule {
  const schema = sidSchema(prefix);
  return {
    accepts: (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.every((sid) => schema.safeParse(sid).success),
    expected: `a list of SIDs (${prefix} and 32 hexadecimal digits) that is not empty`,
  };
}

/** One, or a list that is not empty. */
function isListOf(accepts: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) =>
    Array.isArray(value) ? value.length > 0 && value.every(accepts) : accepts(value);
}

function isExtraName(name: unknown): boolean {
  if (typeof name !== "string" || !/^\w{4,100}$/.test(name)) return false;
  return !V2_PARAMETERS.some((known) => known.startsWith(name) || name.startsWith(known));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
