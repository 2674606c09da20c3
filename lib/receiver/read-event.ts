import { createFindAmbiguity } from "./ambiguity";
import type { AuthenticatedRequest } from "./authenticate";
import type { VerifySettings } from "./verify-options";
import { WebhookError } from "../errors/webhook-error";
import type { PushEvent, UnknownPushEvent } from "../event/event";
import { parseEvent } from "../event/parse";
import { createFindUrlAmbiguity } from "../signature/signed-parts";

/** The event of a webhook request. */
export interface VerifiedEvent {
  event: PushEvent | UnknownPushEvent;
  /** Index of the token that signed the request. */
  authTokenIndex: number;
  /** Index of the publicUrl that was signed. */
  publicUrlIndex: number;
}

/** Parses the event of an authenticated webhook request. */
export type ReadEvent = (request: AuthenticatedRequest) => VerifiedEvent;

/**
 * Creates the step that parses the event of an authenticated webhook request, and rejects a text
 * that also fits another event, and accounts and services that are not allowed.
 *
 * @throws WebhookError (by the returned function) `PAYLOAD_INVALID`, `PAYLOAD_AMBIGUOUS`,
 *   `ACCOUNT_NOT_ALLOWED`.
 */
export function createReadEvent(settings: VerifySettings): ReadEvent {
  const findAmbiguity = createFindAmbiguity(settings.extraParameters);
  const findUrlAmbiguity = createFindUrlAmbiguity(settings.publicUrls, settings.urlMatching);

  return function readEvent({ method, parts, match, account }) {
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
