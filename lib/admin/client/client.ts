import { z } from "zod";
import {
  validateOptions,
  MAX_TIMER_MS,
  wholeNumber,
  type OptionRules,
} from "../../validation/validate-options";
import { sidSchema } from "../../event/schema";
import { isSid } from "../../form/sid";
import { parseUrl } from "../../form/url";
import { checkWebhooks, type Finding, type Receiver } from "./configuration-drift";
import { ensureWebhook, type Ensured } from "./ensure-webhook";
import { parseInput } from "./parse-input";
import type { CreatedKey, Key, KeyInput } from "./key";
import { createList, type List } from "./list";
import {
  createdKeySchema,
  keyInputSchema,
  keyListSchema,
  keySchema,
  webhookChangeSchema,
  webhookInputSchema,
  webhookListSchema,
  webhookSchema,
} from "./schemas";
import { createApiError } from "./api-error";
import { createTransport, type RequestOptions } from "./transport";
import type { Webhook, WebhookChange, WebhookInput } from "./webhook";

/** Options of `createAdminClient`. */
export interface AdminClientOptions {
  /** Base URL of the account API, which manages Keys: {base_url} of the specification. */
  accountUrl: string;
  /** Base URL of the verification API, which manages Webhooks: {verify_url}. */
  verifyUrl: string;
  accountSid: string;
  serviceSid: string;
  /** The account SID, or the SID of a Key. @default `accountSid` */
  username?: string | undefined;
  /** The auth token of the account, or the secret of that Key. */
  password: string;
  /** Longest time of a request with all its attempts, in milliseconds. @default 10_000 */
  timeoutMs?: number | undefined;
  /** Number of retries after a failed attempt. @default 2 */
  maxRetries?: number | undefined;
  /** Function that sends the requests. @default the global `fetch` */
  fetch?: typeof globalThis.fetch | undefined;
}

/** Keys of the account (section 4.1). Requires the credentials of the account or of a Main key. */
export interface Keys extends List<Key> {
  fetch(sid: string, options?: RequestOptions): Promise<Key>;
  /** Creates a Standard key. No other response has its secret. */
  create(input?: KeyInput, options?: RequestOptions): Promise<CreatedKey>;
  update(sid: string, input: KeyInput, options?: RequestOptions): Promise<Key>;
  /**
   * Deletes a Key.
   *
   * @throws ApiError `OWN_KEY`, status 409, for the Key that the client authenticates with, unless
   *   `force` is true.
   */
  delete(sid: string, options?: RequestOptions & { force?: boolean | undefined }): Promise<void>;
}

/** Webhooks of the verification service (section 4.2). */
export interface Webhooks extends List<Webhook> {
  fetch(sid: string, options?: RequestOptions): Promise<Webhook>;
  create(input: WebhookInput, options?: RequestOptions): Promise<Webhook>;
  update(sid: string, input: WebhookChange, options?: RequestOptions): Promise<Webhook>;
  delete(sid: string, options?: RequestOptions): Promise<void>;
  /**
   * Creates the Webhook of `webhook_url`, or changes the fields that differ; idempotent. Concurrent
   * deployments end with one Webhook.
   */
  ensure(input: WebhookInput, options?: RequestOptions): Promise<Ensured>;
  /** Lists the configuration drift between the Webhooks and a receiver. */
  check(receiver: Receiver, options?: RequestOptions): Promise<Finding[]>;
}

/** Client of the two REST APIs of the service. */
export interface AdminClient {
  /** Whether the client authenticates with a Key instead of the account. */
  readonly usesKey: boolean;
  /** SID of the Key that it speaks as; undefined when it speaks as the account. */
  readonly keySid: string | undefined;
  readonly keys: Keys;
  readonly webhooks: Webhooks;
}

const RULES: OptionRules<AdminClientOptions> = {
  accountUrl: { ...baseUrlRule(), required: true },
  verifyUrl: { ...baseUrlRule(), required: true },
  accountSid: { ...sidRule("AC"), required: true },
  serviceSid: { ...sidRule("VA"), required: true },
  username: {
    accepts: (value) => isSid("AC", value) || isSid("SK", value),
    expected: "the SID of the account or of a Key (AC or SK and 32 hexadecimal digits)",
  },
  password: {
    accepts: (value) => typeof value === "string" && value !== "",
    expected: "the auth token of the account, or the secret of the Key that username names",
    required: true,
    secret: true,
  },
  timeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  maxRetries: wholeNumber(0, 10, "retries"),
  fetch: {
    accepts: (value) => typeof value === "function",
    expected: "a function like the global fetch",
  },
};

const nothing = z.unknown();

