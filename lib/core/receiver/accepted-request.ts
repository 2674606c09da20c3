import { createGetParts, createPostParts } from "../signature/signed-parts";
import { joinParams } from "../signature/signature";
import { signRequest, type SignRequestOptions } from "../signature/signed-request";
import { readParams } from "./body";
import { createCheckEvent } from "./check-event";
import { checkHeaders } from "./method-and-headers";
import { addCode } from "./response";
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
  if (!joinParams(params).isWellFormed()) {
    throw new TypeError(
      "Each parameter must be well-formed Unicode; a lone surrogate has no UTF-8 form.",
    );
  }
  const request = signRequest(signing);
  const own = { authToken, publicUrl, signatureHeader, methods: [method] };
  const settings = fillVerifyDefaults("signedRequest", { ...options, ...own });
  const { publicUrls, urlMatching, limitBytes } = settings;
  const { url, body = "" } = request;
  try {
    checkHeaders(readGiven(request), settings);
    const alternatives =
      method === "GET"
        ? createGetParts(publicUrls, urlMatching)(url)
        : createPostParts(publicUrls, urlMatching)(readParams(body, limitBytes));
    const [parts] = alternatives as [(typeof alternatives)[0]];
    const joined = joinParams(parts.signedParams);
    const match = { authTokenIndex: 0, signedUrl: parts.signedUrls[0] ?? "" };
    const authenticated = { method, parts, joined, match, serviceSids: undefined };
    return { request, event: createCheckEvent(settings)(authenticated).event };
  } catch (error) {
    throw addCode(error);
  }
}
