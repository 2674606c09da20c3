import { createFindTokens } from "./auth-tokens";
import { createExplainBudget } from "./explain-budget";
import type { CheckedHeaders } from "./headers";
import { createMismatch, type ReceivedEvidence } from "./signature-mismatch";
import type { PushMethod, VerifySettings } from "./verify-options";
import type { WebhookError } from "../errors/webhook-error";
import { digest, findMatch, joinParams, type FoundMatch } from "../signature/signature";
import type { SignedParts } from "../signature/signed-parts";

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
 * @throws WebhookError (by the step) `SIGNATURE_MISMATCH`, `TOKEN_UNAVAILABLE`, `OVERLOADED`.
 */
export function createAuthenticate(
  settings: VerifySettings,
  explainBudget = createExplainBudget(),
) {
  const findTokens = createFindTokens(settings.authToken);

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
      const request = { headers, parts, tokens, readEvidence };
      mismatch ??= createMismatch(settings, explainBudget, request);
    }
    // It is set, because the loop runs at least once.
    throw mismatch as WebhookError;
  };
}

function createListOtherSignatures(
  tokens: readonly string[],
  { authTokenIndex, signedText }: FoundMatch,
): AuthenticatedRequest["listOtherSignatures"] {
  if (tokens.length === 1) return undefined;
  // Computed on demand: only a conflict needs the signatures of other tokens.
  return () => tokens.toSpliced(authTokenIndex, 1).map((token) => digest(token, signedText));
}
