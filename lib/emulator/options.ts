import type { z } from "zod";
import { FORM_CONTENT_TYPES, isFormType } from "../form";
import {
  checkOptions,
  HEADER_NAME,
  MAX_TIMER_MS,
  oneOf,
  wholeNumber,
  type OptionRules,
} from "../option-rules";
import type { Clock } from "./dates";
import { describeProblem } from "./fields";
import type { NewKey } from "./key";
import { newKeySchema } from "./keys";
import { createAuthToken, createSid, isSid } from "./sids";
import type { NewWebhook } from "./webhook";
import { webhookSchema } from "./webhooks";

/** How the service is emulated. */
export interface EmulatorOptions {
  /** The account. @default random */
  accountSid?: string | undefined;
  /** The account's auth token, which also signs calls. @default random */
  authToken?: string | undefined;
  /** The token before it, which the fault `"old-token"` signs with. @default random */
  previousAuthToken?: string | undefined;
  /** The verification service. @default random */
  serviceSid?: string | undefined;
  /** Keys that exist from the start; Main keys are made here or with `createKey` alone. @default none */
  keys?: readonly NewKey[] | undefined;
  /** Webhooks that exist from the start. @default none */
  webhooks?: readonly NewWebhook[] | undefined;
  /** The header that holds the signature. @default "X-Service-Signature" */
  signatureHeader?: string | undefined;
  /** The content type of calls. @default "application/x-www-urlencoded", the specification's spelling */
  contentType?: string | undefined;
  /** How webhooks are called that do not say it themselves. @default "POST" */
  webhookMethod?: "GET" | "POST" | undefined;
  /** How long connecting to a receiver may take, in milliseconds. @default 5_000 */
  connectTimeoutMs?: number | undefined;
  /** How long a call may take with all its attempts, in milliseconds. @default 15_000 */
  totalTimeoutMs?: number | undefined;
  /** How often a call is sent again after its connection failed. @default 1 */
  connectionRetries?: number | undefined;
  /** How many deliveries are remembered; the oldest are forgotten first. @default 1_000 */
  maxDeliveries?: number | undefined;
  /** How many keys the account may have. @default 10_000 */
  maxKeys?: number | undefined;
  /** Tells the time for dates, in milliseconds since 1970. @default Date.now */
  now?: Clock | undefined;
}

/** Options of an emulator with every default filled in. */
export type EmulatorSettings = {
  [Name in keyof EmulatorOptions]-?: Exclude<EmulatorOptions[Name], undefined>;
};

const RULES: OptionRules<EmulatorOptions> = {
  accountSid: sidRule("AC"),
  authToken: tokenRule("the account's auth token"),
  previousAuthToken: tokenRule("the auth token before the present one"),
  serviceSid: sidRule("VA"),
  keys: {
    ...listRule(newKeySchema.array().refine(haveOwnSids, "two have the same sid")),
    expected:
      'a list of keys such as { friendly_name: "ci", type: "main", sid: "SK…", secret: "…" }, all of it optional',
    secret: true,
  },
  webhooks: {
    ...listRule(webhookSchema.partial().required({ webhook_url: true }).array()),
    expected:
      'a list of webhooks such as { webhook_url: "http://127.0.0.1:3000/push", event_types: ["*"] }',
  },
  signatureHeader: HEADER_NAME,
  contentType: {
    accepts: (value) =>
      typeof value === "string" && /^[\x20-\x7e]+$/.test(value) && isFormType(value),
    expected: `${FORM_CONTENT_TYPES.join(" or ")}, with parameters or without`,
  },
  webhookMethod: oneOf("GET", "POST"),
  connectTimeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  totalTimeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  connectionRetries: wholeNumber(0, 100, "attempts"),
  maxDeliveries: wholeNumber(1, 1_000_000, "deliveries"),
  maxKeys: wholeNumber(0, 1_000_000, "keys"),
  now: {
    accepts: (value) => typeof value === "function",
    expected: "a function that returns milliseconds since 1970, such as Date.now",
  },
};

/**
 * Checks the options of an emulator and fills in the defaults.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function resolveEmulatorOptions(options: EmulatorOptions): EmulatorSettings {
  checkOptions("createEmulator", options, RULES);
  const { keys = [], maxKeys = 10_000 } = options;
  if (keys.length > maxKeys) {
    throw new TypeError(
      `createEmulator: option maxKeys must be at least ${keys.length}, the number of keys in option keys; got ${maxKeys}.`,
    );
  }
  return {
    accountSid: options.accountSid ?? createSid("AC"),
    authToken: options.authToken ?? createAuthToken(),
    previousAuthToken: options.previousAuthToken ?? createAuthToken(),
    serviceSid: options.serviceSid ?? createSid("VA"),
    keys,
    webhooks: options.webhooks ?? [],
    signatureHeader: options.signatureHeader ?? "X-Service-Signature",
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

/** A rule for what a schema takes, that says what in the list is wrong. */
function listRule(schema: z.ZodType) {
  return {
    accepts: (value: unknown) => schema.safeParse(value).success,
    explain: (value: unknown) => {
      const { error } = schema.safeParse(value);
      return error === undefined ? "" : `Wrong: ${describeProblem(error)}.`;
    },
  };
}

function haveOwnSids(keys: readonly NewKey[]): boolean {
  const sids = keys.flatMap(({ sid }) => (sid === undefined ? [] : [sid]));
  return new Set(sids).size === sids.length;
}

function sidRule(prefix: "AC" | "VA") {
  return {
    accepts: (value: unknown) => isSid(prefix, value),
    expected: `a SID: ${prefix} and 32 hexadecimal digits`,
  };
}

function tokenRule(expected: string) {
  return {
    accepts: (value: unknown) => typeof value === "string" && value !== "",
    expected,
    secret: true,
  };
}
