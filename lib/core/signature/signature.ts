import { timingSafeEqual, type KeyObject } from "node:crypto";
import type { Pair } from "../../kit/pairs";
import { AUTH_TOKEN, isAuthToken } from "../../kit/auth-token";
import { createTokenKey, signText } from "./hmac";
import { listSignedUrls, stripUnsigned, type UrlMatching } from "./signed-urls";
import { describeType } from "../../kit/validate-options";

/** The parameters of a webhook request: pairs in any order, or a record of values. */
export type SignedParams = Iterable<Pair> | Readonly<Record<string, string | readonly string[]>>;

/** Options of {@link sign}. */
export interface SignOptions {
  /** The account's auth token. */
  authToken: string;
  /** The URL as configured at the service, byte for byte. For a GET: the URL that is requested. */
  url: string;
  /** The parameters in the body. For a GET: none, they are in `url`. */
  params: SignedParams;
}

/** Options of {@link verifySignature}. */
export interface VerifySignatureOptions extends Omit<SignOptions, "authToken"> {
  /** The account's auth token, or several while one replaces another. */
  authToken: string | readonly string[];
  /** The value of the signature header. */
  signature: string;
  /** @default "ports" */
  urlMatching?: UrlMatching | undefined;
}

/** The token and the spelling of the URL that a signature was made with. */
export interface SignatureMatch {
  /** Index of the token in `authToken`; 0 for a single one. */
  authTokenIndex: number;
  /** The URL that was signed: without user info and fragment, with or without its port. */
  signedUrl: string;
}

/**
 * Signs a webhook request as the service does (specification, section 5): base64 of HMAC-SHA1, keyed
 * with the auth token, over the URL, then each distinct name and value, sorted by UTF-16 code unit.
 *
 * User info and fragment of the URL are not signed; the rest of the URL is signed unchanged.
 *
 * @throws TypeError for an `authToken` that anyone can guess, a `url` or `params` of another type, or a text
 *   that has a lone surrogate and so no UTF-8 form.
 */
export function sign({ authToken, url, params }: SignOptions): string {
  assertToken(authToken);
  assertSignable("sign", url, params);
  const signedUrl = stripUnsigned(url);
  const joined = joinParams(params);
  if (!signedUrl.isWellFormed() || !joined.isWellFormed()) {
    throw new TypeError(
      "sign: url and params must be well-formed Unicode; a lone surrogate has no UTF-8 form.",
    );
  }
  return signText(createTokenKey(authToken), signedUrl, joined);
}

/**
 * Verifies a signature in constant time, against each token and each URL that `urlMatching` allows.
 *
 * @returns the first match; undefined when none matches or the signature is malformed.
 * @throws TypeError for no token or one that anyone can guess, and for a `url` or `params` of another type.
 */
export function verifySignature(options: VerifySignatureOptions): SignatureMatch | undefined {
  const { authToken, url, params, signature, urlMatching = "ports" } = options;
  const authTokens = [authToken].flat();
  if (authTokens.length === 0) throw new TypeError("verifySignature: authToken must not be empty.");
  for (const token of authTokens) assertToken(token);
  assertSignable("verifySignature", url, params);
  const joined = joinParams(params);
  if (!isSignature(signature) || !joined.isWellFormed()) return undefined;
  return findMatch(
    signature,
    authTokens.map(createTokenKey),
    listSignedUrls(url, urlMatching),
    joined,
  );
}

/**
 * Verifies a signature like {@link verifySignature}, without its checks: {@link isSignature}
 * accepts the text, and the result of {@link joinParams} has no lone surrogate.
 */
export function findMatch(
  signature: string,
  keys: readonly KeyObject[],
  signedUrls: readonly string[],
  joined: string,
): SignatureMatch | undefined {
  const received = Buffer.from(signature, "latin1");
  for (const signedUrl of signedUrls) {
    const authTokenIndex = keys.findIndex((key) => {
      const expected = Buffer.from(signText(key, signedUrl, joined), "latin1");
      return timingSafeEqual(received, expected);
    });
    if (authTokenIndex !== -1) return { authTokenIndex, signedUrl };
  }
  return undefined;
}

/** Returns whether a text has the form of a signature: 28 characters of padded standard base64. */
export function isSignature(text: string): boolean {
  // findMatch compares the text: decoding it would accept several spellings of one signature.
  return /^[A-Za-z0-9+/]{27}=$/.test(text);
}

/** Joins the parameters as they are signed: each distinct name and value, sorted, no separator. */
export function joinParams(params: SignedParams): string {
  const pairs = listPairs(params);
  // Indexes: to sort a list of any length takes V8 1 kB.
  const order = new Uint32Array(pairs.length);
  for (let index = 0; index < order.length; index++) order[index] = index;
  order.sort((a, b) => comparePairs(pairs[a] as Pair, pairs[b] as Pair));
  let joined = "";
  let previous: Pair | undefined;
  for (let index = 0; index < order.length; index++) {
    const pair = pairs[order[index] as number] as Pair;
    if (pair[0] !== previous?.[0] || pair[1] !== previous[1]) joined += pair[0] + pair[1];
    previous = pair;
  }
  return joined;
}

/** Returns parameters as a list of pairs. */
export function listPairs(params: SignedParams): Pair[] {
  if (Array.isArray(params)) return params as Pair[];
  if (Symbol.iterator in params) return Array.from(params as Iterable<Pair>);
  return Object.entries(params).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : value.map((one) => [name, one] as const),
  );
}

/** Orders by name, then by value, in UTF-16 code units. */
function comparePairs([name, value]: Pair, [otherName, otherValue]: Pair): number {
  if (name !== otherName) return name < otherName ? -1 : 1;
  return value === otherValue ? 0 : value < otherValue ? -1 : 1;
}

function assertSignable(owner: string, url: unknown, params: unknown): void {
  if (typeof url !== "string") {
    throw new TypeError(
      `${owner}: url must be a string, the href of the URL that is signed; received ${describeType(url)}.`,
    );
  }
  if (typeof params !== "object" || params === null) {
    throw new TypeError(
      `${owner}: params must be a list of pairs or a record of values, [] for none; received ${describeType(params)}.`,
    );
  }
}

function assertToken(authToken: unknown): void {
  if (!isAuthToken(authToken)) {
    throw new TypeError(`authToken must be ${AUTH_TOKEN.expected} (its value is not shown).`);
  }
}
