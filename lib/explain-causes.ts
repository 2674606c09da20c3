/** Every cause that a signature may not match for: what happened, and what to change. */
export const CAUSES = {
  SIGNATURE_MISSING: [
    "There is no signature.",
    "Name the header that the service signs with in signatureHeader, and let proxies pass it on. A call without one did not come from the service.",
  ],
  SIGNATURE_REPEATED: [
    "The signature header came more than once, and its values were joined.",
    "Find the proxy that sends the header again, and let it pass the original once.",
  ],
  SIGNATURE_WHITESPACE: [
    "The signature has whitespace or quotes around or in it.",
    "Pass the header's value exactly as received, without line breaks or quotes.",
  ],
  SIGNATURE_PREFIXED: [
    "The signature has a prefix such as sha1=.",
    "Pass the 28 characters of base64 alone.",
  ],
  SIGNATURE_ENCODED: [
    "The signature was percent-encoded or form-decoded on its way.",
    "Pass the header's value as it is: do not decode it, nor send it through a query or a form.",
  ],
  SIGNATURE_URL_SAFE: [
    "The signature is in the URL-safe alphabet of base64.",
    "Keep + and / in the header's value; do not re-encode it.",
  ],
  SIGNATURE_CASE: [
    "The signature was changed to another case.",
    "Base64 is case-sensitive: lower-case header names alone, never values.",
  ],
  SIGNATURE_HEX: [
    "The signature is in hexadecimal.",
    "The service sends base64: pass the header itself, or sign with base64 in your own tests.",
  ],
  SIGNATURE_SHA256: [
    "The signature is an HMAC-SHA256.",
    "The service signs with HMAC-SHA1: use sign() to make signatures in your own tests.",
  ],
  SIGNATURE_TRUNCATED: [
    "The signature is not complete.",
    "A signature is 28 characters and ends with =. Find what cuts the header: splitting a line at =, a column that is too short, a log.",
  ],
  SIGNATURE_MALFORMED: [
    "The signature is not 28 characters of base64.",
    "Check that it is the value of the service's signature header and of nothing else.",
  ],
  URL_SCHEME: [
    "The service signed the other scheme: http instead of https, or the reverse.",
    "Make publicUrl the webhook_url as configured at the service. Behind a proxy that ends TLS, do not build it from the request.",
  ],
  URL_PORT: [
    "The service signed the URL with another port, or with none.",
    'Give publicUrl the port that webhook_url has; for default ports alone, urlMatching: "ports" tries both spellings.',
  ],
  URL_HOST: [
    "The service signed another host name.",
    "Make publicUrl the webhook_url as configured at the service, not the name that a proxy or the Host header gives.",
  ],
  URL_PATH: [
    "The service signed another path: its spelling differs, or a part of it was cut off or added.",
    "Make publicUrl the whole webhook_url; in Express, req.url lacks the path of the mount.",
  ],
  URL_TRAILING_SLASH: [
    "The service signed the URL with a trailing slash where yours has none, or the reverse.",
    "Copy webhook_url from the service, byte for byte.",
  ],
  URL_QUERY_MISSING: [
    "The service signed a query that your URL lacks.",
    "The query of webhook_url is part of what is signed; for a GET call, so are its parameters. Give the whole.",
  ],
  URL_QUERY_EXTRA: [
    "Your URL has a query that the service did not sign.",
    "Make publicUrl the webhook_url as configured; a proxy or a tracker may have added the query.",
  ],
  URL_QUERY_ENCODING: [
    "The query was encoded anew, so it says the same in other bytes.",
    "Keep the URL as text: new URL(), URLSearchParams and fetch write some characters another way.",
  ],
  URL_QUERY_ORDER: [
    "The query has its parameters in another order than the service signed.",
    "Keep the URL as text: do not build its query from an object.",
  ],
  URL_FRAGMENT: [
    "The fragment (#…) was signed, which the service never does.",
    "Take the fragment out before you sign in your own tests.",
  ],
  URL_WHITESPACE: [
    "Your URL has whitespace or quotes around it.",
    "Look at the environment variable or file that publicUrl comes from.",
  ],
  TOKEN_WHITESPACE: [
    "Your auth token has whitespace or quotes around it.",
    "Look at the environment variable or file that authToken comes from; a secret mounted as a file often ends with a line break.",
  ],
  TOKEN_OTHER: [
    "The call was signed with another of the tokens you know.",
    "Give authToken the token of the account that sends the calls; while you rotate it, give both.",
  ],
  TOKEN_ACCOUNT: [
    "The call says that it comes from another account than yours.",
    "Each account signs with its own auth token: use that of the account in the call's account_sid, or a function that finds it.",
  ],
  TOKEN_NOT_A_TOKEN: [
    "Your auth token has the form of an identifier.",
    "Use the auth token of the account itself: neither a SID, nor the secret of a key.",
  ],
  TOKEN_WRONG: [
    "No change to the URL and the parameters makes the signature match, so it was most likely made with a token that is not among yours.",
    "Copy the primary auth token of the very account that owns the service; the secret of a key does not sign calls. After a rotation the old one may be in use still.",
  ],
  PARAMS_MISSING: [
    "There are no parameters: the body was not parsed, or another middleware has read it before.",
    "Mount pushWebhooks() before express.urlencoded() and express.json(). express.urlencoded() also ignores application/x-www-urlencoded, which leaves the body empty.",
  ],
  PARAMS_MALFORMED: [
    "The body is no form: invalid percent-encoding, or bytes that are not UTF-8.",
    "Give the exact bytes of the body. A file that was pasted from a log, or cut, is not it.",
  ],
  BODY_JSON: [
    "The body was given as JSON; the service sends a form, and signs the values of that form.",
    "Give the exact bytes of the webhook request, name=value&name=value: req.rawBody, or the Buffer of express.raw(). JSON.stringify(req.body) and a log of req.body are not these bytes.",
  ],
  BODY_PARSED: [
    "The parameters come from a body that another middleware parsed, which may have changed them.",
    "Mount pushWebhooks() before express.urlencoded() and other parsers, or have the parser keep the exact bytes in req.rawBody.",
  ],
  PARAMS_UNSIGNED: [
    "The signature is right for the URL alone and does not cover the parameters.",
    "Do not accept it. Either the body was not sent by the service, or it is that of a GET call.",
  ],
  PARAMS_ALTERED: [
    "The parameters are not those in the body.",
    "Verify the pairs of the exact body; a parser or another middleware has changed them.",
  ],
  PARAMS_PLUS: [
    "Plus signs and spaces were taken for one another.",
    "Decode the form once: + is a space, and %2B is a plus sign.",
  ],
  PARAMS_WHITESPACE: [
    "Whitespace at an end of a value was removed, or added.",
    "Verify before anything trims values: mount pushWebhooks() before sanitizers.",
  ],
  PARAMS_NEWLINES: [
    "Line breaks in a value were changed, between CR LF and LF.",
    "Keep the body as bytes: no text mode, no editor in between.",
  ],
  PARAMS_ENCODED: [
    "Values are percent-encoded still.",
    "Decode names and values of the form once before you verify.",
  ],
  PARAMS_DECODED_TWICE: [
    "Values were decoded twice.",
    "Decode the form once: what a body parser gives is decoded already.",
  ],
  PARAMS_CHARSET: [
    "The body was read in another charset than UTF-8.",
    'Read the body as UTF-8, not as "latin1" or "binary".',
  ],
  PARAMS_NORMALIZED: [
    "The Unicode form of a value was changed (NFC, NFD).",
    "Verify before anything normalises text.",
  ],
  PARAMS_ESCAPED: [
    "Values were escaped for HTML.",
    "Verify before anything escapes values: mount pushWebhooks() before sanitizers.",
  ],
  PARAMS_JSON: [
    "JSON in a value was parsed and written anew.",
    "Keep the text of JSON parameters; parse a copy.",
  ],
  PARAMS_QUERY_MERGED: [
    "The parameters of the URL's query were put among those of the body.",
    "Verify the parameters of the body alone, req.body and not {...req.query, ...req.body}.",
  ],
  PARAMS_ADDED: [
    "A parameter was added that the service did not sign.",
    "Verify before other middleware adds anything to the body.",
  ],
  PARAMS_EMPTY_DROPPED: [
    "A parameter with an empty value was dropped.",
    "Keep empty values: their names are signed.",
  ],
} as const satisfies Record<string, readonly [explanation: string, fix: string]>;

