import type { SignatureReport } from "./explain-causes";

/**
 * The HTTP status of each code.
 *
 * `CHALLENGE_TIMEOUT`, `CHALLENGE_SID_INVALID` and `ENTITY_MISMATCH` are rejections of
 * `waitForChallenge`; the others are responses to a webhook request.
 */
export const STATUS_BY_CODE = {
  SIGNATURE_MISSING: 403,
  SIGNATURE_MALFORMED: 403,
  SIGNATURE_MISMATCH: 403,
  ACCOUNT_NOT_ALLOWED: 403,
  PAYLOAD_INVALID: 400,
  PAYLOAD_AMBIGUOUS: 400,
  BODY_MALFORMED: 400,
  METHOD_NOT_ALLOWED: 405,
  CONTENT_TYPE_UNSUPPORTED: 415,
  BODY_TOO_LARGE: 413,
  BODY_TIMEOUT: 408,
  BODY_CONSUMED: 500,
  HANDLER_FAILED: 500,
  HANDLER_TIMEOUT: 500,
  INTERNAL_ERROR: 500,
  TOKEN_UNAVAILABLE: 503,
  STORE_UNAVAILABLE: 503,
  OVERLOADED: 503,
  CLOSING: 503,
  CHALLENGE_TIMEOUT: 504,
  CHALLENGE_SID_INVALID: 400,
  ENTITY_MISMATCH: 403,
} as const;

/** The stable name of one thing that can go wrong: a key of {@link STATUS_BY_CODE}. */
export type WebhookErrorCode = keyof typeof STATUS_BY_CODE;

const RETRY_AFTER_SECONDS = 5;

/** What an error may be made with. */
export interface WebhookErrorOptions {
  cause?: unknown;
  /** Finds out why a signature does not match. */
  explain?: () => SignatureReport;
}

/**
 * A call that was refused or could not be handled.
 *
 * `message` says what is wrong and what to change, for the app's own log; it never holds a token,
 * a signature or a value that came with the call. `status` and `headers` follow the conventions of
 * `http-errors`, so Express answers a forwarded error rightly. The `stack` of a refusal, a status
 * below 500, is its message alone: the frames would lead into this package.
 */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
  /** What went wrong; `switch` over it. */
  readonly code: WebhookErrorCode;
  /** The HTTP status that belongs to `code`. */
  readonly status: (typeof STATUS_BY_CODE)[WebhookErrorCode];
  /** Always false: `message` is for the app's log, not for the sender. */
  readonly expose = false;
  /** Headers that the answer must carry: `Allow` with a 405, `Retry-After` with a 503. */
  readonly headers: Readonly<Record<string, string>>;

  // Private, for it knows tokens and parameters: no logger can reach them.
  readonly #explain: WebhookErrorOptions["explain"];

  constructor(code: WebhookErrorCode, message: string, options: WebhookErrorOptions = {}) {
    const errorOptions = "cause" in options ? { cause: options.cause } : undefined;
    const { stackTraceLimit } = Error;
    // Frames are a quarter of what a stranger costs. Reflect: where Error is frozen, never mind.
    if (STATUS_BY_CODE[code] < 500) Reflect.set(Error, "stackTraceLimit", 0);
    super(message, errorOptions);
    Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
    this.#explain = options.explain;
    this.code = code;
    this.status = STATUS_BY_CODE[code];
    this.headers = headersFor(this.status);
  }

  /**
   * Finds out why a signature does not match, as `explainSignature` does, or is none; undefined for
   * every other error. It signs thousands of times, for up to some tenths of a second: ask while you look for a
   * mistake, not for each call that a stranger makes.
   */
  explain(): SignatureReport | undefined {
    return this.#explain?.();
  }
}

function headersFor(status: number): Record<string, string> {
  switch (status) {
    case 405:
      return { Allow: "POST, GET" };
    case 503:
      return { "Retry-After": String(RETRY_AFTER_SECONDS) };
    default:
      return {};
  }
}
