import * as z from "zod";
import type { Pair } from "../../kit/pairs";
import { checkWebhooks } from "./configuration-drift";
import { ensureWebhook } from "./ensure-webhook";
import type { Challenges, Factors, Keys, Webhooks } from "./resources";
import { checkClientOptions, type AdminClientOptions } from "./options";
import { InputError } from "./input-error";
import { listFactorDifferences } from "./factor-differences";
import { createList } from "./list";
import {
  challengeKeySchema,
  comparedFactorsSchema,
  factorKeySchema,
  factorUserSchema,
  keyInputSchema,
  parseInput,
  webhookChangeSchema,
  webhookInputSchema,
} from "./input-rules";
import {
  challengeSchema,
  createdKeySchema,
  factorListSchema,
  factorSchema,
  keyListSchema,
  keySchema,
  webhookListSchema,
  webhookSchema,
} from "./resource-schemas";
import { ApiError, createApiError } from "./api-error";
import { accesses } from "./service-access";
import { Transport, type Send } from "./transport";

/** Client of the two REST APIs of the service. */
export interface AdminClient {
  /** The option `accountSid`. */
  readonly accountSid: string;
  /** The option `serviceSid`; `""` without it. */
  readonly serviceSid: string;
  /** Whether the client authenticates with a Key instead of the account. */
  readonly usesKey: boolean;
  /** The SID of the Key that the client authenticates with; undefined without one. */
  readonly keySid: string | undefined;
  readonly keys: Keys;
  readonly webhooks: Webhooks;
  readonly challenges: Challenges;
  readonly factors: Factors;
}

/**
 * Creates a client of the account API and the verification API. Its methods throw InputError before
 * they send a request, or ApiError.
 *
 * @throws TypeError for an unknown or invalid option.
 */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  const checked = checkClientOptions(options);
  const { accountSid, serviceSid = "", accountUrl, verifyUrl, username = accountSid } = checked;
  const transport = new Transport(checked, username);
  const keysUrl = `${trimSlash(accountUrl ?? NO_URL)}/2010-04-01/Accounts/${accountSid}/Keys`;
  const serviceUrl = `${trimSlash(verifyUrl ?? NO_URL)}/v2/Services/${serviceSid}`;
  const keySid = username === accountSid ? undefined : username;
  const usesKey = keySid !== undefined;

  const send: Send = async (request, schema) => {
    if (verifyUrl === undefined) throw createMissingUrl("verifyUrl");
    return transport.send(request, schema);
  };
  const webhooks = createWebhooks(send, `${serviceUrl}/Webhooks`);

  const sendForKeys: Send = async (request, schema) => {
    if (accountUrl === undefined) throw createMissingUrl("accountUrl");
    try {
      return await transport.send(request, schema);
    } catch (error) {
      if (!(await needsMainKey(error, request.signal))) throw error;
      throw createApiError(request, "MAIN_KEY_REQUIRED", error, (error as ApiError).status);
    }
  };

  /** Whether the service rejected a valid Standard key, and not wrong credentials. */
  async function needsMainKey(error: unknown, signal: AbortSignal | undefined): Promise<boolean> {
    if (keySid === undefined || !(error instanceof ApiError)) return false;
    if (error.status !== 401) return error.status === 403;
    try {
      await webhooks.page({ pageSize: 1, signal });
      return true;
    } catch {
      signal?.throwIfAborted();
      // Wrong credentials are rejected everywhere.
      return false;
    }
  }

  const keys = createKeys(sendForKeys, keysUrl, username);
  const users = createUserResources(send, serviceUrl);
  const client = { accountSid, serviceSid, usesKey, keySid, keys, webhooks, ...users };
  accesses.set(client, { send, serviceUrl });
  return client;
}

