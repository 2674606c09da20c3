import {
  createFindTokens,
  readClaimedIdentity,
  type ClaimedIdentity,
  type FoundTokens,
} from "./auth-tokens";
import { readForm } from "./body";
import { createExplainBudget } from "../signature/explain-budget";
import { createUncoveredBodyError, type CheckedHeaders } from "./method-and-headers";
import { joinReceivedUrl } from "./received-url";
import type { IncomingRequest } from "./incoming-request";
import type { PushMethod, VerifySettings } from "./verify-options";
import { andThen } from "../../kit/pending";
import { WebhookError } from "../errors/webhook-error";
import type { Pair } from "../../kit/pairs";
import { describeReport, explainSignature } from "../signature/explain";
import type { SignatureReport } from "../errors/signature-causes";
import type { ExplainSignatureOptions } from "../signature/explain/options";
import { signText } from "../signature/hmac";
import { findMatch, type SignatureMatch } from "../signature/signature";
import { createGetParts, createPostParts } from "../signature/signed-parts";
import type { SignedParts, SignedReadings } from "../signature/signed-parts";

/** A webhook request that the account which it claims has signed. */
export interface AuthenticatedRequest {
  method: PushMethod;
  signature: string;
  parts: SignedParts;
  found: FoundTokens;
  match: SignatureMatch;
}

/**
 * Creates the step that authenticates a webhook request: it verifies the signature with the tokens
 * of the account that the request claims.
 *
 * @param explainBudget bounds the work of {@link WebhookError.explain}. @default a new budget
 * @throws WebhookError (by the step) `SIGNATURE_MISMATCH`, `ACCOUNT_NOT_ALLOWED`, `TOKEN_UNAVAILABLE`,
 *   `OVERLOADED`; errors of {@link readForm} and of the signed parts, which may have no code.
 */
export function createAuthenticate(
  settings: VerifySettings,
  explainBudget = createExplainBudget(),
) {
  const { authToken, publicUrls, urlMatching, limitBytes, allowedAccountSids } = settings;
  const findTokens = createFindTokens(authToken);
  const postParts = createPostParts(publicUrls, urlMatching);
  const getParts = createGetParts(publicUrls, urlMatching);
  const [accountSid] = allowedAccountSids?.size === 1 ? allowedAccountSids : [];
  const messageBudget = createExplainBudget({ maxReports: EXPLAINED_MESSAGES });

  function explainLater(
    request: IncomingRequest,
    { method, signature }: CheckedHeaders,
    parts: SignedParts,
    found: FoundTokens,
  ) {
    return () => {
      const receivedUrl = joinReceivedUrl(request);
      const options = {
        method,
        signature,
        receivedUrl,
        urlMatching,
        accountSid,
        // The spelling of the configuration, which its message names.
        url: findNearest(method === "GET" ? parts.signedUrls : publicUrls, receivedUrl),
        params: method === "GET" ? [] : parts.params,
        body: request.body as ExplainSignatureOptions["body"],
        authToken: found.tokens,
      };
      return explainBudget.spend(() => explainSignature(options));
    };
  }

  function reject(
    request: IncomingRequest,
    headers: CheckedHeaders,
    [parts]: SignedReadings,
    found: FoundTokens,
  ): never {
    const explain = explainLater(request, headers, parts, found);
    throw createMismatch(found.tokens, messageBudget, explain);
  }

  /** @param deadlineAtMs when to give up a token lookup, as `performance.now()` counts. */
  return function authenticate(
    request: IncomingRequest,
    headers: CheckedHeaders,
    deadlineAtMs?: number,
  ): AuthenticatedRequest | Promise<AuthenticatedRequest> {
    const { method } = headers;
    const form = readForm(request.body, limitBytes);
    if (method === "GET" && form.pairs.length > 0) throw createUncoveredBodyError();
    // Of several readings, the last one has the parameters of all.
    const readings = method === "GET" ? getParts(request.target) : postParts(form);
    const claimed =
      typeof authToken === "function"
        ? readAllowedClaim(readings.at(-1)?.params ?? [], settings)
        : NO_CLAIM;
    return andThen(findTokens(claimed, deadlineAtMs), (found) => {
      const signed = findSigned(headers, readings, found);
      if (signed !== undefined) return signed;
      if (!found.hasMatched) return reject(request, headers, readings, found);
      // The account may have a new token. Looked up only once: the signature may be forged.
      return andThen(
        findTokens(claimed, deadlineAtMs, found),
        (newer) =>
          findSigned(headers, readings, newer) ?? reject(request, headers, readings, newer),
      );
    });
  };
}

const NO_CLAIM: ClaimedIdentity = {};

function findSigned(
  { method, signature }: CheckedHeaders,
  readings: readonly SignedParts[],
  found: FoundTokens,
): AuthenticatedRequest | undefined {
  for (const parts of readings) {
    const match = findMatch(signature, found.keys, parts.signedUrls, parts.joined);
    if (match === undefined) continue;
    found.noteMatch();
    return { method, signature, parts, found, match };
  }
  return undefined;
}

/** Returns the function that lists the signatures which other tokens make: only a conflict needs them. */
export function listOthersLater({ found, match, parts }: AuthenticatedRequest) {
  const { keys } = found;
  if (keys.length === 1) return undefined;
  const { authTokenIndex, signedUrl } = match;
  return () =>
    keys.toSpliced(authTokenIndex, 1).map((key) => signText(key, signedUrl, parts.joined));
}

/** Reads the claimed identity. No token is looked up for accounts and services that are not allowed. */
function readAllowedClaim(
  params: readonly Pair[],
  { allowedAccountSids, allowedServiceSids }: VerifySettings,
): ClaimedIdentity {
  const claimed = readClaimedIdentity(params);
  const { account_sid = "", service_sid = "" } = claimed;
  const isAllowedAccount = allowedAccountSids?.has(account_sid) !== false;
  if (isAllowedAccount && allowedServiceSids?.has(service_sid) !== false) return claimed;
  const what = isAllowedAccount ? "service" : "account";
  const option = isAllowedAccount ? "allowedServiceSids" : "allowedAccountSids";
  const message = `The ${what} that the request claims is not in ${option}. Its tokens were not looked up.`;
  throw new WebhookError("ACCOUNT_NOT_ALLOWED", message);
}

/** How many messages name the cause within 60 s; it takes some tens of milliseconds to find. */
const EXPLAINED_MESSAGES = 3;

function createMismatch(
  tokens: readonly string[],
  messageBudget: ReturnType<typeof createExplainBudget>,
  explain: () => SignatureReport | undefined,
): WebhookError {
  if (tokens.length === 0) {
    const message = "The option authToken found no token for the account that this request claims.";
    return new WebhookError("SIGNATURE_MISMATCH", message);
  }
  const report = messageBudget.spend(explain);
  const message =
    report === undefined
      ? "The signature was not made with this auth token over this publicUrl and these parameters. The messages of earlier ones name the cause; explain() of this error finds its own."
      : describeReport(report);
  return new WebhookError("SIGNATURE_MISMATCH", message, {
    // Without a reference to the parameters.
    explain: report === undefined ? explain : () => report,
  });
}

/** Returns the first of the URLs that have the longest prefix in common with another URL. */
function findNearest(urls: readonly string[], url: string): string {
  const countCommon = (other: string) => {
    let count = 0;
    while (count < other.length && other[count] === url[count]) count++;
    return count;
  };
  const [nearest = ""] = urls.toSorted((a, b) => countCommon(b) - countCommon(a));
  return nearest;
}
