import { createFindTokens, readClaimedIdentity } from "./auth-tokens";
import { createExplainBudget } from "./explain-budget";
import type { CheckedHeaders } from "./headers";
import type { PushMethod, VerifySettings } from "./verify-options";
import { WebhookError } from "../errors/webhook-error";
import type { Pair } from "../form/parameters";
import { explainSignature } from "../signature/explain";
import type { SignatureReport } from "../signature/explain/causes";
import type { ExplainSignatureOptions } from "../signature/explain/options";
import { digest, findMatch, joinParams, type FoundMatch } from "../signature/signature";
import type { SignedParts } from "../signature/signed-parts";

/** The URL and the body as the request shows them, for explanations only: a sender may forge them. */
export type ReceivedEvidence = Pick<ExplainSignatureOptions, "receivedUrl" | "body">;

/** A webhook request that the account which it claims has signed. */
export interface AuthenticatedRequest {
  method: PushMethod;
  signature: string;
  /** Returns the signatures that the other tokens make; undefined when there is one token. */
  listOtherSignatures: (() => readonly string[]) | undefined;
  parts: SignedParts;
  match: FoundMatch;
  /** The services that the tokens may sign for; undefined for every service. */
  serviceSids: readonly string[] | undefined;
}

/**
 * Creates the step that authenticates a webhook request: it verifies the signature with the tokens
 * of the account that the request claims.
 *
 * @param explainBudget bounds the work of {@link WebhookError.explain}. @default a new budget
 * @throws WebhookError (by the step) `SIGNATURE_MISMATCH`, `ACCOUNT_NOT_ALLOWED`, `TOKEN_UNAVAILABLE`,
 *   `OVERLOADED`.
 */
export function createAuthenticate(
  settings: VerifySettings,
  explainBudget = createExplainBudget(),
) {
  const { urlMatching, allowedAccountSids } = settings;
  const findTokens = createFindTokens(settings.authToken);
  // Before a lookup: the database of the app is not asked for accounts that are not allowed.
  const isClaimChecked = typeof settings.authToken === "function";
  const [onlyAccount, ...others] = allowedAccountSids ?? [];
  const accountSid = others.length === 0 ? onlyAccount : undefined;

  return async function authenticate(
    headers: Pick<CheckedHeaders, "method" | "signature">,
    /** Not empty; the alternatives of a request that several publicUrls fit. */
    alternatives: readonly SignedParts[],
    readEvidence: () => ReceivedEvidence,
    /** When to give up, as `performance.now()` counts. */
    deadlineAtMs?: number,
  ): Promise<AuthenticatedRequest> {
    const { method, signature } = headers;
    let mismatch: WebhookError | undefined;
    for (const parts of alternatives) {
      if (isClaimChecked) assertClaimAllowed(allowedAccountSids, parts.params);
      const joined = joinParams(parts.signedParams);
      const { tokens, serviceSids, match } = await findTokens(
        parts.params,
        (candidates) => findMatch(signature, candidates, parts.signedUrls, joined),
        deadlineAtMs,
      );
      if (match !== undefined) {
        const listOtherSignatures = createListOtherSignatures(tokens, match);
        return { method, signature, listOtherSignatures, parts, match, serviceSids };
      }
      mismatch ??= createMismatch(tokens, () => {
        const evidence = readEvidence();
        const url = findNearest(parts.signedUrls, evidence.receivedUrl);
        const request = { method, url, params: parts.signedParams, signature, authToken: tokens };
        const report = () => explainSignature({ ...evidence, ...request, urlMatching, accountSid });
        return explainBudget.spend(report);
      });
    }
    // It is set, because the loop runs at least once.
    throw mismatch as WebhookError;
  };
}

function assertClaimAllowed(
  allowedAccountSids: VerifySettings["allowedAccountSids"],
  params: readonly Pair[],
): void {
  const { account_sid = "" } = readClaimedIdentity(params);
  if (allowedAccountSids?.has(account_sid) !== false) return;
  throw new WebhookError(
    "ACCOUNT_NOT_ALLOWED",
    "The account that the request claims is not in allowedAccountSids. Its tokens were not looked up.",
  );
}

function createListOtherSignatures(
  tokens: readonly string[],
  { authTokenIndex, signedText }: FoundMatch,
): AuthenticatedRequest["listOtherSignatures"] {
  if (tokens.length === 1) return undefined;
  // Computed on demand: only a conflict needs the signatures of other tokens.
  return () => tokens.toSpliced(authTokenIndex, 1).map((token) => digest(token, signedText));
}

/** Creates the error of a signature that none of these tokens made. */
function createMismatch(
  tokens: readonly string[],
  explain: () => SignatureReport | undefined,
): WebhookError {
  if (tokens.length === 0) {
    const message = "The option authToken found no token for the account that this request claims.";
    return new WebhookError("SIGNATURE_MISMATCH", message);
  }
  const message =
    "The signature was not made with this auth token over this publicUrl and these parameters. Check that publicUrl is the webhook_url exactly as configured at the service, that authToken is that account's, and that no middleware changed the body; explain() of this error names the cause.";
  return new WebhookError("SIGNATURE_MISMATCH", message, { explain });
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
