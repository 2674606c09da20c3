/** The causes of a signature that does not match: an explanation, and how to fix it. */
export const CAUSES = {
  SIGNATURE_MISSING: [
    "There is no signature.",
    "Set signatureHeader to the header that the service signs with, and let proxies pass it on. A request without it is not of the service.",
  ],
  SIGNATURE_REPEATED: [
    "The signature header was sent more than once, and its values were joined.",
    "Find the proxy that repeats the header, and configure it to pass the header on once.",
  ],
  SIGNATURE_ALGORITHM: [
    "The signature is in hexadecimal or an HMAC-SHA256.",
    "The service sends an HMAC-SHA1 in base64: create signatures of tests with sign().",
  ],
  SIGNATURE_MALFORMED: [
    "The signature is not 28 characters of base64: it was cut off, quoted, prefixed, encoded or changed to another case.",
    "Pass the value of the signature header as received.",
  ],
  URL_SCHEME: [
    "The service signed a URL with the other scheme.",
    "Make publicUrl the webhook_url of the service. Behind a proxy that terminates TLS, do not build it from the request.",
  ],
  URL_PORT: [
    "The service signed a URL with another port, or without a port.",
    'Use the port of webhook_url in publicUrl. With or without a default port, urlMatching: "ports" accepts both.',
  ],
  URL_HOST: [
    "The service signed a URL with another host name.",
    "Make publicUrl the webhook_url of the service, without the name of a proxy or of the Host header.",
  ],
  URL_PATH: [
    "The service signed a URL with another path: in another spelling, or with a part more or less.",
    "Make publicUrl the whole webhook_url; in Express, req.url lacks the mount path.",
  ],
  URL_TRAILING_SLASH: [
    "The service signed a URL that differs in the slash at the end of its path.",
    "Copy webhook_url from the service, byte for byte.",
  ],
  URL_QUERY_MISSING: [
    "The service signed a URL with a query, or a bare question mark, that your URL lacks.",
    "The signature covers the query of webhook_url, and the parameters of a GET. Pass the whole URL.",
  ],
  URL_QUERY_EXTRA: [
    "Your URL has a query, or a bare question mark, that the service did not sign.",
    "Make publicUrl the webhook_url of the service; a proxy or a tracker may have added the query.",
  ],
  URL_QUERY_ENCODING: [
    "The query was written again, in other characters or in another order.",
    "Keep the URL as text: new URL(), URLSearchParams and fetch change some characters.",
  ],
  URL_WHITESPACE: [
    "Your URL has whitespace or quotes around it.",
    "Check the variable or file of publicUrl.",
  ],
  TOKEN_WHITESPACE: [
    "Your auth token has whitespace or quotes around it.",
    "Check the variable or file of authToken; a secret in a file often ends with a line break.",
  ],
  TOKEN_OTHER: [
    "The webhook request was signed with one of the other tokens.",
    "Set authToken to the token of the account that sends the requests; while it rotates, pass both.",
  ],
  TOKEN_ACCOUNT: [
    "The account_sid of the webhook request is not your account.",
    "Each account signs with its own token: use the token of that account, or a function as authToken.",
  ],
  TOKEN_NOT_A_TOKEN: [
    "Your auth token has the form of a SID.",
    "Use the auth token of the account, not a SID and not the secret of a key.",
  ],
  TOKEN_WRONG: [
    "Nothing is proven: either publicUrl is not the webhook_url that is configured at the service, or authToken is not the token of the account that sent the request.",
    "Compare publicUrl with the webhook_url (push-webhooks webhooks check). If they are equal, compare authToken with the primary auth token of the account; no secret of a key signs webhook requests, and after a rotation the old token may still sign.",
  ],
  PARAMS_MISSING: [
    "There are no parameters: the body was not parsed, is no valid form, or another middleware consumed it.",
    "Mount pushWebhooks() before express.urlencoded() and express.json(), or pass the exact bytes. express.urlencoded() leaves a body of the type application/x-www-urlencoded empty.",
  ],
  BODY_JSON: [
    "The body was passed as JSON; the service sends and signs a form.",
    "Pass the exact bytes, name=value&name=value: req.rawBody, or the Buffer of express.raw(); no JSON or log of req.body.",
  ],
  BODY_WRAPPED: [
    "The form is inside another text, such as base64, JSON, a parameter or quotes, or was encoded or compressed once more.",
    "Pass the exact bytes: undo the wrapping that subject names, such as isBase64Encoded of AWS Lambda, or remove what adds it.",
  ],
  BODY_CUT: [
    "The body ends early: a parameter is missing, or the last one was cut off.",
    "Pass the whole body. Find what limits its length: a proxy, the platform or a log.",
  ],
  OTHER_PRODUCT: [
    "The URL has bodySHA256, as of another product of the service, which sends JSON.",
    "Give the other product another URL. bodySHA256 differs in each request: do not copy it into publicUrl.",
  ],
  BODY_PARSED: [
    "Another middleware parsed the body, and may have changed its parameters.",
    "Mount pushWebhooks() before express.urlencoded() and other parsers, or keep the exact bytes in req.rawBody.",
  ],
  PARAMS_UNSIGNED: [
    "The signature matches the URL without the parameters.",
    "Do not accept the request. Either the service did not send this body, or it signed a GET request.",
  ],
  PARAMS_ALTERED: [
    "The parameters differ from the body.",
    "Verify the exact body; a parser or another middleware changed the parameters.",
  ],
  PARAMS_PLUS: [
    "Plus signs and spaces were exchanged.",
    "Decode the form once: + is a space, and %2B is a plus sign.",
  ],
  PARAMS_WHITESPACE: [
    "Whitespace at the start or end of a value was removed or added.",
    "Mount pushWebhooks() before what trims values, such as sanitizers.",
  ],
  PARAMS_ENCODED: [
    "Values are still percent-encoded, or were decoded twice.",
    "Decode the form once before you verify; a body parser does.",
  ],
  PARAMS_ADDED: [
    "A parameter was added that the service did not sign, such as one of the URL's query.",
    "Verify req.body before another middleware adds a parameter.",
  ],
  PARAMS_CHARSET: [
    "The body was not read as UTF-8, or its letters were normalised.",
    'Read the body as UTF-8, not as "latin1" or "binary", and verify it before its text changes.',
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
  /** The attempts. A token is shown as a fingerprint of 8 hexadecimal digits. */
  tried: { urls: string[]; tokens: string[]; combinations: number };
}

/** One reason why a signature does not match. */
export interface SignatureCause {
  code: SignatureCauseCode;
  /**
   * True: with this mistake undone the signature matches, also of later requests. False: there are
   * only indications.
   */
  isProven: boolean;
  /** The mistake or the change that was made. */
  explanation: string;
  /** How to fix it. */
  fix: string;
  /**
   * The detail that the cause is about. `URL_…`: the signed URL if the cause is proven, else the
   * given URL; without user info, and without a query that contains parameters. `PARAMS_…`: the name
   * of the parameter. `TOKEN_…`: the fingerprint of the token, and its name or the account that the
   * request claims. `BODY_WRAPPED`: what wraps the form. `BODY_JSON`: `"body"`.
   */
  subject?: string;
}
