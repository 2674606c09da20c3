import { brand } from "./brand";
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
  /** Explains why a signature does not match; undefined when its budget is used up. */
  explain?: (() => SignatureReport | undefined) | undefined;
}

/**
 * A webhook request that was rejected or could not be handled, or a wait that was rejected.
 *
 * `message` says what is wrong and what to change, for the log of the app; it never holds a token,
 * a signature or a received value. `status` and `headers` follow the conventions of `http-errors`,
 * so Express responds to a forwarded error correctly. With a status below 500, `stack` is the
 * message only: the frames would lead into this package.
 *
 * `instanceof` also recognises the errors of another installed copy of this package.
 */
export class WebhookError extends Error {
  declare readonly name: "WebhookError";
  /** What went wrong; `switch` over it. */
  readonly code: WebhookErrorCode;
  /** The HTTP status that belongs to `code`. */
  readonly status: (typeof STATUS_BY_CODE)[WebhookErrorCode];
  /** Always false: `message` is for the app's log, not for the sender. */
  readonly expose = false;
  /** Headers that the answer must carry: `Allow` with a 405, `Retry-After` with a 503. */
  readonly headers: Readonly<Record<string, string>>;

  static {
    brand(this, "WebhookError");
  }

  // Private: it refers to tokens and parameters, which no logger may reach.
  #explain: WebhookErrorOptions["explain"];
  #report: SignatureReport | undefined;

  constructor(code: WebhookErrorCode, message: string, options: WebhookErrorOptions = {}) {
    const errorOptions = "cause" in options ? { cause: options.cause } : undefined;
    const { stackTraceLimit } = Error;
    // Without stack frames: they are 25 % of the CPU cost of a rejected request. Reflect does not
    // throw where Error is frozen.
    if (STATUS_BY_CODE[code] < 500) Reflect.set(Error, "stackTraceLimit", 0);
    super(message, errorOptions);
    Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
    this.#explain = options.explain;
    this.code = code;
    this.status = STATUS_BY_CODE[code];
    this.headers = headersFor(this.status);
  }

  /**
   * Explains why a signature is malformed or does not match, as `explainSignature` does.
   * Returns undefined for every other error.
   *
   * A report of a signature that does not match takes some tens of milliseconds of synchronous
   * work, so these reports have a budget: each receiver starts at most 10 within any 60 s, and none
   * once it has spent 300 ms on them. Beyond that `explain()` returns undefined; the same error can
   * be asked again later. So it may be called in `onRejected` for each rejected request, but an
   * attacker who sends many can use up the budget. All `verifyPushRequest` of a process share one
   * budget. The report of an error is made once, and returned again.
   */
  explain(): SignatureReport | undefined {
    if (this.#report === undefined) {
      this.#report = this.#explain?.();
      // Releases the parameters that it refers to.
      if (this.#report !== undefined) this.#explain = undefined;
    }
    return this.#report;
  }

  /** Returns what `JSON.stringify` writes: never the cause. */
  toJSON(): Pick<WebhookError, "name" | "code" | "status" | "message"> {
    const { name, code, status, message } = this;
    return { name, code, status, message };
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
