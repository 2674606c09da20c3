import { AUTH_TOKEN, isAuthToken } from "../../kit/auth-token";
import type { Pair } from "../../kit/pairs";
import { isHttpUrl } from "../../kit/url";
import { validateOptions, type OptionRules } from "../../kit/validate-options";
import { areWellFormed } from "../signature/signature";
import { SIGNATURE_HEADERS } from "../signature/signature-headers";
import { signRequest, type SignRequestOptions } from "../signature/signed-request";
import { isUuidUnique } from "./ambiguity";
import { addCode } from "./response";
import { createVerify, type VerifiedEvent } from "./verify";
import { fillVerifyDefaults, VERIFY_RULES, type VerifyOptions } from "./verify-options";
import { readGiven } from "./verify-push-request";

/**
 * The options of the receiver that the request is for. Other options of `pushWebhooks` are ignored, so
 * its options object can be passed: a receiver may still reject the method, the account or the service.
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

/**
 * Signs a webhook request that a receiver with these settings accepts; returns it with its event.
 *
 * @throws TypeError for a setting that is not valid, a uuid with two readings, and a lone surrogate,
 *   which has no UTF-8 form; WebhookError: the rejection of the receiver.
 */
export function signAcceptedRequest(
  settings: ReceiverSettings,
  sent: Pick<SignRequestOptions, "method" | "contentType" | "params">,
) {
  const { authToken, publicUrl, signatureHeader, ...others } = Object(settings) as ReceiverSettings;
  const { limitBytes, extraParameters, confirm } = others;
  const checks = { limitBytes, extraParameters, confirm };
  const receiver = { authToken, publicUrl, signatureHeader, ...checks };
  validateOptions("signedRequest", receiver, SETTINGS_RULES);
  assertParams(sent.params);
  const own = {
    // Not a function: SETTINGS_RULES accepts none.
    authToken: [authToken as string | readonly string[]].flat()[0] ?? "",
    signatureHeader: [signatureHeader ?? SIGNATURE_HEADERS].flat()[0] ?? "",
  };
  const [webhookUrl = ""] = [publicUrl].flat();
  const request = signRequest({ ...sent, ...own, webhookUrl });
  const options = { ...checks, ...own, publicUrl: webhookUrl, methods: [sent.method] };
  try {
    const verify = createVerify(fillVerifyDefaults("signedRequest", options));
    // No promise: it has the body and the token.
    const { event } = verify(readGiven(request)) as VerifiedEvent;
    return { request, event };
  } catch (error) {
    throw addCode(error);
  }
}

function assertParams(params: readonly Pair[]): void {
  const [, uuid] = params.find(([name]) => name === "uuid") ?? [];
  if (uuid !== undefined && !isUuidUnique(uuid)) {
    throw new TypeError(
      `uuid must not begin with a UUID, 32 hexadecimal digits or a SID and go on with a character from u on; received ${JSON.stringify(uuid)}. A receiver without confirm rejects it. Pass another, such as crypto.randomUUID().`,
    );
  }
  if (!areWellFormed(params)) {
    throw new TypeError(
      "Each parameter must be well-formed Unicode; a lone surrogate has no UTF-8 form.",
    );
  }
}
