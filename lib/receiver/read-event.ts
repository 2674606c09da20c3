import { assertAllowed } from "./allow-lists";
import { createFindAmbiguity } from "./ambiguity";
import type { AuthenticatedRequest } from "./authenticate";
import type { VerifySettings } from "./verify-options";
import { WebhookError } from "../errors/webhook-error";
import { parseEvent } from "../event/parse";
import { createFindUrlAmbiguity } from "../signature/signed-parts";

/**
 * Creates the step that parses the event of an authenticated webhook request, and finds the indexes
 * of the token and of the publicUrl that were signed with. It throws a WebhookError
 * `PAYLOAD_INVALID`, `PAYLOAD_AMBIGUOUS` for a text that also fits another event, or
 * `ACCOUNT_NOT_ALLOWED`, for a service that is not allowed too.
 */
export function createReadEvent(settings: VerifySettings) {
  const findAmbiguity = createFindAmbiguity(settings.extraParameters);
  const findUrlAmbiguity = createFindUrlAmbiguity(settings.publicUrls, settings.urlMatching);

  return function readEvent({ method, parts, match, account }: AuthenticatedRequest) {
    const { authTokenIndex, signedUrl, signedText } = match;
    const event = parseEvent(parts.params);
    // A slice of the text that was signed: searching the joined parameters would copy them first.
    const text = signedText.slice(signedUrl.length);
    const publicUrlIndex = parts.publicUrlIndexes[parts.signedUrls.indexOf(signedUrl)] ?? 0;
    const ambiguity =
      findUrlAmbiguity(signedUrl, text, publicUrlIndex) ??
      // The separators of a query leave one reading of a GET request.
      (method === "GET" ? undefined : findAmbiguity(event, text));
    if (ambiguity !== undefined) {
      throw new WebhookError(
        "PAYLOAD_AMBIGUOUS",
        `The request is signed, but the signature also fits another event: ${ambiguity}.`,
      );
    }
    assertAllowed(settings, account.serviceSids, event);
    account.markVerified();
    return { event, authTokenIndex, publicUrlIndex };
  };
}
