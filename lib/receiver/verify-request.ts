import { createAuthenticate, type ReceivedEvidence } from "./authenticate";
import { readParams } from "./body";
import type { ExplainBudget } from "./explain-budget";
import { checkHeaders, uncoveredBody } from "./headers";
import { createCheckEvent } from "./check-event";
import type { VerifySettings } from "./verify-options";
import { joinReceivedUrl, type IncomingRequest } from "./incoming-request";
import { createGetParts, createPostParts } from "../signature/signed-parts";

/**
 * Creates the request path from the headers of a webhook request to its event. Each step returns
 * the input of the next one, or throws an error, which may have no code.
 */
export function createVerifyRequest(settings: VerifySettings, explainBudget?: ExplainBudget) {
  const { publicUrls, urlMatching, limitBytes } = settings;
  const postParts = createPostParts(publicUrls, urlMatching);
  const getParts = createGetParts(publicUrls, urlMatching);
  const authenticate = createAuthenticate(settings, explainBudget);
  const checkEvent = createCheckEvent(settings);

  /** @param deadlineAtMs when to give up a token lookup, as `performance.now()` counts. */
  return async function verifyRequest(request: IncomingRequest, deadlineAtMs?: number) {
    const checked = checkHeaders(request, settings);
    const body = await request.readBody(checked.hasBody);
    request.body = body ?? "";
    const params = readParams(body, limitBytes);
    const isGet = checked.method === "GET";
    if (isGet && params.length > 0) throw uncoveredBody();
    const signedParts = isGet ? getParts(request.target) : postParts(params);
    // readParams has accepted the body.
    const accepted = body as ReceivedEvidence["body"];
    const readEvidence = () => ({ receivedUrl: joinReceivedUrl(request), body: accepted });
    const authenticated = await authenticate(checked, signedParts, readEvidence, deadlineAtMs);
    const { signature, listOtherSignatures } = authenticated;
    return { ...checkEvent(authenticated), signature, listOtherSignatures };
  };
}
