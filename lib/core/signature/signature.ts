import { timingSafeEqual, type KeyObject } from "node:crypto";
import { AUTH_TOKEN, isAuthToken } from "../../kit/auth-token";
import type { Pair } from "../../kit/pairs";
import { encodeForm } from "../../kit/text";
import { decodeForm } from "../event/form";
import { createTokenKey, signText } from "./hmac";
import { listSignedUrls, stripUnsigned, type UrlMatching } from "./signed-urls";
import { describeType } from "../../kit/validate-options";

/** The parameters of a webhook request: pairs in any order, or a record of values. */
export type SignedParams = Iterable<Pair> | Readonly<Record<string, string | readonly string[]>>;

/** What a signature covers, and its key. */
export interface SignOptions {
  /** The account's auth token. */
  authToken: string;
  /** The URL as configured at the service, byte for byte. For a GET: the URL that is requested. */
  url: string;
  /** The parameters in the body. For a GET: none, they are in `url`. */
  params: SignedParams;
}

/** A signature, and what it should cover. */
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
  const pairs = listPairs(params);
  if (!signedUrl.isWellFormed() || !areWellFormed(pairs)) {
    throw new TypeError(
      "sign: url and params must be well-formed Unicode; a lone surrogate has no UTF-8 form.",
    );
  }
  return signText(createTokenKey(authToken), signedUrl, joinParams(pairs));
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
  const pairs = listPairs(params);
  if (!isSignature(signature) || !areWellFormed(pairs)) return undefined;
  return findMatch(
    signature,
    authTokens.map(createTokenKey),
    listSignedUrls(url, urlMatching),
    joinParams(pairs),
  );
}

/**
 * Verifies a signature like {@link verifySignature}, without its checks.
 *
 * @param signature one that {@link isSignature} accepts: it fills its buffer.
 */
export function findMatch(
  signature: string,
  keys: readonly KeyObject[],
  signedUrls: readonly string[],
  joined: string,
): SignatureMatch | undefined {
  RECEIVED.write(signature, "latin1");
  for (const signedUrl of signedUrls) {
    for (let authTokenIndex = 0; authTokenIndex < keys.length; authTokenIndex++) {
      EXPECTED.write(signText(keys[authTokenIndex] as KeyObject, signedUrl, joined), "latin1");
      if (timingSafeEqual(RECEIVED, EXPECTED)) return { authTokenIndex, signedUrl };
    }
  }
  return undefined;
}

const SIGNATURE_CHARACTERS = 28;
// For all comparisons, which are synchronous.
const RECEIVED = Buffer.alloc(SIGNATURE_CHARACTERS);
const EXPECTED = Buffer.alloc(SIGNATURE_CHARACTERS);

/** Returns whether a text has the form of a signature: 28 characters of padded standard base64. */
export function isSignature(text: string): boolean {
  // findMatch compares the text: decoding it would accept several spellings of one signature.
  return /^[A-Za-z0-9+/]{27}=$/.test(text);
}

/** Joins parameters as they are signed: as the form that has them. */
export function joinParams(pairs: readonly Pair[]): string {
  return decodeForm(encodeForm(pairs), Number.POSITIVE_INFINITY).joined;
}

/** Returns whether each name and value has a UTF-8 form: no lone surrogate. */
export function areWellFormed(pairs: readonly Pair[]): boolean {
  return pairs.every(([name, value]) => name.isWellFormed() && value.isWellFormed());
}

/** Returns parameters as pairs. */
export function listPairs(params: SignedParams): Pair[] {
  if (Array.isArray(params)) return params as Pair[];
  if (Symbol.iterator in params) return Array.from(params as Iterable<Pair>);
  return Object.entries(params).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : value.map((one) => [name, one] as const),
  );
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
