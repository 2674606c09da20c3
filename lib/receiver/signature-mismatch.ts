import type { CheckedHeaders } from "./headers";
import type { ExplainBudget } from "./explain-budget";
import type { VerifySettings } from "./verify-options";
import { WebhookError } from "../errors/webhook-error";
import { explainSignature } from "../signature/explain";
import type { ExplainSignatureOptions } from "../signature/explain/input";
import type { SignedParts } from "../signature/signed-parts";

/** The URL and the body as the request shows them, for explanations only: a sender may forge them. */
export type ReceivedEvidence = Pick<ExplainSignatureOptions, "receivedUrl" | "body">;

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
  { allowedAccountSids, urlMatching }: VerifySettings,
  explainBudget: ExplainBudget,
  { headers: { method, signature }, parts, tokens, readEvidence }: MismatchedRequest,
): WebhookError {
  if (tokens.length === 0) {
    const message = "The option authToken found no token for the account that this request claims.";
    return new WebhookError("SIGNATURE_MISMATCH", message);
  }
  const explain = () => {
    const evidence = readEvidence();
    const [accountSid, ...otherSids] = allowedAccountSids ?? [];
    return explainSignature({
      ...evidence,
      method,
      authToken: tokens,
      url: findNearest(parts.signedUrls, evidence.receivedUrl),
      params: parts.signedParams,
      signature,
      urlMatching,
      accountSid: otherSids.length === 0 ? accountSid : undefined,
    });
  };
  return new WebhookError(
    "SIGNATURE_MISMATCH",
    "The signature was not made with this auth token over this publicUrl and these parameters. Check that publicUrl is the webhook_url exactly as configured at the service, that authToken is that account's, and that no middleware changed the body; explain() of this error names the cause.",
    { explain: () => explainBudget.spend(explain) },
  );
}

/** Returns the first of the URLs that have the longest prefix in common with another URL. */
function findNearest(urls: readonly string[], url = ""): string {
  const countCommon = (other: string) => {
    let count = 0;
    while (count < other.length && other[count] === url[count]) count++;
    return count;
  };
  const [nearest = ""] = urls.toSorted((a, b) => countCommon(b) - countCommon(a));
  return nearest;
}
