import type { Confirm } from "../delivery/confirmation";
import { isPushEventType, PUSH_EVENT_TYPES, type PushEventType } from "../event/event";
import { KNOWN_NAMES } from "../event/event-parameters";
import { isSid } from "../../kit/sid";
import { CONFIRM, HEADER_NAME } from "../../kit/option-rules";
import { isText, oneOf, wholeNumber } from "../../kit/validate-options";
import type { OptionRule, OptionRules } from "../../kit/validate-options";
import { AUTH_TOKEN, isAuthToken, warnOfShortToken } from "../../kit/auth-token";
import { SIGNATURE_HEADERS } from "../signature/signature-headers";
import type { UrlMatching } from "../signature/signed-urls";
import type { AuthTokenResolver, AuthTokens } from "./auth-tokens";
import { isHttpUrl } from "../../kit/url";

/** A method of webhook requests. */
export type PushMethod = "GET" | "POST";

/** Which webhook requests are accepted. */
export interface VerifyOptions {
  /**
   * The auth token of the account; a list of tokens of this account during a rotation; or a
   * function that returns the tokens of the account that a request claims to come from. A text that
   * anyone can guess, such as `""`, `"undefined"` or a SID, and white space at an end are rejected.
   * The type allows undefined, for `process.env`: it throws.
   */
  authToken: AuthTokens | AuthTokenResolver | undefined;
  /**
   * The webhook_url exactly as configured at the service, byte for byte. The signature covers this
   * URL, even if a proxy changes the request. A list of at most 20 while you move to another domain.
   */
  publicUrl: string | readonly string[] | undefined;
  /**
   * The methods that are accepted. Add `"GET"` only for a Webhook whose `webhook_method` is GET:
   * an attacker who makes the service
   * call a URL by GET chooses parameters that the service signs.
   * @default ["POST"]
   */
  methods?: readonly PushMethod[] | undefined;
  /**
   * The name of the signature header, or a list of names: a request must have one of them, once.
   * @default ["X-Service-Signature", "X-Twilio-Signature"]
   */
  signatureHeader?: string | readonly string[] | undefined;
  /** `"ports"` accepts the URL with or without its port, `"exact"` does not. @default "ports" */
  urlMatching?: UrlMatching | undefined;
  /** The largest body that is accepted, in bytes. @default 65_536 */
  limitBytes?: number | undefined;
  /**
   * The accounts whose events are accepted. With several accounts, `authToken` must be a function
   * or one token. @default `account_sid` is not checked: every account whose token signed the request
   */
  allowedAccountSids?: readonly string[] | undefined;
  /**
   * The services whose events are accepted. This does not authenticate a service: the requests of
   * all services of an account are signed with the token of the account. @default every service
   */
  allowedServiceSids?: readonly string[] | undefined;
  /**
   * Names of parameters that the service sends beyond the specification. None needs to be in every
   * request. A declared name may end an identity or a uuid that contains it, so declare only
   * parameters that the service sends. @default none
   */
  extraParameters?: readonly string[] | undefined;
  /**
   * Returns whether an authentic event is true, by a source other than its signature; `confirmWith`
   * of `express-push-verification/admin` asks the API of the service. With `false` the request is
   * rejected with `NOT_CONFIRMED`. It decides about the events of `confirmTypes`, and about each
   * event of a known type whose text can be read in another way: without `confirm`, such a request
   * is rejected with `PAYLOAD_AMBIGUOUS`. With a queue, a worker calls it after the response: that
   * of `push.handlers` in this process, or its own option `confirm`.
   * @default none: the signature is the only proof
   */
  confirm?: Confirm | undefined;
  /**
   * The types of event to confirm.
   * @default ["challenge.approved", "challenge.denied"]
   */
  confirmTypes?: readonly PushEventType[] | undefined;
}

/** {@link VerifyOptions}, validated, with each default. */
export type VerifySettings = ReturnType<typeof fillVerifyDefaults>;

