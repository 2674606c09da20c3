import { z } from "zod";
import { validateOptions } from "../../validation/validate-options";
import { sidSchema } from "../../event/schema";
import type { Pair } from "../../form/form";
import { checkWebhooks, type Finding, type Receiver } from "./configuration-drift";
import { ensureWebhook, type Ensured } from "./ensure-webhook";
import { CLIENT_RULES, type AdminClientOptions } from "./options";
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

/** Keys of the account (section 4.1). Requires the credentials of the account or of a Main key. */
export interface Keys extends List<Key> {
  /**
   * Fetches a Key, without its secret (section 4.1).
   *
   * @throws ApiError, `SERVICE_ERROR` with status 404 for a SID that is not known; InputError for one
   *   that is malformed.
   */
  fetch(sid: string, options?: RequestOptions): Promise<Key>;
  /**
   * Creates a Standard key and returns it with its secret, which no other response has. The path is
   * that of the list: the specification does not show one.
   *
   * @throws ApiError; InputError for a name over 64 characters.
   */
  create(input?: KeyInput, options?: RequestOptions): Promise<CreatedKey>;
  /**
   * Changes the name of a Key and returns the Key (section 4.1).
   *
   * @throws ApiError, `SERVICE_ERROR` with status 404 for a SID that is not known; InputError for a
   *   name over 64 characters.
   */
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
  /**
   * Fetches a Webhook.
   *
   * @throws ApiError, `SERVICE_ERROR` with status 404 for a SID that is not known; InputError for one
   *   that is malformed.
   */
  fetch(sid: string, options?: RequestOptions): Promise<Webhook>;
  /**
   * Creates a Webhook, by default enabled and of version v2. A second one for the same URL sends each
   * event twice: {@link Webhooks.ensure} creates none.
   *
   * @throws ApiError; InputError for a parameter that section 4.2 does not allow.
   */
  create(input: WebhookInput, options?: RequestOptions): Promise<Webhook>;
  /**
   * Changes the given parameters of a Webhook, keeps the others, and returns the Webhook.
   *
   * @throws ApiError, `SERVICE_ERROR` with status 404 for a SID that is not known; InputError for a
   *   parameter that section 4.2 does not allow.
   */
  update(sid: string, input: WebhookChange, options?: RequestOptions): Promise<Webhook>;
  /**
   * Deletes a Webhook: the service sends it no further events.
   *
   * @throws ApiError, `SERVICE_ERROR` with status 404 for a SID that is not known; InputError for one
   *   that is malformed.
   */
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
  validateOptions("createAdminClient", options, CLIENT_RULES);
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
function toFormPairs(input: Record<string, string | readonly string[] | undefined>): Pair[] {
  return Object.entries(input).flatMap(([name, value = []]) => {
    const words = name.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
    return [value].flat().map((one): Pair => [words.join(""), one]);
  });
}

function checkSid(prefix: "SK" | "YW", sid: unknown): string {
  return parseInput("sid", sidSchema(prefix), sid);
}

function trimSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
