import { createFindAmbiguity, findForeignParameter } from "./ambiguity";
import type { AuthenticatedRequest } from "./authenticate";
import type { VerifySettings } from "./verify-options";
import { WebhookError } from "../errors/webhook-error";
import { isPushEvent, type PushEvent, type UnknownPushEvent } from "../event/event";
import { parseEvent } from "../event/parse";

/**
 * Creates the step that parses the event of an authenticated webhook request, and finds the indexes
 * of the token and of the publicUrl that were signed with. It throws a WebhookError
 * `PAYLOAD_INVALID`, `PAYLOAD_AMBIGUOUS` for a text that may be another event or a request of another
 * product when no `confirm` can decide, or `ACCOUNT_NOT_ALLOWED`, for a service that is not allowed
 * too.
 */
export function createCheckEvent(settings: VerifySettings) {
  const { extraParameters, confirm, confirmTypes } = settings;
  const findAmbiguity = createFindAmbiguity(extraParameters);

  return function checkEvent({ method, parts, match, serviceSids }: AuthenticatedRequest) {
    const { authTokenIndex, signedUrl, signedText } = match;
    const event = parseEvent(parts.params);
    // Exactly the text that was signed, after its URL.
    const text = signedText.slice(signedUrl.length);
    const publicUrlIndex = parts.publicUrlIndexes[parts.signedUrls.indexOf(signedUrl)] ?? 0;
    const ambiguity =
      method === "GET"
        ? findForeignParameter(parts.params, extraParameters)
        : findAmbiguity(event, text);
    // An unknown type has no second source.
    if (ambiguity !== undefined && (confirm === undefined || !isPushEvent(event))) {
      const { reason, parameter } = ambiguity;
      throw new WebhookError(
        "PAYLOAD_AMBIGUOUS",
        `The request is signed, but it need not be the event that it seems to be: ${reason}.`,
        { parameter },
      );
    }
    assertAllowed(settings, serviceSids, event);
    const needsConfirmation = ambiguity !== undefined || confirmTypes.has(event.type);
    return {
      event,
      authTokenIndex,
      publicUrlIndex,
      needsConfirmation,
      ambiguity: ambiguity?.reason,
    };
  };
}

/**
 * Rejects an event whose account or service is not allowed.
 *
 * @param tokenServiceSids the services that the function `authToken` allows; undefined for all.
 * @throws WebhookError `ACCOUNT_NOT_ALLOWED`, for a service too.
 */
function assertAllowed(
  { allowedAccountSids, allowedServiceSids }: VerifySettings,
  tokenServiceSids: readonly string[] | undefined,
  { account_sid, service_sid = "" }: PushEvent | UnknownPushEvent,
): void {
  if (allowedAccountSids?.has(account_sid) === false) {
    throw notAllowed("The account is not in allowedAccountSids.");
  }
  if (allowedServiceSids?.has(service_sid) === false) {
    throw notAllowed("The service is not in allowedServiceSids.");
  }
  if (tokenServiceSids?.includes(service_sid) === false) {
    throw notAllowed("The service is not in the serviceSids that authToken returned.");
  }
}

function notAllowed(message: string): WebhookError {
  return new WebhookError("ACCOUNT_NOT_ALLOWED", message);
}
