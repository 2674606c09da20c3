import { areWellFormed } from "../signature/signature";
import { signRequest, type SignRequestOptions } from "../signature/signed-request";
import { addCode } from "./response";
import { createVerify, type VerifiedEvent } from "./verify";
import { fillVerifyDefaults, type VerifyOptions } from "./verify-options";
import { readGiven } from "./verify-push-request";

/**
 * Signs a webhook request that a receiver with these options accepts; returns it with its event.
 *
 * @throws TypeError for a lone surrogate, which has no UTF-8 form; WebhookError: the rejection of the
 *   receiver.
 */
export function signAcceptedRequest(signing: SignRequestOptions, options: Partial<VerifyOptions>) {
  const { authToken, webhookUrl: publicUrl, method, signatureHeader, params } = signing;
  if (!areWellFormed(params)) {
    throw new TypeError(
      "Each parameter must be well-formed Unicode; a lone surrogate has no UTF-8 form.",
    );
  }
  const request = signRequest(signing);
  const own = { authToken, publicUrl, signatureHeader, methods: [method] };
  const settings = fillVerifyDefaults("signedRequest", { ...options, ...own });
  try {
    // No promise: it has the body and the token.
    const { event } = createVerify(settings)(readGiven(request)) as VerifiedEvent;
    return { request, event };
  } catch (error) {
    throw addCode(error);
  }
}
