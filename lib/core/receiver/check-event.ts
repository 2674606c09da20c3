import { AmbiguityCheck, findForeignParameter } from "./ambiguity";
import { listOthersLater, type AuthenticatedRequest } from "./authenticate";
import type { VerifySettings } from "./verify-options";
import { WebhookError } from "../errors/webhook-error";
import { isPushEvent, type AnyEvent } from "../event/event";
import { parseEvent } from "../event/parse";
import { hashText } from "../../kit/hash";

/**
 * Creates the step that parses the event of an authenticated webhook request. It throws a
 * WebhookError `PAYLOAD_INVALID`, `PAYLOAD_AMBIGUOUS` for a text that may be something else when no
 * `confirm` can decide, or `ACCOUNT_NOT_ALLOWED`, for a service that is not allowed too.
 */
export function createCheckEvent(settings: VerifySettings) {
  const { extraParameters, confirm, confirmTypes } = settings;
  const ambiguityCheck = new AmbiguityCheck(extraParameters);

  return function checkEvent(authenticated: AuthenticatedRequest) {
    const { method, parts, found, match } = authenticated;
    const { authTokenIndex, signedUrl } = match;
    const event = parseEvent(parts.params);
    const publicUrlIndex = parts.publicUrlIndexes[parts.signedUrls.indexOf(signedUrl)] ?? 0;
    const ambiguity =
      method === "GET"
        ? findForeignParameter(parts.params, extraParameters)
        : ambiguityCheck.find(event, parts.joined);
    // An unknown type has no second source.
    if (ambiguity !== undefined && (confirm === undefined || !isPushEvent(event))) {
      const { reason, parameter } = ambiguity;
      throw new WebhookError(
        "PAYLOAD_AMBIGUOUS",
        `The request is signed, but it need not be the event that it seems to be: ${reason}.`,
        { parameter },
      );
    }
    const problem = findNotAllowed(settings, found.serviceSids, event);
    if (problem !== undefined)
      throw new WebhookError("ACCOUNT_NOT_ALLOWED", `The ${problem}. ${ALLOW}`);
    const needsConfirmation = ambiguity !== undefined || confirmTypes.has(event.type);
    const { contentHash, listOtherHashes } = hashContent(authenticated, ambiguity !== undefined);
    return {
      event,
      contentHash,
      listOtherHashes,
      authTokenIndex,
      publicUrlIndex,
      needsConfirmation,
      ambiguity: ambiguity?.reason,
    };
  };
}

/** Returns the hashes of a `RequestIdentity`. */
function hashContent(authenticated: AuthenticatedRequest, isAmbiguous: boolean) {
  const { signature, parts } = authenticated;
  const listOthers = listOthersLater(authenticated);
  // A signature is a hash of the content, except that it depends on the token.
  if (!isAmbiguous) return { contentHash: signature, listOtherHashes: listOthers };
  // The readings of a text have the same signatures, and are not the same content.
  const hash = (text: string) => hashText(`${text} ${JSON.stringify(parts.params)}`);
  return {
    contentHash: hash(signature),
    listOtherHashes: listOthers && (() => listOthers().map(hash)),
  };
}

const ALLOW = "Add its SID there, or remove its Webhook at the service.";

function findNotAllowed(
  { allowedAccountSids, allowedServiceSids }: VerifySettings,
  tokenServiceSids: readonly string[] | undefined,
  { account_sid, service_sid = "" }: AnyEvent,
): string | undefined {
  if (allowedAccountSids?.has(account_sid) === false) return "account is not in allowedAccountSids";
  if (allowedServiceSids?.has(service_sid) === false) return "service is not in allowedServiceSids";
  const isAllowed = tokenServiceSids?.includes(service_sid) !== false;
  return isAllowed ? undefined : "service is not in the serviceSids that authToken returned";
}
