import { createFindAmbiguity } from "./ambiguity";
import { WebhookError } from "./errors";
import { explainCause, explainSignature } from "./explain";
import { asGivenBody } from "./explain-bodies";
import { createExplainBudget } from "./explain-budget";
import type { PushEvent, UnknownPushEvent } from "./event";
import type { SignatureReport } from "./explain-causes";
import { decodePairs, type Pair } from "./form";
import type { CheckedHead } from "./head";
import { createHold } from "./hold";
import type { VerifySettings } from "./options";
import { parsePayload } from "./payload";
import { findMatch, joinParams, listSignedUrls } from "./signature";
import { listTokens, readClaimedIdentity } from "./tokens";

/** A call whose sender is known and whose parameters are sound. */
export interface VerifiedCall {
  event: PushEvent | UnknownPushEvent;
  authTokenIndex: number;
}

/** What of a call its signature covers. */
export interface SignedParts {
  /** The URL that is signed: as configured, or for a GET as called. */
  url: string;
  /** The parameters that are signed beside it. */
  signedParams: readonly Pair[];
  /** The parameters of the event. */
  params: readonly Pair[];
}

/** What a request shows of itself, for explanations only: a sender may forge it. */
export interface ReceivedEvidence {
  /** Returns the URL as the request shows it. */
  readUrl: () => string;
  /** Returns the body that the parameters were read from. */
  readBody: () => unknown;
}

/** Verifies the parts of a call and parses its event. */
export type VerifyCall = (
  head: Pick<CheckedHead, "method" | "signature">,
  parts: SignedParts,
  received: ReceivedEvidence,
  deadlineAtMs?: number,
) => Promise<VerifiedCall>;

/**
 * Makes the step that decides whether a call is what it says.
 *
 * @param explainBudget bounds the work of {@link WebhookError.explain}; one of its own by default.
 * @throws WebhookError (by what it returns) `SIGNATURE_MISMATCH`, `PAYLOAD_INVALID`,
 *   `ACCOUNT_NOT_ALLOWED`; `STORE_UNAVAILABLE` and `OVERLOADED` when the tokens could not be found.
 */
export function createVerifyCall(
  settings: VerifySettings,
  explainBudget = createExplainBudget(),
): VerifyCall {
  const findTokens = createFindTokens(settings.authToken);
  const { publicUrl, urlMatching } = settings;
  const configuredUrls = listSignedUrls(publicUrl, urlMatching);
  const listUrls = (url: string) =>
    url === publicUrl ? configuredUrls : listSignedUrls(url, urlMatching);
  const [accountSid, ...otherSids] = settings.allowedAccountSids ?? [];
  const findAmbiguity = createFindAmbiguity(settings.extraParameters);

  return async function verifyCall({ method, signature }, parts, received, deadlineAtMs) {
    const { url, signedParams, params } = parts;
    const authToken = await findTokens(params, deadlineAtMs);
    const joined = joinParams(signedParams);
    const match =
      authToken.length === 0 ? undefined : findMatch(signature, authToken, listUrls(url), joined);
    if (match === undefined) {
      throw mismatch(authToken, () =>
        explainBudget.spend(() => {
          const body = method === "POST" ? asGivenBody(received.readBody()) : undefined;
          return explainSignature({
            method,
            authToken,
            url,
            params: signedParams,
            signature,
            urlMatching,
            receivedUrl: received.readUrl(),
            ...(body !== undefined && { body }),
            ...(accountSid !== undefined && otherSids.length === 0 && { accountSid }),
          });
        }),
      );
    }
    const event = parsePayload(params);
    // The separators of a query leave one reading of a GET request.
    const ambiguity =
      method === "GET"
        ? undefined
        : (findUrlAmbiguity(match.signedUrl, joined, configuredUrls) ??
          findAmbiguity(event, joined));
    if (ambiguity !== undefined) throw ambiguous(ambiguity);
    assertAllowed(settings, event);
    return { event, authTokenIndex: match.authTokenIndex };
  };
}

/** Finds whether the joined parameters of a POST request could also be the end of a longer URL. */
function findUrlAmbiguity(
  signedUrl: string,
  joined: string,
  configuredUrls: readonly string[],
): string | undefined {
  const isQuery = joined.startsWith("?") || joined.startsWith("&");
  const isLongerUrl = configuredUrls.some(
    (url) => url.length > signedUrl.length && (signedUrl + joined).startsWith(url),
  );
  return isQuery || isLongerUrl ? "the parameters begin like the end of a URL" : undefined;
}