export const VERIFY_RULES: OptionRules<VerifyOptions> = {
  authToken: {
    ...AUTH_TOKEN,
    accepts: (value) => typeof value === "function" || isListOf(isAuthToken)(value),
    expected: `${AUTH_TOKEN.expected}; or a list of such tokens, or a function that returns them`,
    required: true,
  },
  publicUrl: {
    // Each is one HMAC for a request, also for one of an untrusted client.
    accepts: (value) => isListOf(isHttpUrl)(value) && [value].flat().length <= 20,
    expected:
      'the webhook_url exactly as configured at the service, an absolute http or https URL such as "https://app.example.com/webhooks/push", or a list of at most 20 such URLs; many accounts need one URL and a function as authToken',
    required: true,
  },
  methods: {
    accepts: isFilledList((one) => one === "POST" || one === "GET"),
    expected: '["POST"], ["POST", "GET"] or ["GET"]',
  },
  signatureHeader: {
    accepts: isListOf(HEADER_NAME.accepts),
    expected: `${HEADER_NAME.expected}, or a list of such names that is not empty`,
  },
  urlMatching: oneOf("exact", "ports"),
  limitBytes: wholeNumber(1, 2 ** 30, "bytes"),
  allowedAccountSids: sidsRule("AC"),
  allowedServiceSids: sidsRule("VA"),
  extraParameters: {
    accepts: (value) => Array.isArray(value) && value.every(isExtraName),
    expected:
      "a list of parameter names of up to 100 characters, none of which is in the specification, contains AccountSid or bodySHA256, or contains entity_identity and sorts before it",
  },
  confirm: CONFIRM,
  confirmTypes: {
    accepts: isFilledList((type) => isPushEventType(type as string)),
    expected: `a list of types of event that is not empty, of ${PUSH_EVENT_TYPES.join(", ")}`,
  },
};

/**
 * Validates combinations of options of the function `owner` and adds their defaults.
 *
 * @throws TypeError for options that must not be combined.
 */
export function fillVerifyDefaults(owner: string, options: VerifyOptions) {
  const { allowedAccountSids, allowedServiceSids, extraParameters = [] } = options;
  // Validated: both are set.
  const { authToken, publicUrl } = options as {
    authToken: AuthTokens | AuthTokenResolver;
    publicUrl: string | readonly string[];
  };
  if (Array.isArray(authToken) && authToken.length > 1 && (allowedAccountSids?.length ?? 0) > 1) {
    throw new TypeError(
      `${owner}: option authToken must not be a list when allowedAccountSids has several accounts, because a list does not say which token belongs to which account. Pass a function as authToken that returns the tokens of the claimed account.`,
    );
  }
  if (options.confirmTypes !== undefined && options.confirm === undefined) {
    throw new TypeError(
      `${owner}: option confirmTypes must not be set without option confirm. Pass the function confirm, or remove confirmTypes.`,
    );
  }
  // The text "txn1uuid2zuuid3" is txn=1, uuid=2, zuuid=3, or txn=1uuid2z, uuid=3.
  const beforeUuid = extraParameters.find((name) => name > "type" && name < "uuid");
  const afterUuid = extraParameters.find((name) => name > "uuid" && name.endsWith("uuid"));
  if (beforeUuid !== undefined && afterUuid !== undefined) {
    throw new TypeError(
      `${owner}: option extraParameters must not have ${JSON.stringify(beforeUuid)} together with ${JSON.stringify(afterUuid)}, because the uuid of a request with both has two readings. Declare the one that the service sends.`,
    );
  }
  if (typeof authToken !== "function") warnOfShortToken([authToken].flat());
  return {
    // Copied, so that a later change of the list has no effect.
    authToken: Array.isArray(authToken) ? [...(authToken as readonly string[])] : authToken,
    publicUrls: Object.freeze([publicUrl].flat()),
    methods: [...new Set(options.methods ?? (["POST"] as const))],
    /** In lower case, each once. */
    signatureHeaders: listNames(options.signatureHeader ?? SIGNATURE_HEADERS),
    urlMatching: options.urlMatching ?? "ports",
    limitBytes: options.limitBytes ?? 65_536,
    /** Undefined: every account. */
    allowedAccountSids: allowedAccountSids && new Set(allowedAccountSids),
    /** Undefined: every service. */
    allowedServiceSids: allowedServiceSids && new Set(allowedServiceSids),
    extraParameters: Object.freeze([...extraParameters]),
    confirm: options.confirm,
    /** Empty without `confirm`. */
    confirmTypes: new Set<string>(
      options.confirm && (options.confirmTypes ?? ["challenge.approved", "challenge.denied"]),
    ),
  };
}

function listNames(headers: string | readonly string[]): readonly string[] {
  return [...new Set([headers].flat().map((name) => name.toLowerCase()))];
}

function sidsRule(prefix: "AC" | "VA"): OptionRule {
  return {
    accepts: isFilledList((sid) => isSid(prefix, sid)),
    expected: `a list of SIDs (${prefix} and 32 hexadecimal digits) that is not empty`,
  };
}

/** Accepts one value, or a list that is not empty. */
function isListOf(accepts: (value: unknown) => boolean) {
  return (value: unknown) => isFilledList(accepts)([value].flat());
}

function isFilledList(accepts: (value: unknown) => boolean) {
  return (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(accepts);
}

function isExtraName(name: unknown): boolean {
  if (!isText(name) || name.length > 100 || KNOWN_NAMES.has(name)) return false;
  if (/AccountSid|bodySHA256/.test(name)) return false;
  return name > "entity_identity" || !name.includes("entity_identity");
}