/** The name of one cause: a key of {@link CAUSES}. @experimental */
export type SignatureCauseCode = keyof typeof CAUSES;

/** Why a signature did not match. */
export interface SignatureReport {
  /** Whether it does match after all. */
  matches: boolean;
  /** The likeliest first; none when it matches. */
  causes: SignatureCause[];
  /** What was tried. Tokens are shown as fingerprints, 8 hexadecimal digits, and nothing else. */
  tried: { urls: string[]; tokens: string[]; combinations: number };
}

/** One reason for a signature not to match. */
export interface SignatureCause {
  code: SignatureCauseCode;
  /** True: with this changed the signature does match. False: what speaks for it is all there is. */
  isProven: boolean;
  /** What happened. */
  explanation: string;
  /** What to change. */
  fix: string;
  /**
   * What the cause is about. `URL_…`: the URL that was signed if the cause is proven, else the URL
   * that was given, without user info and without a query that holds parameters. `PARAMS_…`: the
   * name of the parameter. `TOKEN_…`: the fingerprint of the token, and its name. `BODY_JSON`:
   * `"body"`.
   */
  subject?: string;
}

/** One value that something may have been, and what must have happened then. */
export interface Variant<Value> {
  value: Value;
  /** Empty: the value as given. */
  causes: readonly SignatureCauseCode[];
  /** What exactly the cause is about, in words that hold no secret. */
  subject?: string;
}

/** Collects variants, each value once, the one with the fewest causes first come. */
export function createVariants<Value>(keyOf: (value: Value) => string, max: number) {
  const seen = new Set<string>();
  const list: Variant<Value>[] = [];
  return {
    list,
    add(value: Value, causes: readonly SignatureCauseCode[], subject?: string): void {
      const key = keyOf(value);
      if (seen.has(key) || list.length >= max) return;
      seen.add(key);
      list.push({ value, causes, ...(subject !== undefined && { subject }) });
    },
  };
}
