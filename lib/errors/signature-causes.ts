/** The causes of a signature that does not match: what happened, and how to fix it. */
export const CAUSES = {
  SIGNATURE_MISSING: [
    "There is no signature.",
    "Name the header that the service signs with in signatureHeader, and let proxies pass it on. A webhook request without it did not come from the service.",
  ],
  SIGNATURE_REPEATED: [
    "The signature header was sent more than once, and its values were joined.",
    "Find the proxy that repeats the header, and configure it to pass the header on once.",
  ],
  SIGNATURE_WHITESPACE: [
    "The signature contains whitespace or quotes.",
    "Pass the header's value exactly as received, without line breaks or quotes.",
  ],
  SIGNATURE_PREFIXED: [
    "The signature has a prefix such as sha1=.",
    "Pass the 28 characters of base64 without a prefix.",
  ],
  SIGNATURE_ENCODED: [
    "The signature was percent-encoded or form-decoded after it was sent.",
    "Pass the header's value unchanged: do not decode it, and do not send it in a query or a form.",
  ],
  SIGNATURE_URL_SAFE: [
    "The signature is written in the URL-safe alphabet of base64.",
    "Keep + and / in the header's value; do not encode it again.",
  ],
  SIGNATURE_CASE: [
    "The signature was changed to upper or lower case.",
    "Base64 is case-sensitive: change the case of header names only, never of values.",
  ],
  SIGNATURE_HEX: [
    "The signature is in hexadecimal.",
    "The service sends base64: pass the header's value, or use base64 when you sign in your own tests.",
  ],
  SIGNATURE_SHA256: [
    "The signature is an HMAC-SHA256.",
    "The service signs with HMAC-SHA1: use sign() to create signatures in your own tests.",
  ],
  SIGNATURE_TRUNCATED: [
    "The signature is not complete.",
    "A signature is 28 characters and ends with =. Find the code that cuts the header: it may split a line at =, or store it in a column or log that is too short.",
  ],
  SIGNATURE_MALFORMED: [
    "The signature is not 28 characters of base64.",
    "Check that you pass the value of the service's signature header, and nothing else.",
  ],
  URL_SCHEME: [
    "The service signed a URL with the other scheme: http instead of https, or the reverse.",
    "Make publicUrl the webhook_url as configured at the service. Behind a proxy that terminates TLS, do not build it from the request.",
  ],
  URL_PORT: [
    "The service signed a URL with another port, or without a port.",
    'Use the port of webhook_url in publicUrl. If only a default port is present or absent, urlMatching: "ports" accepts both spellings.',
  ],
  URL_HOST: [
    "The service signed a URL with another host name.",
    "Make publicUrl the webhook_url as configured at the service, not with the name from a proxy or the Host header.",
  ],
  URL_PATH: [
    "The service signed a URL with another path: its spelling differs, or a part was removed or added.",
    "Make publicUrl the whole webhook_url; in Express, req.url lacks the mount path.",
  ],
  URL_TRAILING_SLASH: [
    "The service signed a URL with a trailing slash and yours has none, or the reverse.",
    "Copy webhook_url from the service, byte for byte.",
  ],
  URL_QUERY_MISSING: [
    "The service signed a URL with a query that your URL lacks.",
    "The signature covers the query of webhook_url, and for a GET request also the parameters in it. Pass the whole URL.",
  ],
  URL_QUERY_EXTRA: [
    "Your URL has a query that the service did not sign.",
    "Make publicUrl the webhook_url as configured; a proxy or a tracker may have added the query.",
  ],
  URL_QUERY_ENCODING: [
    "The query was encoded again: it has the same meaning in other characters.",
    "Keep the URL as text: new URL(), URLSearchParams and fetch encode some characters differently.",
  ],
  URL_QUERY_ORDER: [
    "The parameters in the query are in another order than in the URL that the service signed.",
    "Keep the URL as text: do not build its query from an object.",
  ],
  URL_FRAGMENT: [
    "The fragment (#…) was signed; the service never signs a fragment.",
    "Remove the fragment before you sign in your own tests.",
  ],
  URL_WHITESPACE: [
    "Your URL has whitespace or quotes around it.",
    "Check the environment variable or file that publicUrl is read from.",
  ],
  TOKEN_WHITESPACE: [
    "Your auth token has whitespace or quotes around it.",
    "Check the environment variable or file that authToken is read from; a secret mounted as a file often ends with a line break.",
  ],
  TOKEN_OTHER: [
    "The webhook request was signed with one of the other tokens.",
    "Set authToken to the token of the account that sends the webhook requests; while you rotate it, pass both tokens.",
  ],
  TOKEN_ACCOUNT: [
    "The account_sid of the webhook request is not your account.",
    "Each account signs with its own auth token: use the token of that account, or a function as authToken that finds it.",
  ],
  TOKEN_NOT_A_TOKEN: [
    "Your auth token has the form of a SID.",
    "Use the auth token of the account, not a SID and not the secret of a key.",
  ],
  TOKEN_WRONG: [
    "No known change to the URL or the parameters makes the signature match, so it was most likely made with another token.",
    "Copy the primary auth token of the account that owns the service; the secret of a key does not sign webhook requests. After a rotation the old token may still be in use.",
  ],
  PARAMS_MISSING: [
    "There are no parameters: the body was not parsed, or another middleware already consumed it.",
    "Mount pushWebhooks() before express.urlencoded() and express.json(). express.urlencoded() also ignores application/x-www-urlencoded, which leaves the body empty.",
  ],
  PARAMS_MALFORMED: [
    "The body is not a valid form: it has invalid percent-encoding, or bytes that are not UTF-8.",
    "Pass the exact bytes of the body. Text that was copied from a log or cut off differs from them.",
  ],
  BODY_JSON: [
    "The body was passed as JSON; the service sends a form and signs the values of the form.",
    "Pass the exact bytes of the webhook request, name=value&name=value: req.rawBody, or the Buffer of express.raw(). JSON.stringify(req.body) and a log of req.body are not these bytes.",
  ],
  BODY_PARSED: [
    "The parameters come from a body that another middleware parsed, which may have changed them.",
    "Mount pushWebhooks() before express.urlencoded() and other parsers, or have the parser keep the exact bytes in req.rawBody.",
  ],
  PARAMS_UNSIGNED: [
    "The signature matches the URL without the parameters.",
    "Do not accept the request. Either the service did not send this body, or the signature is that of a GET request.",
  ],
  PARAMS_ALTERED: [
    "The parameters differ from those in the body.",
    "Verify the pairs of the exact body; a parser or another middleware changed them.",
  ],
  PARAMS_PLUS: [
    "Plus signs and spaces were exchanged.",
    "Decode the form once: + is a space, and %2B is a plus sign.",
  ],
  PARAMS_WHITESPACE: [
    "Whitespace at the start or end of a value was removed or added.",
    "Verify before values are trimmed: mount pushWebhooks() before sanitizers.",
  ],
  PARAMS_NEWLINES: [
    "Line breaks in a value were changed, between CR LF and LF.",
    "Keep the body as bytes: do not read it in text mode, and do not save it with an editor.",
  ],
  PARAMS_ENCODED: [
    "Values are still percent-encoded.",
    "Decode the names and values of the form once before you verify.",
  ],
  PARAMS_DECODED_TWICE: [
    "Values were decoded twice.",
    "Decode the form once: the values of a body parser are already decoded.",
  ],
  PARAMS_CHARSET: [
    "The body was not read as UTF-8.",
    'Read the body as UTF-8, not as "latin1" or "binary".',
  ],
  PARAMS_NORMALIZED: [
    "The Unicode normalization form of a value was changed (NFC, NFD).",
    "Verify before text is normalized.",
  ],
  PARAMS_ESCAPED: [
    "Values were escaped for HTML.",
    "Verify before values are escaped: mount pushWebhooks() before sanitizers.",
  ],
  PARAMS_JSON: [
    "JSON in a value was parsed and serialized again.",
    "Keep the text of JSON parameters unchanged; parse a copy.",
  ],
  PARAMS_QUERY_MERGED: [
    "The parameters of the URL's query were merged with those of the body.",
    "Verify the parameters of the body only: req.body, not {...req.query, ...req.body}.",
  ],
  PARAMS_ADDED: [
    "A parameter was added that the service did not sign.",
    "Verify before another middleware adds a parameter to the body.",
  ],
  PARAMS_EMPTY_DROPPED: [
    "A parameter with an empty value was removed.",
    "Keep parameters with an empty value: their names are signed.",
  ],
} as const satisfies Record<string, readonly [explanation: string, fix: string]>;

/** The stable name of a cause: a key of {@link CAUSES}. @experimental */
export type SignatureCauseCode = keyof typeof CAUSES;

/** The result of an explanation: why a signature does not match. */
export interface SignatureReport {
  /** Whether the signature matches. */
  matches: boolean;
  /** The likeliest cause first; empty when the signature matches. */
  causes: SignatureCause[];
  /** What was tried. A token is shown as a fingerprint of 8 hexadecimal digits. */
  tried: { urls: string[]; tokens: string[]; combinations: number };
}

/** One reason why a signature does not match. */
export interface SignatureCause {
  code: SignatureCauseCode;
  /** True: with this mistake undone, the signature matches. False: there are only indications. */
  isProven: boolean;
  /** What happened. */
  explanation: string;
  /** How to fix it. */
  fix: string;
  /**
   * The detail that the cause is about. `URL_…`: the signed URL if the cause is proven, else the
   * given URL; without user info, and without a query that contains parameters. `PARAMS_…`: the name
   * of the parameter. `TOKEN_…`: the fingerprint of the token, and its name. `BODY_JSON`: `"body"`.
   */
  subject?: string;
}
