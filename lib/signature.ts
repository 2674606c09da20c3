import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { isWellFormed, type Pair } from "./form";

/** The parameters of a call: pairs in any order, or a record of values. */
export type SignedParams = Iterable<Pair> | Readonly<Record<string, string | readonly string[]>>;

/**
 * Which spellings of the default port are tried. `"exact"`: the URL as given. `"ports"`: the URL
 * as given, then with an explicit port removed, or with the default port of its scheme added.
 */
export type UrlMatching = "exact" | "ports";

/** What {@link sign} needs. */
export interface SignOptions {
  /** The account's auth token. */
  authToken: string;
  /** The URL as configured at the service, byte for byte. For a GET: the URL that is called. */
  url: string;
  /** The parameters in the body. For a GET: none, they are in `url`. */
  params: SignedParams;
}

/** What {@link verifySignature} needs. */
export interface VerifySignatureOptions extends Omit<SignOptions, "authToken"> {
  /** The account's auth token, or several while one replaces another. */
  authToken: string | readonly string[];
  /** The value of the signature header. */
  signature: string;
  /** @default "ports" */
  urlMatching?: UrlMatching | undefined;
}

/** Which token and which spelling of the URL a signature was made with. */
export interface SignatureMatch {
  /** Index of the token in `authToken`; 0 for a single one. */
  authTokenIndex: number;
  /** The URL that was signed: without user info and fragment, with or without its port. */
  signedUrl: string;
}

/**
 * Signs a call as the service does (specification, section 5): base64 of HMAC-SHA1, keyed with the
 * auth token, over the URL followed by every distinct name and value, sorted by UTF-16 code unit.
 *
 * User info and fragment of the URL are not signed; nothing else of it is touched.
 *
 * @throws TypeError when `authToken` is empty, or a text has half a surrogate pair and so no UTF-8
 *   form of its own.
 */
export function sign({ authToken, url, params }: SignOptions): string {
  assertToken(authToken);
  const text = stripUnsigned(url) + joinParams(params);
  if (!isWellFormed(text)) {
    throw new TypeError(
      "sign: url and params must be well-formed Unicode; half a surrogate pair has no UTF-8 form.",
    );
  }
  return digest(authToken, text);
}

/**
 * Verifies a signature in constant time against each token and each spelling of the URL that
 * `urlMatching` allows.
 *
 * @returns which of them matched, or undefined when none did or the signature is malformed.
 * @throws TypeError when there is no token, or an empty one.
 */
export function verifySignature(options: VerifySignatureOptions): SignatureMatch | undefined {
  const { authToken, url, params, signature, urlMatching = "ports" } = options;
  const authTokens = typeof authToken === "string" ? [authToken] : authToken;
  if (authTokens.length === 0) throw new TypeError("verifySignature: authToken must not be empty.");
  for (const token of authTokens) assertToken(token);
  const joined = joinParams(params);
  if (!isSignature(signature) || !isWellFormed(joined)) return undefined;
  const match = findMatch(signature, authTokens, listSignedUrls(url, urlMatching), joined);
  if (match === undefined) return undefined;
  const { authTokenIndex, signedUrl } = match;
  return { authTokenIndex, signedUrl };
}

/**
 * As {@link verifySignature}, for a signature and tokens that have the form of some, and for what
 * {@link joinParams} made of parameters without halves of surrogate pairs.
 */
export function findMatch(
  signature: string,
  authTokens: readonly string[],
  signedUrls: readonly string[],
  joined: string,
): (SignatureMatch & { signedText: string }) | undefined {
  const received = Buffer.from(signature, "latin1");
  for (const signedUrl of signedUrls) {
    for (const [authTokenIndex, token] of authTokens.entries()) {
      const signedText = signedUrl + joined;
      const expected = Buffer.from(digest(token, signedText), "latin1");
      if (timingSafeEqual(received, expected)) return { authTokenIndex, signedUrl, signedText };
    }
  }
  return undefined;
}

/** Whether a text has the form of a signature: 28 characters of padded standard base64. */
export function isSignature(text: string): boolean {
  // Compared as text later on: decoding would let several spellings of one signature through.
  return /^[A-Za-z0-9+/]{27}=$/.test(text);
}

const AUTHORITY = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^/?#]*)([^#]*)/i;

/** A URL without what is never signed of it: user info and fragment. */
export function stripUnsigned(url: string): string {
  return url.replace(AUTHORITY, "$1$2$3").replace(/#.*$/s, "");
}

/** The spellings of a URL that may have been signed, as `urlMatching` allows, likeliest first. */
export function listSignedUrls(url: string, urlMatching: UrlMatching): string[] {
  const asGiven = stripUnsigned(url);
  const parts = AUTHORITY.exec(asGiven);
  if (urlMatching === "exact" || parts === null) return [asGiven];
  const [, scheme = "", host = "", rest = ""] = parts;
  const bareHost = host.replace(/:\d+$/, "");
  if (bareHost !== host) return [asGiven, scheme + bareHost + rest];
  const defaultPort = scheme.toLowerCase() === "http://" ? 80 : 443;
  return [asGiven, `${scheme}${host}:${defaultPort}${rest}`];
}

/** What of the parameters is signed: each distinct name and value, sorted, with no separator. */
export function joinParams(params: SignedParams): string {
  const pairs = listPairs(params).toSorted(comparePairs);
  let joined = "";
  let previous: Pair | undefined;
  for (const pair of pairs) {
    if (pair[0] !== previous?.[0] || pair[1] !== previous[1]) joined += pair[0] + pair[1];
    previous = pair;
  }
  return joined;
}

/** The pairs of parameters, however they were given. */
export function listPairs(params: SignedParams): Pair[] {
  if (Array.isArray(params)) return params as Pair[];
  if (Symbol.iterator in params) return Array.from(params as Iterable<Pair>);
  return Object.entries(params).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : value.map((one) => [name, one] as const),
  );
}

function comparePairs(a: Pair, b: Pair): number {
  return compareCodeUnits(a[0], b[0]) || compareCodeUnits(a[1], b[1]);
}

function compareCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The SHA-256 of a text, in hexadecimal: to tell texts apart, where they must not be shown. */
export function hashText(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** The base64 of an HMAC keyed with a token; the service's own is SHA-1 (section 5). */
export function digest(
  authToken: string,
  text: string,
  algorithm: "sha1" | "sha256" = "sha1",
): string {
  return createHmac(algorithm, authToken).update(text, "utf8").digest("base64");
}

function assertToken(authToken: unknown): void {
  // An empty key makes a signature that anybody can make.
  if (typeof authToken !== "string" || authToken === "") {
    throw new TypeError("authToken must be a string that is not empty (its value is not shown).");
  }
}
