import { SIGNATURE_HEADERS } from "../core/door";
import type { PushEventType } from "../index";
import { AUTH_TOKEN } from "../kit/auth-token";
import { FORM_CONTENT_TYPES, isFormType } from "../kit/form-type";
import type * as z from "zod";
import { createDigits, createSid } from "../kit/sid";
import { DURATION_MS, FUNCTION, HEADER_NAME, HOSTNAMES, sidRule } from "../kit/option-rules";
import { validateOptions, oneOf, wholeNumber } from "../kit/validate-options";
import type { Complete, OptionRules } from "../kit/validate-options";
import { describeFirstIssue, newKeySchema, newWebhookSchema } from "./resources/schemas";
import type { NewKey } from "./resources/keys";

/** Fields of a webhook to create. */
export interface NewWebhook {
  /** The absolute http or https URL of the receiver. */
  webhook_url: string;
  /** @default "emulator" */
  friendly_name?: string | undefined;
  /** Types of events to send; `"*"` means all. @default ["*"] */
  event_types?: readonly ("*" | PushEventType)[] | undefined;
  /** @default "enabled" */
  status?: "enabled" | "disabled" | undefined;
  /** @default "v2" */
  version?: "v1" | "v2" | undefined;
  /** @default the option `webhookMethod` of the emulator */
  webhook_method?: "GET" | "POST" | undefined;
}