/**
 * Creates a client of the account API and the verification API.
 *
 * Each method validates its arguments before it sends a request.
 *
 * @throws TypeError for an unknown or invalid option; InputError (a TypeError) or ApiError, from the
 *   methods.
 */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  validateOptions("createAdminClient", options, RULES);
  const { accountSid, serviceSid, username = accountSid } = options;
  const send = createTransport({
    username,
    password: options.password,
    timeoutMs: options.timeoutMs ?? 10_000,
    maxRetries: options.maxRetries ?? 2,
    fetch: options.fetch ?? globalThis.fetch,
  });
  const keysUrl = `${trimSlash(options.accountUrl)}/2010-04-01/Accounts/${accountSid}/Keys`;
  const webhooksUrl = `${trimSlash(options.verifyUrl)}/v2/Services/${serviceSid}/Webhooks`;
  const keyUrl = (sid: string) => `${keysUrl}/${checkSid("SK", sid)}.json`;
  const webhookUrl = (sid: string) => `${webhooksUrl}/${checkSid("YW", sid)}`;

  const keys: Keys = {
    ...createList(send, `${keysUrl}.json`, keyListSchema, (list) => ({
      items: list.keys,
      page: list.page,
      page_size: list.page_size,
      nextLink: list.next_page_uri,
      previousLink: list.previous_page_uri,
    })),
    async fetch(sid, { signal } = {}) {
      return send({ method: "GET", url: keyUrl(sid), signal }, keySchema);
    },
    async create(input = {}, { signal } = {}) {
      const form = toFormPairs(parseInput("key", keyInputSchema, input));
      return send({ method: "POST", url: `${keysUrl}.json`, form, signal }, createdKeySchema);
    },
    async update(sid, input, { signal } = {}) {
      const form = toFormPairs(parseInput("key", keyInputSchema, input));
      return send({ method: "POST", url: keyUrl(sid), form, signal }, keySchema);
    },
    async delete(sid, { signal, force = false } = {}) {
      const request = { method: "DELETE", url: keyUrl(sid), signal } as const;
      if (sid === username && !force) throw createApiError(request, "OWN_KEY", undefined, 409);
      await send(request, nothing);
    },
  };

  const webhooks: Webhooks = {
    ...createList(send, webhooksUrl, webhookListSchema, (list) => ({
      items: list.webhooks,
      page: list.meta.page,
      page_size: list.meta.page_size,
      nextLink: list.meta.next_page_url,
      previousLink: list.meta.previous_page_url,
    })),
    async fetch(sid, { signal } = {}) {
      return send({ method: "GET", url: webhookUrl(sid), signal }, webhookSchema);
    },
    async create(input, { signal } = {}) {
      const form = toFormPairs(parseInput("webhook", webhookInputSchema, input));
      return send({ method: "POST", url: webhooksUrl, form, signal }, webhookSchema);
    },
    async update(sid, input, { signal } = {}) {
      const form = toFormPairs(parseInput("webhook", webhookChangeSchema, input));
      return send({ method: "POST", url: webhookUrl(sid), form, signal }, webhookSchema);
    },
    async delete(sid, { signal } = {}) {
      await send({ method: "DELETE", url: webhookUrl(sid), signal }, nothing);
    },
    async ensure(input, { signal } = {}) {
      return ensureWebhook(webhooks, parseInput("webhook", webhookInputSchema, input), signal);
    },
    async check(receiver, { signal } = {}) {
      return checkWebhooks(webhooks.list({ signal }), receiver);
    },
  };

  const keySid = username === accountSid ? undefined : username;
  return { usesKey: keySid !== undefined, keySid, keys, webhooks };
}

/** Returns the parameters of a form: names in PascalCase, one pair for each value of a list. */
function toFormPairs(input: object): [name: string, value: string][] {
  return Object.entries(input as Record<string, string | string[] | undefined>).flatMap(
    ([name, value]) => {
      const parameter = name.replace(/(?:^|_)([a-z])/g, (_, letter: string) =>
        letter.toUpperCase(),
      );
      const values = value === undefined ? [] : [value].flat();
      return values.map((one): [string, string] => [parameter, one]);
    },
  );
}

function checkSid(prefix: "SK" | "YW", sid: unknown): string {
  return parseInput("sid", sidSchema(prefix), sid);
}

function sidRule(prefix: "AC" | "VA") {
  return {
    accepts: (value: unknown) => isSid(prefix, value),
    expected: `a SID: ${prefix} and 32 hexadecimal digits`,
  };
}

function baseUrlRule() {
  return {
    accepts: (value: unknown) =>
      typeof value === "string" &&
      /^https?:\/\/[^/?#@\s]+[^?#@\s]*$/i.test(value) &&
      parseUrl(value) !== undefined,
    expected:
      'an absolute http or https URL without user, query and fragment, such as "https://api.example.com"',
  };
}

function trimSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
