import { createFindTokens, readClaimedIdentity, type ClaimedIdentity } from "./auth-tokens";
import { readParams } from "./body";
import { createExplainBudget } from "../signature/explain-budget";
import { uncoveredBody, type CheckedHeaders } from "./method-and-headers";
import { joinReceivedUrl, type IncomingRequest } from "./incoming-request";
import type { PushMethod, VerifySettings } from "./verify-options";
import { WebhookError } from "../errors/webhook-error";
import { isRawBody, readBytes } from "../event/form";
import type { Pair } from "../event/event-parameters";
import { describeReport, explainSignature } from "../signature/explain";
import type { SignatureReport } from "../errors/signature-causes";
import type { ExplainSignatureOptions } from "../signature/explain/options";
import { signText } from "../signature/hmac";
import { findMatch, joinParams, type SignatureMatch } from "../signature/signature";
import { createGetParts, createPostParts, type SignedParts } from "../signature/signed-parts";

/** A webhook request that the account which it claims has signed. */
export interface AuthenticatedRequest {
  method: PushMethod;
  signature: string;
  /** Returns the signatures that the other tokens make; undefined when there is one token. */
  listOtherSignatures: (() => readonly string[]) | undefined;
  parts: SignedParts;
  /** The signed parameters, as they are signed after the URL. */
  joined: string;
  /** The bytes of the body, one a character; undefined for a GET, or if another parser read it. */
  form: string | undefined;
  match: SignatureMatch;
  /** The services that the tokens may sign for; undefined for every service. */
  serviceSids: readonly string[] | undefined;
}

/**
 * Creates the step that authenticates a webhook request: it verifies the signature with the tokens
 * of the account that the request claims.
 *
 * @param explainBudget bounds the work of {@link WebhookError.explain}. @default a new budget
 * @throws WebhookError (by the step) `SIGNATURE_MISMATCH`, `ACCOUNT_NOT_ALLOWED`, `TOKEN_UNAVAILABLE`,
 *   `OVERLOADED`; errors of {@link readParams} and of the signed parts, which may have no code.
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

  /** A function of its own: what it returns keeps its arguments alive, and no joined text. */
  function explainLater(
    request: IncomingRequest,
    { method, signature }: Pick<CheckedHeaders, "method" | "signature">,
    body: unknown,
    parts: SignedParts,
    tokens: readonly string[],
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
        params: parts.signedParams,
        body: body as ExplainSignatureOptions["body"],
        authToken: tokens,
      };
      return explainBudget.spend(() => explainSignature(options));
    };
  }

  /** @param deadlineAtMs when to give up a token lookup, as `performance.now()` counts. */
  return async function authenticate(
    request: IncomingRequest,
    { method, signature }: CheckedHeaders,
    body: unknown,
    deadlineAtMs?: number,
  ): Promise<AuthenticatedRequest> {
    let mismatch: WebhookError | undefined;
    const params = readParams(body, limitBytes);
    // Copied now: the app may change the bytes while a lookup runs.
    const form = method === "POST" && isRawBody(body) ? readBytes(body) : undefined;
    if (method === "GET" && params.length > 0) throw uncoveredBody();
    // Several when a GET fits several publicUrls.
    const alternatives = method === "GET" ? getParts(request.target) : postParts(params);
    for (const parts of alternatives) {
      const claimed =
        typeof authToken === "function" ? readAllowedClaim(parts.params, settings) : {};
      let found = await findTokens(claimed, deadlineAtMs);
      const joined = joinParams(parts.signedParams);
      let match = findMatch(signature, found.keys, parts.signedUrls, joined);
      // The account may have a new token. Looked up only once: the signature may be forged.
      if (match === undefined && found.hasMatched) {
        found = await findTokens(claimed, deadlineAtMs, found);
        match = findMatch(signature, found.keys, parts.signedUrls, joined);
      }
      const { tokens, keys, serviceSids } = found;
      if (match !== undefined) {
        found.noteMatch();
        const { authTokenIndex, signedUrl } = match;
        // Computed on demand: only a conflict needs the signatures of other tokens.
        const listOthers = () =>
          keys.toSpliced(authTokenIndex, 1).map((key) => signText(key, signedUrl, joined));
        const listOtherSignatures = keys.length === 1 ? undefined : listOthers;
        return { method, signature, listOtherSignatures, parts, joined, form, match, serviceSids };
      }
      mismatch ??= createMismatch(
        tokens,
        messageBudget,
        explainLater(request, { method, signature }, body, parts, tokens),
      );
    }
    // It is set, because a request has at least one reading.
    throw mismatch as WebhookError;
  };
}

/**
 * Reads the claimed identity before its tokens are looked up: the database of the app is not asked
 * for accounts and services that are not allowed.
 */
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

/** Creates the error of a signature that none of these tokens made; its message names the cause. */
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