/** What an emulator begins with, and how it sends webhook requests. */
export interface EmulatorOptions {
  /** SID of the account. @default random */
  accountSid?: string | undefined;
  /** Auth token of the account; signs the webhook requests. @default random */
  authToken?: string | undefined;
  /** Auth token before a rotation; signs requests with the fault `"old-token"`. @default random */
  previousAuthToken?: string | undefined;
  /** SID of the verification service. @default random */
  serviceSid?: string | undefined;
  /** Keys that exist from the start. Main keys: only here and with `createKey`. @default none */
  keys?: readonly NewKey[] | undefined;
  /** Webhooks that exist from the start. @default none */
  webhooks?: readonly NewWebhook[] | undefined;
  /**
   * Names at which others reach the emulator, such as `"emulator"` in Docker Compose. Without them, a
   * `Host` must be an address or a name of the loopback, so that no page reaches it by DNS rebinding.
   * @default none
   */
  allowedHosts?: readonly string[] | undefined;
  /** Name of the signature header. @default "X-Service-Signature" */
  signatureHeader?: string | undefined;
  /**
   * What happens to a new `entity_identity` that the public service does not accept, which takes 8 to
   * 64 letters, digits and dashes: `"warn"` accepts it and emits the process warning
   * `IDENTITY_INVALID`, once; `"reject"` throws EmulatorError `PARAMETER_INVALID`. @default "warn"
   */
  identities?: "warn" | "reject" | undefined;
  /** Content type of POST webhook requests. @default "application/x-www-urlencoded" (section 5) */
  contentType?: string | undefined;
  /** Method of webhooks that do not set one. @default "POST" */
  webhookMethod?: "GET" | "POST" | undefined;
  /** Longest time to connect to a receiver, in milliseconds. @default 5_000 */
  connectTimeoutMs?: number | undefined;
  /** Longest time of a delivery with all its attempts, in milliseconds. @default 15_000 */
  totalTimeoutMs?: number | undefined;
  /** Number of further attempts after a failed connection. @default 1 */
  connectionRetries?: number | undefined;
  /** Number of deliveries to keep; the oldest are removed first. @default 1_000 */
  maxDeliveries?: number | undefined;
  /** Highest number of keys of the account. @default 10_000 */
  maxKeys?: number | undefined;
  /** Clock for the dates of resources, in milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
}

/**
 * In the options of `createEmulator`, makes the emulator as the public service is where that differs
 * from the specification: the signature header, the content type, and the identities.
 *
 * @example
 * const emulator = createEmulator({ ...AS_PUBLIC_SERVICE, webhooks: [{ webhook_url }] });
 */
export const AS_PUBLIC_SERVICE = {
  signatureHeader: SIGNATURE_HEADERS[1],
  contentType: "application/x-www-form-urlencoded",
  identities: "reject",
} as const satisfies EmulatorOptions;

/** {@link EmulatorOptions} with each default. */
export type EmulatorSettings = Complete<EmulatorOptions>;

const RULES: OptionRules<EmulatorOptions> = {
  accountSid: sidRule("AC"),
  authToken: AUTH_TOKEN,
  previousAuthToken: AUTH_TOKEN,
  serviceSid: sidRule("VA"),
  keys: {
    ...listRule(newKeySchema.array().refine(haveOwnSids, "two keys have the same sid")),
    expected:
      'a list of keys such as { friendly_name: "ci", type: "main", sid: "SK…", secret: "…" }, all of it optional',
    secret: true,
  },
  webhooks: {
    ...listRule(newWebhookSchema.array()),
    expected:
      'a list of webhooks such as { webhook_url: "http://127.0.0.1:3000/push", event_types: ["*"] }',
  },
  allowedHosts: HOSTNAMES,
  signatureHeader: HEADER_NAME,
  identities: oneOf("warn", "reject"),
  contentType: {
    accepts: (value) =>
      typeof value === "string" && /^[\x20-\x7e]+$/.test(value) && isFormType(value),
    expected: `${FORM_CONTENT_TYPES.join(" or ")}, with parameters or without`,
  },
  webhookMethod: oneOf("GET", "POST"),
  connectTimeoutMs: DURATION_MS,
  totalTimeoutMs: DURATION_MS,
  connectionRetries: wholeNumber(0, 100, "attempts"),
  maxDeliveries: wholeNumber(1, 1_000_000, "deliveries"),
  maxKeys: wholeNumber(0, 1_000_000, "keys"),
  now: {
    ...FUNCTION,
    expected: "a function that returns milliseconds since 1970, such as Date.now",
  },
};

/** Validates options, and adds the defaults. */
export function resolveEmulatorOptions(options: EmulatorOptions): EmulatorSettings {
  validateOptions("createEmulator", options, RULES);
  const { keys = [], maxKeys = 10_000 } = options;
  if (keys.length > maxKeys) {
    throw new TypeError(
      `createEmulator: option maxKeys must be at least ${keys.length}, the number of keys in option keys; got ${maxKeys}.`,
    );
  }
  return {
    accountSid: options.accountSid ?? createSid("AC"),
    authToken: options.authToken ?? createDigits(),
    previousAuthToken: options.previousAuthToken ?? createDigits(),
    serviceSid: options.serviceSid ?? createSid("VA"),
    keys,
    webhooks: options.webhooks ?? [],
    allowedHosts: options.allowedHosts ?? [],
    signatureHeader: options.signatureHeader ?? SIGNATURE_HEADERS[0],
    identities: options.identities ?? "warn",
    contentType: options.contentType ?? FORM_CONTENT_TYPES[0],
    webhookMethod: options.webhookMethod ?? "POST",
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    totalTimeoutMs: options.totalTimeoutMs ?? 15_000,
    connectionRetries: options.connectionRetries ?? 1,
    maxDeliveries: options.maxDeliveries ?? 1_000,
    maxKeys,
    now: options.now ?? Date.now,
  };
}

/** Creates the rule of a list that a schema accepts; `explain` names the first invalid field. */
function listRule(schema: z.ZodType) {
  return {
    accepts: (value: unknown) => schema.safeParse(value).success,
    explain: (value: unknown) => {
      const { error } = schema.safeParse(value);
      return error === undefined ? "" : `Invalid: ${describeFirstIssue(error)}.`;
    },
  };
}

function haveOwnSids(keys: readonly { sid: string }[]): boolean {
  return new Set(keys.map(({ sid }) => sid)).size === keys.length;
}
