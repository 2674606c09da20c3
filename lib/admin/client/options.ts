import { isSid } from "../../kit/sid";
import { parseUrl } from "../../kit/url";
import { DURATION_MS, FUNCTION, sidRule } from "../../kit/option-rules";
import {
  isText,
  validateOptions,
  wholeNumber,
  type OptionRule,
  type OptionRules,
} from "../../kit/validate-options";

/**
 * Options of `createAdminClient`. The types allow undefined, for `process.env`: it throws. Leave
 * `accountUrl` out if you use no Keys, or `verifyUrl` and `serviceSid` if you use nothing else.
 */
export interface AdminClientOptions {
  /**
   * Base URL of the account API, which manages Keys: {base_url} of the specification.
   * @default none: the methods of `keys` throw InputError
   */
  accountUrl?: string | undefined;
  /**
   * Base URL of the verification API, which manages Webhooks: {verify_url}.
   * @default none: the methods of `webhooks`, `challenges` and `factors` throw InputError
   */
  verifyUrl?: string | undefined;
  accountSid: string | undefined;
  /** Required with `verifyUrl`. */
  serviceSid?: string | undefined;
  /** The account SID, or the SID of a Key. @default `accountSid` */
  username?: string | undefined;
  /**
   * The auth token of the account, or the secret of that Key. A list while it rotates: after a 401
   * the client tries the next one, and stays with the one that the service accepts.
   */
  password: string | readonly string[] | undefined;
  /** Longest time of a request with all its attempts, in milliseconds. @default 10_000 */
  timeoutMs?: number | undefined;
  /**
   * Number of retries after a failed attempt. After a 429 the client retries until `timeoutMs`,
   * unless this is 0. @default 2
   */
  maxRetries?: number | undefined;
  /** Sends the requests; also the `fetch` of undici. @default the global `fetch` at the time of a request */
  fetch?: ServiceFetch | undefined;
}

/** What each method of the client takes. */
export interface RequestOptions {
  /** Aborts the request: the promise rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** What `challenges.fetch` and `factors.fetch` take. */
export interface FetchOptions extends RequestOptions {
  /** As the option of the client. @default that one */
  readonly maxRetries?: number | undefined;
}

/** What the client uses of `fetch`. */
type ServiceFetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body: string | null;
    redirect: "manual";
    signal: AbortSignal;
  },
) => Promise<ServiceResponse>;

/** What the client uses of a response; its `body` is iterable, or null. */
export interface ServiceResponse {
  status: number;
  ok: boolean;
  headers: {
    get(name: string): string | null;
    [Symbol.iterator]?(): Iterator<[string, string]>;
  };
  body: unknown;
}

/** Validated options. */
export type CheckedClientOptions = AdminClientOptions & {
  accountSid: string;
  password: string | readonly string[];
};

const BASE_URL: OptionRule = {
  accepts: (value) =>
    typeof value === "string" &&
    /^https?:\/\/[^/?#@\s]+[^?#@\s]*$/i.test(value) &&
    parseUrl(value) !== undefined,
  expected:
    'an absolute http or https URL without user, query and fragment, such as "https://api.example.com"',
};

/** Validates options. @throws TypeError for an unknown or invalid one, and without any URL. */
export function checkClientOptions(options: AdminClientOptions): CheckedClientOptions {
  const { accountUrl, verifyUrl, serviceSid, ...rules } = CLIENT_RULES;
  // One that is left out is not needed; one that is undefined comes from a variable that is not set.
  const isGiven = (name: string) => Object.hasOwn(Object(options) as object, name);
  validateOptions("createAdminClient", options, {
    accountUrl: { ...accountUrl, required: isGiven("accountUrl") || !isGiven("verifyUrl") },
    verifyUrl: { ...verifyUrl, required: isGiven("verifyUrl") },
    serviceSid: { ...serviceSid, required: isGiven("serviceSid") || isGiven("verifyUrl") },
    ...rules,
  });
  return options as CheckedClientOptions;
}

const CLIENT_RULES: OptionRules<AdminClientOptions> = {
  accountUrl: BASE_URL,
  verifyUrl: BASE_URL,
  accountSid: { ...sidRule("AC"), required: true },
  serviceSid: sidRule("VA"),
  username: {
    accepts: (value) => isSid("AC", value) || isSid("SK", value),
    expected: "the SID of the account or of a Key (AC or SK and 32 hexadecimal digits)",
  },
  password: {
    accepts: (value) =>
      isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText)),
    expected:
      "the auth token of the account, or the secret of the Key that username names; or a list of them",
    required: true,
    secret: true,
  },
  timeoutMs: DURATION_MS,
  maxRetries: wholeNumber(0, 10, "retries"),
  fetch: { ...FUNCTION, expected: "a function like the global fetch" },
};
