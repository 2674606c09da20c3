import { createFindTokens } from "./auth-tokens";
import { WebhookError } from "./errors";
import { explainCause, explainSignature } from "./explain";
import type { PushEvent, UnknownPushEvent } from "./event";
import type { SignatureReport } from "./explain-causes";
import { decodePairs, type Pair } from "./form";
import type { CheckedHead } from "./head";
import type { VerifySettings } from "./options";
import { parsePayload } from "./payload";
import { findMatch, joinParams, listSignedUrls } from "./signature";

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

/** Verifies the parts of a call and parses its event. */
export type VerifyCall = (
  head: Pick<CheckedHead, "method" | "signature">,
  parts: SignedParts,
  /** Tells the URL as the request shows it, for explanations alone: a sender may forge it. */
  readReceivedUrl: () => string,
) => Promise<VerifiedCall>;

/**
 * Makes the step that decides whether a call is what it says.
 *
 * @throws WebhookError (by what it returns) `SIGNATURE_MISMATCH`, `PAYLOAD_INVALID`,
 *   `ACCOUNT_NOT_ALLOWED`; `TOKEN_UNAVAILABLE` and `OVERLOADED` when the tokens could not be found.
 */
export function createVerifyCall(settings: VerifySettings): VerifyCall {
  const findTokens = createFindTokens(settings.authToken);
  const { publicUrl, urlMatching } = settings;
  const configuredUrls = listSignedUrls(publicUrl, urlMatching);
  const listUrls = (url: string) =>
    url === publicUrl ? configuredUrls : listSignedUrls(url, urlMatching);
  const [accountSid, ...otherSids] = settings.accountSids ?? [];

  return async function verifyCall({ method, signature }, parts, readReceivedUrl) {
    const { url, signedParams, params } = parts;
    const { tokens: authToken, markVerified } = await findTokens(params);
    const match =
      authToken.length === 0
        ? undefined
        : findMatch(signature, authToken, listUrls(url), joinParams(signedParams));
    if (match === undefined) {
      throw mismatch(authToken, () =>
        explainSignature({
          method,
          authToken,
          url,
          params: signedParams,
          signature,
          urlMatching,
          receivedUrl: readReceivedUrl(),
          ...(accountSid !== undefined && otherSids.length === 0 && { accountSid }),
        }),
      );
    }
    const event = parsePayload(params);
    assertAllowed(settings, event);
    markVerified();
    return { event, authTokenIndex: match.authTokenIndex };
  };
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
      { explain: () => explainCause("URL_QUERY_EXTRA") },
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

function assertAllowed(settings: VerifySettings, event: PushEvent | UnknownPushEvent): void {
  const { accountSids, serviceSids } = settings;
  if (accountSids !== undefined && !accountSids.has(event.account_sid ?? "")) {
    throw new WebhookError("ACCOUNT_NOT_ALLOWED", "The account is not in the option accountSid.");
  }
  if (serviceSids !== undefined && !serviceSids.has(event.service_sid ?? "")) {
    throw new WebhookError("ACCOUNT_NOT_ALLOWED", "The service is not in the option serviceSid.");
  }
}

function mismatch(tokens: readonly string[], explain: () => SignatureReport): WebhookError {
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
