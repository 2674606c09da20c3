import {
  type PushEventType,
  type PushEventVersion,
  SIGNATURE_HEADERS,
  VERIFY_RULES,
  type VerifyOptions,
  type WebhookRequest,
  signAcceptedRequest,
} from "../core/door";
import { AUTH_TOKEN, isAuthToken } from "../kit/auth-token";
import { FORM_CONTENT_TYPES } from "../kit/form-type";
import {
  isText,
  validateOptions,
  oneOf,
  type OptionRules,
  isMembers,
} from "../kit/validate-options";
import { isHttpUrl } from "../kit/url";
import { listFixturePairs, type EventFixtureOptions, type EventOverrides } from "./event-fixture";

/**
 * The options of the receiver that the request is for. Other options of `pushWebhooks` are ignored,
 * so that its options object can be passed unchanged: a receiver may still reject the method, the
 * account or the service.
 */
export interface ReceiverSettings {
  /**
   * The auth token, or the first of a list. A function is rejected with a TypeError: pass the token
   * that it returns for the account of the request, `{ ...options, authToken: "…" }`.
   */
  authToken: VerifyOptions["authToken"];
  /** The publicUrl, or the first of a list. */
  publicUrl: VerifyOptions["publicUrl"];
  /** The name of the signature header, or the first of a list. @default "X-Service-Signature" */
  signatureHeader?: string | readonly string[] | undefined;
  /** @default 65_536 */
  limitBytes?: VerifyOptions["limitBytes"] | undefined;
  /** @default none */
  extraParameters?: VerifyOptions["extraParameters"] | undefined;
  /** With it, a text with a second reading is no error. @default none */
  confirm?: VerifyOptions["confirm"] | undefined;
}

/** Options of {@link signedRequest}. */
export interface SignedRequestOptions<
  Version extends PushEventVersion = PushEventVersion,
> extends EventFixtureOptions<Version> {
  /** @default "POST" */
  method?: "GET" | "POST" | undefined;
  /** @default "application/x-www-urlencoded", the spelling of the specification */
  contentType?: string | undefined;
  /** Parameters that the specification does not have; they are signed too. @default none */
  extraParams?: Readonly<Record<string, string>> | undefined;
}

/** A signed webhook request, as the service sends it. */
export interface SignedRequest extends WebhookRequest {
  /** The path and the query of the URL, for supertest. */
  path: string;
}

const SETTINGS_RULES: OptionRules<ReceiverSettings> = {
  authToken: {
    accepts: (value) => isAuthToken([value].flat()[0]),
    expected: AUTH_TOKEN.expected,
    explain: () =>
      'Pass the token itself; instead of a function, the token that it returns: { ...options, authToken: "…" }.',
    required: true,
    secret: true,
  },
  publicUrl: {
    accepts: (value) => isHttpUrl([value].flat()[0]),
    expected: 'the publicUrl of the receiver, such as "https://app.example.com/webhooks/push"',
    required: true,
  },
  signatureHeader: VERIFY_RULES.signatureHeader,
  limitBytes: VERIFY_RULES.limitBytes,
  extraParameters: VERIFY_RULES.extraParameters,
  confirm: VERIFY_RULES.confirm,
};

const RULES: OptionRules<SignedRequestOptions> = {
  version: oneOf("v1", "v2"),
  method: oneOf("GET", "POST"),
  contentType: { accepts: isText, expected: `such as ${FORM_CONTENT_TYPES.join(" or ")}` },
  extraParams: {
    accepts: (value) =>
      isMembers(value) && Object.values(value).every((one) => typeof one === "string"),
    expected: "an object whose values are strings",
  },
};

/**
 * Creates a signed webhook request with realistic parameters and a new uuid, which the receiver
 * accepts.
 *
 * @param overrides parameters with other values; undefined omits one.
 *
 * @example
 * const { path, headers, body } = signedRequest({ authToken, publicUrl }, "challenge.approved");
 * await request(app).post(path).set(headers).send(body).expect(200);
 *
 * @throws TypeError for a type, a parameter or an option that is unknown or impossible; WebhookError
 *   with the code and the rule by which the receiver would reject the request, such as
 *   `PAYLOAD_INVALID`, `PAYLOAD_AMBIGUOUS`, `BODY_TOO_LARGE` and `CONTENT_TYPE_UNSUPPORTED`.
 */
export function signedRequest<Type extends PushEventType, Version extends PushEventVersion = "v2">(
  settings: ReceiverSettings,
  type: Type,
  overrides: EventOverrides<Type, Version> = {},
  options: SignedRequestOptions<Version> = {},
): SignedRequest {
  const { authToken, publicUrl, signatureHeader, ...others } = Object(settings) as ReceiverSettings;
  const { limitBytes, extraParameters, confirm } = others;
  const checks = { limitBytes, extraParameters, confirm };
  const receiver = { authToken, publicUrl, signatureHeader, ...checks };
  validateOptions("signedRequest", receiver, SETTINGS_RULES);
  validateOptions("signedRequest", options, RULES);
  const params = [
    ...listFixturePairs(type, overrides, options.version ?? "v2"),
    ...Object.entries(options.extraParams ?? {}),
  ];
  const signing = {
    // Not a function: SETTINGS_RULES accepts none.
    authToken: [authToken as string | readonly string[]].flat()[0] ?? "",
    webhookUrl: [publicUrl].flat()[0] ?? "",
    method: options.method ?? "POST",
    signatureHeader: [signatureHeader ?? SIGNATURE_HEADERS].flat()[0] ?? "",
    contentType: options.contentType ?? FORM_CONTENT_TYPES[0],
    params,
  };
  const { request } = signAcceptedRequest(signing, checks);
  const path = request.url.replace(/^[^:]+:\/\/[^/?]*/, "").replace(/^(?!\/)/, "/");
  return { ...request, path };
}
