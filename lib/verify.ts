import { createFindAmbiguity } from "./ambiguity";
import { createFindTokens } from "./auth-tokens";
import { WebhookError } from "./errors";
import { explainSignature } from "./explain";
import { asGivenBody } from "./explain-bodies";
import { createExplainBudget } from "./explain-budget";
import type { PushEvent, UnknownPushEvent } from "./event";
import type { SignatureReport } from "./explain-causes";
import type { CheckedHead } from "./head";
import type { VerifySettings } from "./verify-options";
import { parsePayload } from "./payload";
import { findMatch, joinParams } from "./signature";
import { createFindUrlAmbiguity, type SignedParts } from "./signed-parts";

/** A webhook request whose account is authenticated and whose parameters are valid. */
export interface VerifiedRequest {
  event: PushEvent | UnknownPushEvent;
  authTokenIndex: number;
  publicUrlIndex: number;
}

/** What a request shows of itself, for explanations only: a sender may forge it. */
export interface ReceivedEvidence {
  /** Returns the URL as the request shows it. */
  readUrl: () => string;
  /** Returns the body that the parameters were read from. */
  readBody: () => unknown;
}

/** Verifies the signed parts of a request and parses its event. */
export type VerifyRequest = (
  head: Pick<CheckedHead, "method" | "signature">,
  /** Not empty; the alternatives of a request that several publicUrls fit. */
  alternatives: readonly SignedParts[],
  received: ReceivedEvidence,
  /** When to give up, as `performance.now()` counts. */
  deadlineAtMs?: number,
) => Promise<VerifiedRequest>;

/**
 * Creates the step that authenticates a request and parses its event.
 *
 * @param explainBudget bounds the work of {@link WebhookError.explain}; one of its own by default.
 * @throws WebhookError (by what it returns) `SIGNATURE_MISMATCH`, `PAYLOAD_INVALID`,
 *   `PAYLOAD_AMBIGUOUS`, `ACCOUNT_NOT_ALLOWED`; `TOKEN_UNAVAILABLE` and `OVERLOADED` when the tokens
 *   could not be found.
 */
export function createVerifyRequest(
  settings: VerifySettings,
  explainBudget = createExplainBudget(),
): VerifyRequest {
  const findTokens = createFindTokens(settings.authToken);
  const findAmbiguity = createFindAmbiguity(settings.extraParameters);
  const findUrlAmbiguity = createFindUrlAmbiguity(settings.publicUrls, settings.urlMatching);

  return async function verifyRequest({ method, signature }, alternatives, received, deadlineAtMs) {
    let rejection: WebhookError | undefined;
    for (const parts of alternatives) {
      const { signedUrls, signedParams, params } = parts;
      const { tokens, serviceSids, markVerified } = await findTokens(params, deadlineAtMs);
      const joined = joinParams(signedParams);
      const match =
        tokens.length === 0 ? undefined : findMatch(signature, tokens, signedUrls, joined);
      if (match === undefined) {
        rejection ??= mismatch(tokens, () =>
          explainBudget.spend(() =>
            explainSignature(describeParts(method, parts, tokens, signature, received)),
          ),
        );
        continue;
      }
      const event = parsePayload(params);
      // A part of the text that was signed: another search in `joined` would copy that first.
      const text = match.signedText.slice(match.signedUrl.length);
      const publicUrlIndex = parts.publicUrlIndexes[signedUrls.indexOf(match.signedUrl)] ?? 0;
      const ambiguity =
        findUrlAmbiguity(match.signedUrl, text, publicUrlIndex) ??
        // The separators of a query leave one reading of a GET request.
        (method === "GET" ? undefined : findAmbiguity(event, text));
      if (ambiguity !== undefined) throw ambiguous(ambiguity);
      assertAllowed(settings, serviceSids, event);
      markVerified();
      return { event, authTokenIndex: match.authTokenIndex, publicUrlIndex };
    }
    throw rejection ?? noToken();
  };

  function describeParts(
    method: "GET" | "POST",
    { signedUrls, signedParams, params }: SignedParts,
    authToken: readonly string[],
    signature: string,
    received: ReceivedEvidence,
  ) {
    const body = method === "POST" ? asGivenBody(received.readBody()) : undefined;
    const receivedUrl = received.readUrl();
    const [accountSid, ...otherSids] = settings.allowedAccountSids ?? [];
    return {
      method,
      authToken,
      url: findNearest(signedUrls, receivedUrl),
      params: method === "POST" ? params : signedParams,
      signature,
      urlMatching: settings.urlMatching,
      receivedUrl,
      ...(body !== undefined && { body }),
      ...(accountSid !== undefined && otherSids.length === 0 && { accountSid }),
    };
  }
}

/** Returns the first of the URLs that have the longest beginning in common with another one. */
function findNearest(urls: readonly string[], url: string): string {
  const countCommon = (other: string) => {
    let count = 0;
    while (count < other.length && other[count] === url[count]) count++;
    return count;
  };
  const longest = Math.max(...urls.map(countCommon));
  return urls.find((other) => countCommon(other) === longest) ?? "";
}

function ambiguous(reason: string): WebhookError {
  return new WebhookError(
    "PAYLOAD_AMBIGUOUS",
    `The request is signed, but the signature also fits another event: ${reason}.`,
  );
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

function noToken(): WebhookError {
  return new WebhookError(
    "SIGNATURE_MISMATCH",
    "The option authToken found no token for the account that this request claims.",
  );
}

function mismatch(
  tokens: readonly string[],
  explain: () => SignatureReport | undefined,
): WebhookError {
  if (tokens.length === 0) return noToken();
  return new WebhookError(
    "SIGNATURE_MISMATCH",
    "The signature was not made with this auth token over this publicUrl and these parameters. Check that publicUrl is the webhook_url exactly as configured at the service, that authToken is that account's, and that no middleware changed the body; explain() of this error finds out.",
    { explain },
  );
}