function ambiguous(reason: string): WebhookError {
  return new WebhookError(
    "PAYLOAD_AMBIGUOUS",
    `The request is signed, but the signature also fits another event: ${reason}.`,
  );
}

/** The parts of a POST call: the parameters are in the body. */
export function coverPost(publicUrl: string, params: readonly Pair[]): SignedParts {
  return { url: publicUrl, signedParams: params, params };
}

/**
 * The parts of a GET call: the service appended the parameters to the query of the configured URL
 * and signed the whole (specification, section 5).
 *
 * @param target the request target as received, with its query.
 * @throws WebhookError `SIGNATURE_MISMATCH` when the query does not begin with the configured one;
 *   as {@link decodePairs}.
 */
export function coverGet(publicUrl: string, target: string): SignedParts {
  const [configured = ""] = publicUrl.split("#", 1);
  const [base, configuredQuery] = splitAtQuestionMark(configured);
  const [, query = ""] = splitAtQuestionMark(target);
  const prefix = configuredQuery ?? "";
  // No client sends a fragment, and no signature covers one. After a bare "?" a signed POST, which
  // has no separators, could be passed off as a GET.
  if (target.includes("#") || configuredQuery === "") {
    throw new WebhookError(
      "SIGNATURE_MISMATCH",
      "A GET call has a fragment, or publicUrl ends with a bare question mark.",
    );
  }
  // At its beginning, or a signed POST could be passed off as a GET: see SignedParts.
  const appended = cutPrefix(query, prefix) ?? cutPrefix(query, encodeNonAscii(prefix));
  if (appended === undefined) {
    throw new WebhookError(
      "SIGNATURE_MISMATCH",
      "The query of this GET call does not begin with the query of publicUrl.",
      { explain: () => explainCause("URL_QUERY_EXTRA", publicUrl) },
    );
  }
  const separator = prefix === "" || appended === "" ? "" : "&";
  const url = `${base}?${prefix}${separator}${appended}`;
  return { url, signedParams: [], params: decodePairs(appended) };
}

/** As a request line must have it, which holds nothing but ASCII. */
function encodeNonAscii(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent);
}

function cutPrefix(query: string, prefix: string): string | undefined {
  if (prefix === "") return query;
  if (query === prefix) return "";
  return query.startsWith(`${prefix}&`) ? query.slice(prefix.length + 1) : undefined;
}

function splitAtQuestionMark(url: string): [path: string, query?: string] {
  const at = url.indexOf("?");
  return at === -1 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}

function createFindTokens(authToken: VerifySettings["authToken"]) {
  if (typeof authToken !== "function") {
    const tokens = listTokens(authToken);
    return () => Promise.resolve(tokens);
  }
  // Whoever calls has not proved anything yet: few attempts, and one lookup for all who claim alike.
  const hold = createHold({ firstPauseMs: 500, longestPauseMs: 4_000 });
  const lookups = new Map<string, Promise<unknown>>();
  return async function findTokens(
    params: readonly Pair[],
    deadlineAtMs?: number,
  ): Promise<string[]> {
    const claimed = readClaimedIdentity(params);
    const key = `${claimed.account_sid} ${claimed.service_sid}`;
    let lookup = lookups.get(key);
    if (lookup === undefined) {
      lookup = hold(() => authToken(claimed), deadlineAtMs).finally(() => lookups.delete(key));
      lookups.set(key, lookup);
    }
    return listTokens(await lookup);
  };
}

function assertAllowed(settings: VerifySettings, event: PushEvent | UnknownPushEvent): void {
  const { allowedAccountSids, allowedServiceSids } = settings;
  if (allowedAccountSids?.has(event.account_sid) === false) {
    throw new WebhookError("ACCOUNT_NOT_ALLOWED", "The account is not in allowedAccountSids.");
  }
  if (allowedServiceSids?.has(event.service_sid ?? "") === false) {
    throw new WebhookError("ACCOUNT_NOT_ALLOWED", "The service is not in allowedServiceSids.");
  }
}

function mismatch(
  tokens: readonly string[],
  explain: () => SignatureReport | undefined,
): WebhookError {
  if (tokens.length === 0) {
    return new WebhookError(
      "SIGNATURE_MISMATCH",
      "The option authToken found no token for the account that this call claims.",
    );
  }
  return new WebhookError(
    "SIGNATURE_MISMATCH",
    "The signature was not made with this auth token over this publicUrl and these parameters. Check that publicUrl is the webhook_url exactly as configured at the service, that authToken is that account's, and that no middleware changed the body; explain() of this error finds out.",
    { explain },
  );
}
