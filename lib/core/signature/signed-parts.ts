import { decodeForm, type Form } from "../event/form";
import type { Pair } from "../../kit/pairs";
import { StacklessError } from "../../kit/stackless-error";
import { listSignedUrls, type UrlMatching } from "./signed-urls";

/** The parts of a webhook request that its signature covers. */
export interface SignedParts {
  /**
   * The spellings of the URL that may be signed. For a POST: of each publicUrl. For a GET: of one
   * publicUrl, with the parameters that the request appended.
   */
  signedUrls: readonly string[];
  /** The index of the publicUrl of each of `signedUrls`. */
  publicUrlIndexes: readonly number[];
  /** The parameters that are signed after the URL, as {@link Form} has them. */
  joined: string;
  /** The parameters of the event. */
  params: readonly Pair[];
}

/** What may be signed of a request: several when a GET fits several publicUrls. */
export type SignedReadings = readonly [SignedParts, ...SignedParts[]];

/** Creates the step that returns the signed parts of a POST request: its parameters are in the body. */
export function createPostParts(publicUrls: readonly string[], urlMatching: UrlMatching) {
  const listed = publicUrls.map((url) => listSignedUrls(url, urlMatching));
  const signedUrls = listed.flat();
  const publicUrlIndexes = listed.flatMap((urls, index) => urls.map(() => index));
  return ({ pairs, joined }: Form): SignedReadings => [
    { signedUrls, publicUrlIndexes, joined, params: pairs },
  ];
}

/** The target of a GET request that begins with no configured URL. */
export class UncoveredTargetError extends StacklessError {
  override readonly name = "UncoveredTargetError";
  /** The first configured URL. */
  readonly publicUrl: string | undefined;

  constructor(message: string, [publicUrl]: readonly string[]) {
    super(message);
    this.publicUrl = publicUrl;
  }
}

/**
 * Creates the step that returns the signed parts of a GET request, for each publicUrl whose query its
 * target begins with: the service appends the parameters to it and signs the whole (section 5).
 *
 * @throws UncoveredTargetError (by the returned function) when the query of the target begins with
 *   the query of no publicUrl; FormError as {@link decodeForm}.
 */
export function createGetParts(publicUrls: readonly string[], urlMatching: UrlMatching) {
  return function getParts(target: string): SignedReadings {
    // No client sends a fragment, and no signature covers one.
    if (target.includes("#")) {
      throw new UncoveredTargetError("The target of a GET request has a fragment.", publicUrls);
    }
    const [, query = ""] = splitAtQuestionMark(target);
    const alternatives = publicUrls.flatMap((publicUrl, index): SignedParts[] => {
      const [base, prefix] = splitAtQuestionMark(publicUrl.split("#", 1)[0] ?? "");
      // After a bare "?", an attacker could pass a signed POST, which has no separators, off as a GET.
      if (prefix === "") return [];
      const appended = cutPrefix(query, prefix) ?? cutPrefix(query, encodeNonAscii(prefix));
      if (appended === undefined) return [];
      const separator = prefix === undefined || appended === "" ? "" : "&";
      const url = `${base}?${prefix ?? ""}${separator}${appended}`;
      const signedUrls = listSignedUrls(url, urlMatching);
      const publicUrlIndexes = signedUrls.map(() => index);
      return [{ signedUrls, publicUrlIndexes, joined: "", params: decodeForm(appended).pairs }];
    });
    // The longest configured query first: after a shorter one, its rest counts as a parameter.
    alternatives.sort((one, other) => one.params.length - other.params.length);
    const [first, ...others] = alternatives;
    if (first !== undefined) return [first, ...others];
    throw new UncoveredTargetError(
      "The query of this GET request does not begin with the query of publicUrl, or publicUrl ends with a bare question mark.",
      publicUrls,
    );
  };
}

/** Encodes a query as clients send it, in ASCII. */
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
