import { brand } from "../../kit/brand";
import { STATUS_BY_CODE, type WebhookErrorCode } from "./codes";
import { setStackTraceLimit } from "../../kit/stackless-error";
import type { SignatureReport } from "./signature-causes";

/** What an error has beside its code and its message. */
interface WebhookErrorOptions {
  cause?: unknown;
  /** The methods that the receiver accepts, for `METHOD_NOT_ALLOWED`. @default POST */
  methods?: readonly string[] | undefined;
  /** The parameter that is the reason, for `PAYLOAD_AMBIGUOUS`. */
  parameter?: string | undefined;
  /** Explains why a signature does not match; returns undefined when its budget is used up. */
  explain?: (() => SignatureReport | undefined) | undefined;
}

/**
 * Error of a webhook request that was rejected or could not be handled, or of a rejected wait.
 *
 * `message` names the problem and its solution, for the log of the app; it never contains a token, a
 * signature or the value of a parameter. Express responds to a forwarded error by `status` and
 * `headers`, as `http-errors` has them. With a status below 500, `stack` is the message only.
 *
 * `instanceof` also recognises the errors of another installed copy of this package.
 */
export class WebhookError extends Error {
  declare readonly name: "WebhookError";
  /** Identifies the error; `switch` over it. */
  readonly code: WebhookErrorCode;
  /** The HTTP status that belongs to `code`. */
  readonly status: (typeof STATUS_BY_CODE)[WebhookErrorCode];
  /** Always false: `message` is for the app's log, not for the sender. */
  readonly expose = false;
  /** Headers of the response: `Allow` with a 405, `Retry-After` with a 503. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * With `PAYLOAD_AMBIGUOUS`: the parameter to declare in `extraParameters`, or the one whose value
   * contains the text that the message names.
   */
  readonly parameter: string | undefined;

  static {
    brand(this, "WebhookError");
  }

  // Private, so that no logger can reach the tokens and parameters that it refers to.
  #explain: WebhookErrorOptions["explain"];
  #report: SignatureReport | undefined;

  constructor(code: WebhookErrorCode, message: string, options: WebhookErrorOptions = {}) {
    const limit = setStackTraceLimit(STATUS_BY_CODE[code] < 500 ? 0 : Error.stackTraceLimit);
    super(message, options);
    setStackTraceLimit(limit);
    this.#explain = options.explain;
    this.code = code;
    this.status = STATUS_BY_CODE[code];
    this.parameter = options.parameter;
    this.headers = listHeaders(this.status, options);
  }

  /**
   * Explains why a signature is malformed or does not match, as `explainSignature` does. Returns
   * undefined for every other error.
   *
   * A report of a signature that does not match takes some tens of milliseconds of synchronous work.
   * So each receiver starts at most 10 within any 60 s, and none once it has spent 1 s on them; all
   * calls of `verifyPushRequest` share one such budget. Beyond it, `explain()` returns undefined: call
   * it again later. `onRejected` may call it for each request, but an attacker can use up the budget.
   * The report of an error is created once.
   */
  explain(): SignatureReport | undefined {
    if (this.#report === undefined) {
      this.#report = this.#explain?.();
      // Releases the parameters that it refers to.
      if (this.#report !== undefined) this.#explain = undefined;
    }
    return this.#report;
  }

  /** Returns the fields that `JSON.stringify` writes: the cause is not among them. */
  toJSON(): Pick<WebhookError, "name" | "code" | "status" | "message"> {
    const { name, code, status, message } = this;
    return { name, code, status, message };
  }
}

function listHeaders(
  status: number,
  { methods = ["POST"] }: WebhookErrorOptions,
): Record<string, string> {
  if (status === 405) return { Allow: methods.join(", ") };
  return status === 503 ? { "Retry-After": "5" } : {};
}
