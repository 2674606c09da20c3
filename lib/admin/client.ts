import { z } from "zod";
import { checkOptions, MAX_TIMER_MS, wholeNumber, type OptionRules } from "../option-rules";
import { parseUrl } from "../url";
import { checkWebhooks, type Finding, type Receiver } from "./drift";
import { ensureWebhook, type Ensured } from "./ensure";
import { parseInput } from "./input";
import type { CreatedKey, Key, KeyInput } from "./key";
import { createList, type List } from "./list";
import {
  createdKeySchema,
  keyInputSchema,
  keyListSchema,
  keySchema,
  resourceSidSchema,
  webhookChangeSchema,
  webhookInputSchema,
  webhookListSchema,
  webhookSchema,
} from "./resources";
import { createSend, failure, type CallOptions } from "./transport";
import type { Webhook, WebhookChange, WebhookInput } from "./webhook";

/** Where the service is, and as whom to speak to it. */
export interface AdminClientOptions {
  /** Base URL of the account API, which has the Keys: {base_url} of the specification. */
  accountUrl: string;
  /** Base URL of the verification API, which has the Webhooks: {verify_url}. */
  verifyUrl: string;
  accountSid: string;
  serviceSid: string;
  /** The account SID, or the SID of a Key. @default `accountSid` */
  username?: string | undefined;
  /** The auth token of the account, or the secret of that Key. */
  password: string;
  /** How long a call may take with all its tries, in milliseconds. @default 10_000 */
  timeoutMs?: number | undefined;
  /** How often a call is tried again. @default 2 */
  maxRetries?: number | undefined;
  /** What sends the requests. @default the global `fetch` */
  fetch?: typeof globalThis.fetch | undefined;
}

/** The Keys of the account (specification, section 4.1). Needs the account, or a Main key. */
export interface Keys extends List<Key> {
  fetch(sid: string, options?: CallOptions): Promise<Key>;
  /** Creates a Standard key. Its secret is shown this once. */
  create(input?: KeyInput, options?: CallOptions): Promise<CreatedKey>;
  update(sid: string, input: KeyInput, options?: CallOptions): Promise<Key>;
  /** Deletes a Key; its own only with `force` (else an ApiError `OWN_KEY`, status 409). */
  delete(sid: string, options?: CallOptions & { force?: boolean | undefined }): Promise<void>;
}

/** The Webhooks of the verification service (section 4.2). */
export interface Webhooks extends List<Webhook> {
  fetch(sid: string, options?: CallOptions): Promise<Webhook>;
  create(input: WebhookInput, options?: CallOptions): Promise<Webhook>;
  update(sid: string, input: WebhookChange, options?: CallOptions): Promise<Webhook>;
  delete(sid: string, options?: CallOptions): Promise<void>;
  /**
   * Makes sure that there is a Webhook for `webhook_url` that is as given: creates it, changes
   * only what differs, or leaves it alone. Deploys that do so at the same time end up with one.
   */
  ensure(input: WebhookInput, options?: CallOptions): Promise<Ensured>;
  /** Lists what differs between the Webhooks that are configured and a receiver. */
  check(receiver: Receiver, options?: CallOptions): Promise<Finding[]>;
}

/** The two REST APIs of the service. */
export interface AdminClient {
  /** Whether it speaks as a Key, not as the account. */
  readonly usesKey: boolean;
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
  maxRetries: wholeNumber(0, 10, "tries"),
  fetch: {
    accepts: (value) => typeof value === "function",
    expected: "a function like the global fetch",
  },
};

const nothing = z.unknown();

/**
 * Makes a client of the account API and the verification API.
 *
 * Every call checks its arguments before anything is sent, and rejects with an InputError (a
 * TypeError) or an ApiError.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  checkOptions("createAdminClient", options, RULES);
  const { accountSid, serviceSid, username = accountSid } = options;
  const send = createSend({
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
      const form = listParameters(parseInput("key", keyInputSchema, input));
      return send({ method: "POST", url: `${keysUrl}.json`, form, signal }, createdKeySchema);
    },
    async update(sid, input, { signal } = {}) {
      const form = listParameters(parseInput("key", keyInputSchema, input));
      return send({ method: "POST", url: keyUrl(sid), form, signal }, keySchema);
    },
    async delete(sid, { signal, force = false } = {}) {
      const request = { method: "DELETE", url: keyUrl(sid), signal } as const;
      if (sid === username && !force) throw failure(request, "OWN_KEY", undefined, 409);
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
      const form = listParameters(parseInput("webhook", webhookInputSchema, input));
      return send({ method: "POST", url: webhooksUrl, form, signal }, webhookSchema);
    },
    async update(sid, input, { signal } = {}) {
      const form = listParameters(parseInput("webhook", webhookChangeSchema, input));
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

  return { usesKey: username !== accountSid, keys, webhooks };
}

/** Parameters as the service spells them: PascalCase, one for each value of a list. */
function listParameters(input: object): [name: string, value: string][] {
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
  return parseInput("sid", resourceSidSchema(prefix), sid);
}

function isSid(prefix: "AC" | "SK" | "VA", value: unknown): boolean {
  return resourceSidSchema(prefix).safeParse(value).success;
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