function createKeys(send: Send, keysUrl: string, ownKeySid: string): Keys {
  const urlOf = (sid: string) => `${keysUrl}/${parseInput("sid", keySchema.shape.sid, sid)}.json`;
  return {
    ...createList(send, `${keysUrl}.json`, keyListSchema),
    fetch: async (sid, { signal } = {}) =>
      send({ method: "GET", url: urlOf(sid), signal }, keySchema),
    async create(input = {}, { signal } = {}) {
      const form = toFormPairs(parseInput("key", keyInputSchema, input));
      return send({ method: "POST", url: `${keysUrl}.json`, form, signal }, createdKeySchema);
    },
    async update(sid, input, { signal } = {}) {
      const form = toFormPairs(parseInput("key", keyInputSchema, input));
      return send({ method: "POST", url: urlOf(sid), form, signal }, keySchema);
    },
    async delete(sid, { signal, force = false } = {}) {
      const request = { method: "DELETE", url: urlOf(sid), signal } as const;
      if (sid === ownKeySid && !force) throw createApiError(request, "OWN_KEY", undefined, 409);
      await send(request, z.unknown());
    },
  };
}

function createWebhooks(send: Send, webhooksUrl: string): Webhooks {
  const urlOf = (sid: string) =>
    `${webhooksUrl}/${parseInput("sid", webhookSchema.shape.sid, sid)}`;
  const webhooks: Webhooks = {
    ...createList(send, webhooksUrl, webhookListSchema),
    fetch: async (sid, { signal } = {}) =>
      send({ method: "GET", url: urlOf(sid), signal }, webhookSchema),
    async create(input, { signal } = {}) {
      const form = toFormPairs(parseInput("webhook", webhookInputSchema, input));
      return send({ method: "POST", url: webhooksUrl, form, signal }, webhookSchema);
    },
    async update(sid, input, { signal } = {}) {
      const form = toFormPairs(parseInput("webhook", webhookChangeSchema, input));
      return send({ method: "POST", url: urlOf(sid), form, signal }, webhookSchema);
    },
    async delete(sid, { signal } = {}) {
      await send({ method: "DELETE", url: urlOf(sid), signal }, z.unknown());
    },
    ensure: async (input, { signal } = {}) =>
      ensureWebhook(webhooks, parseInput("webhook", webhookInputSchema, input), signal),
    check: async (receiver, { signal } = {}) => checkWebhooks(webhooks.list({ signal }), receiver),
  };
  return webhooks;
}

function createUserResources(
  send: Send,
  serviceUrl: string,
): Pick<AdminClient, "challenges" | "factors"> {
  /** The URL of a resource of a user, and its path without the user. */
  const locate = (entityIdentity: string, resource: string) => ({
    url: `${serviceUrl}/Entities/${encodeURIComponent(entityIdentity)}/${resource}`,
    shownPath: new URL(`${serviceUrl}/Entities/-/${resource}`).pathname,
  });
  const challenges: Challenges = {
    async fetch(key, { signal, maxRetries } = {}) {
      const { entityIdentity, challengeSid } = parseInput("challenge", challengeKeySchema, key);
      const location = locate(entityIdentity, `Challenges/${challengeSid}`);
      return send({ method: "GET", ...location, signal, maxRetries }, challengeSchema);
    },
  };
  const factors: Factors = {
    async fetch(key, { signal, maxRetries } = {}) {
      const { entityIdentity, factorSid } = parseInput("factor", factorKeySchema, key);
      const location = locate(entityIdentity, `Factors/${factorSid}`);
      return send({ method: "GET", ...location, signal, maxRetries }, factorSchema);
    },
    async *list(user, query) {
      const { entityIdentity } = parseInput("user", factorUserSchema, user);
      const { url, shownPath } = locate(entityIdentity, "Factors");
      yield* createList(send, url, factorListSchema, shownPath).list(query);
    },
    async compare(input, { signal } = {}) {
      const { known, ...user } = parseInput("input", comparedFactorsSchema, input);
      return listFactorDifferences(factors.list(user, { signal }), known);
    },
  };
  return { challenges, factors };
}

/** Names are in PascalCase; a list has one pair for each value. */
function toFormPairs(input: Record<string, string | readonly string[] | undefined>): Pair[] {
  return Object.entries(input).flatMap(([name, value = []]) => {
    const words = name.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
    return [value].flat().map((one): Pair => [words.join(""), one]);
  });
}

/** In the URLs of an API that is not used. */
const NO_URL = "http://url-not-set.invalid";

function createMissingUrl(name: "accountUrl" | "verifyUrl"): InputError {
  const message = "this method needs the option of createAdminClient, which is not set";
  return new InputError(name, [{ path: name, message }]);
}

function trimSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
