import { V2_PARAMETERS } from "./call-parameters";
import { sidSchema } from "./event-schema";
import { checkOptions, HEADER_NAME, oneOf, wholeNumber } from "./option-rules";
import type { OptionRule, OptionRules } from "./option-rules";
import type { UrlMatching } from "./signature";
import type { AuthTokenResolver, AuthTokens } from "./tokens";
import { isHttpUrl } from "./url";

/** Options of `verifyPushRequest`, and of `pushWebhooks` beside its own. */
export interface VerifyOptions {
  /**
   * The auth token of the account; several tokens of this one account while it rotates them; or a
   * function that finds the token of the account that a request claims to come from.
   */
  authToken: AuthTokens | AuthTokenResolver;
  /**
   * The webhook_url exactly as configured at the service, byte for byte: the signature covers it,
   * however a proxy changes the request. A list while a domain moves.
   */
  publicUrl: string | readonly string[];
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

/** Options of the verification with every default filled in. */
export interface VerifySettings {
  authToken: AuthTokens | AuthTokenResolver;
  publicUrls: readonly string[];
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

/** The rules of {@link VerifyOptions}. */
export const VERIFY_RULES: OptionRules<VerifyOptions> = {
  authToken: {
    accepts: (value) => typeof value === "function" || isListOf(isText)(value),
    expected:
      "the account's auth token, a list of several that has no empty one, or a function that finds it",
    required: true,
    secret: true,
  },
  publicUrl: {
    accepts: isListOf(isHttpUrl),
    expected:
      'the absolute http or https URL, or a list of those, that is configured as webhook_url at the service, such as "https://app.example.com/webhooks/push"',
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
 * Checks what no single rule can, and fills in the defaults.
 *
 * @throws TypeError for options that do not go together.
 */
export function fillVerifyDefaults(owner: string, options: VerifyOptions): VerifySettings {
  const { authToken, allowedAccountSids } = options;
  if (Array.isArray(authToken) && authToken.length > 1 && (allowedAccountSids?.length ?? 0) > 1) {
    throw new TypeError(
      `${owner}: a list of tokens is for the rotation of one account, and nothing binds its tokens to the accounts of allowedAccountSids. Pass a function as authToken that returns the tokens of the account it is asked for.`,
    );
  }
  return {
    // A copy: what the caller does to its list later changes nothing here.
    authToken: Array.isArray(authToken) ? [...(authToken as readonly string[])] : authToken,
    publicUrls: Object.freeze([options.publicUrl].flat()),
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
