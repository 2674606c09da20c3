import type { CheckedHeaders } from "./headers";
import type { ExplainBudget } from "./explain-budget";
import type { VerifySettings } from "./verify-options";
import { WebhookError } from "../errors/webhook-error";
import { asGivenBody, explainSignature } from "../signature/explain";
import type { SignedParts } from "../signature/signed-parts";

/** The URL and the body as the request shows them, for explanations only: a sender may forge them. */
export interface ReceivedEvidence {
  url: string;
  /** The body that the parameters were read from. */
  body: unknown;
}

/** A request whose signature does not match. */
export interface MismatchedRequest {
  headers: Pick<CheckedHeaders, "method" | "signature">;
  parts: SignedParts;
  /** The tokens of the account that the request claims; possibly none. */
  tokens: readonly string[];
  readEvidence: () => ReceivedEvidence;
}

/** Returns the error of a signature that no token made; `explain()` of it spends the budget. */
export function createMismatch(
  settings: VerifySettings,
  explainBudget: ExplainBudget,
  request: MismatchedRequest,
): WebhookError {
  if (request.tokens.length === 0) {
    const message = "The option authToken found no token for the account that this request claims.";
    return new WebhookError("SIGNATURE_MISMATCH", message);
  }
  return new WebhookError(
    "SIGNATURE_MISMATCH",
    "The signature was not made with this auth token over this publicUrl and these parameters. Check that publicUrl is the webhook_url exactly as configured at the service, that authToken is that account's, and that no middleware changed the body; explain() of this error names the cause.",
    {
      explain: () =>
        explainBudget.spend(() => explainSignature(describeMismatch(settings, request))),
    },
  );
}

function describeMismatch(
  { allowedAccountSids, urlMatching }: VerifySettings,
  { headers: { method, signature }, parts, tokens, readEvidence }: MismatchedRequest,
) {
  const { signedUrls, signedParams, params } = parts;
  const received = readEvidence();
  const body = method === "POST" ? asGivenBody(received.body) : undefined;
  const [accountSid, ...otherSids] = allowedAccountSids ?? [];
  return {
    method,
    authToken: tokens,
    url: findNearest(signedUrls, received.url),
    params: method === "POST" ? params : signedParams,
    signature,
    urlMatching,
    receivedUrl: received.url,
    body,
    accountSid: otherSids.length === 0 ? accountSid : undefined,
  };
}

/** Returns the first of the URLs that have the longest prefix in common with another URL. */
function findNearest(urls: readonly string[], url: string): string {
  const countCommon = (other: string) => {
    let count = 0;
    while (count < other.length && other[count] === url[count]) count++;
    return count;
  };
  const longest = Math.max(...urls.map(countCommon));
  return urls.find((other) => countCommon(other) === longest) ?? "";
}
