import { WebhookError } from "./errors";
import { explainCause } from "./explain";
import { decodePairs, type Pair } from "./form";
import { listSignedUrls, type UrlMatching } from "./signature";

/** What of a request its signature covers. */
export interface SignedParts {
  /** The spellings of the URL that may be signed: as configured, or for a GET as requested. */
  signedUrls: readonly string[];
  /** The index of the publicUrl of each of `signedUrls`. */
  publicUrlIndexes: readonly number[];
  /** The parameters that are signed beside the URL. */
  signedParams: readonly Pair[];
  /** The parameters of the event. */
  params: readonly Pair[];
}

/** Returns the parts of a POST request: the parameters are in the body. */
export type CoverPost = (params: readonly Pair[]) => readonly SignedParts[];

/** Creates the step that returns the signed parts of a POST request. */
export function createCoverPost(
  publicUrls: readonly string[],
  urlMatching: UrlMatching,
): CoverPost {
  const listed = publicUrls.map((url) => listSignedUrls(url, urlMatching));
  const signedUrls = listed.flat();
  const publicUrlIndexes = listed.flatMap((urls, index) => urls.map(() => index));
  return (params) => [{ signedUrls, publicUrlIndexes, signedParams: params, params }];
}

/** Returns the parts of a GET request, for each publicUrl whose query its target begins with. */
export type CoverGet = (target: string) => readonly SignedParts[];

/**
 * Creates the step that returns the signed parts of a GET request: the service appends the
 * parameters to the query of the configured URL and signs the whole (specification, section 5).
 *
 * @throws WebhookError (by what it returns) `SIGNATURE_MISMATCH` when the query of the target
 *   begins with that of no publicUrl; as {@link decodePairs}.
 */
export function createCoverGet(publicUrls: readonly string[], urlMatching: UrlMatching): CoverGet {
  return function coverGet(target) {
    // No client sends a fragment, and no signature covers one.
    if (target.includes("#"))
      throw uncovered("The target of a GET request has a fragment.", publicUrls);
    const [, query = ""] = splitAtQuestionMark(target);
    const alternatives = publicUrls.flatMap((publicUrl, index): SignedParts[] => {
      const [base, prefix] = splitAtQuestionMark(publicUrl.split("#", 1)[0] ?? "");
      // After a bare "?" a signed POST, which has no separators, could be passed off as a GET.
      if (prefix === "") return [];
      const appended = cutPrefix(query, prefix) ?? cutPrefix(query, encodeNonAscii(prefix));
      if (appended === undefined) return [];
      const separator = prefix === undefined || appended === "" ? "" : "&";
      const url = `${base}?${prefix ?? ""}${separator}${appended}`;
      const signedUrls = listSignedUrls(url, urlMatching);
      const publicUrlIndexes = signedUrls.map(() => index);
      return [{ signedUrls, publicUrlIndexes, signedParams: [], params: decodePairs(appended) }];
    });
    // Of URLs that differ in their queries the longest first: with a shorter one, the rest of the
    // configured query counts as a parameter.
    if (alternatives.length > 0)
      return alternatives.toSorted((one, other) => one.params.length - other.params.length);
    throw uncovered(
      "The query of this GET request does not begin with the query of publicUrl, or publicUrl ends with a bare question mark.",
      publicUrls,
    );
  };
}

function uncovered(message: string, [publicUrl]: readonly string[]): WebhookError {
  return new WebhookError("SIGNATURE_MISMATCH", message, {
    explain: () => explainCause("URL_QUERY_EXTRA", publicUrl),
  });
}

/** The beginning of the account in the text that is signed for a POST. */
const ACCOUNT_OF_POST = "account_sidAC";
/** And for a GET. */
const ACCOUNT_OF_GET = "account_sid=AC";

/**
 * Creates the check that a signed text does not fit a longer configured URL, or the other method: a
 * signature joins URL and parameters without a separator, so a request for one URL could be passed
 * off as one for another, and a GET as a POST.
 *
 * The URL that was signed may also be one that is not configured here, of another webhook of the
 * account. Then the text still shows the method: every event has an account, which a POST joins to
 * its name and a GET does not.
 *
 * @returns (by what it returns) the reason, or undefined.
 */
export function createFindUrlAmbiguity(publicUrls: readonly string[], urlMatching: UrlMatching) {
  const spellings = publicUrls.map((url) => listSignedUrls(url, urlMatching));
  const configured = spellings.flat();
  /** The configured URLs that go on where another one ends. */
  const longerUrls = new Map(
    configured.map((url) => [url, configured.filter((one) => one !== url && one.startsWith(url))]),
  );

  return function findUrlAmbiguity(
    signedUrl: string,
    joined: string,
    publicUrlIndex: number,
  ): string | undefined {
    if (joined.startsWith("?") || joined.startsWith("&")) {
      return "the parameters begin like a query";
    }
    // The signed URL of a GET request goes on after the configured one.
    const own = longerUrls.has(signedUrl)
      ? signedUrl
      : (spellings[publicUrlIndex]?.find((url) => signedUrl.startsWith(url)) ?? "");
    const appended = signedUrl.slice(own.length);
    const postAt = appended.indexOf(ACCOUNT_OF_POST);
    // A POST has nothing before its account that a user could have written.
    if (postAt !== -1 && !appended.slice(0, postAt).includes(ACCOUNT_OF_GET)) {
      return "the query begins like the parameters of a POST";
    }
    const longer = longerUrls.get(own) ?? spellings.toSpliced(publicUrlIndex, 1).flat();
    const isLonger = longer.some((url) => (signedUrl + joined).startsWith(url));
    return isLonger ? "the text also begins with another, longer publicUrl" : undefined;
  };
}

/** Encodes a query as a request line has it, in ASCII. */
function encodeNonAscii(text = ""): string {
  return text.replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent);
}

function cutPrefix(query: string, prefix: string | undefined): string | undefined {
  if (prefix === undefined) return query;
  if (query === prefix) return "";
  return query.startsWith(`${prefix}&`) ? query.slice(prefix.length + 1) : undefined;
}

function splitAtQuestionMark(url: string): [path: string, query?: string] {
  const at = url.indexOf("?");
  return at === -1 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}
