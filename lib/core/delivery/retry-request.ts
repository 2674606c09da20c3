import type { WebhookErrorCode } from "../errors/codes";
import { WebhookError } from "../errors/webhook-error";
import { publish } from "../observability/diagnostics";
import { createNeutralCause } from "../../kit/neutral-cause";
import { createRetry, type RetryLimits } from "../../kit/retry";

/** How long an operation is retried, and what its error says. */
export interface RequestRetryOptions extends RetryLimits {
  /** The code of the error when no attempt succeeded. @default "STORE_UNAVAILABLE" */
  code?: WebhookErrorCode;
  /** The name of the store or function that the attempts use, for error messages. @default "a store" */
  what?: string;
  /** Returns whether an error has no arguments, and may be the cause itself. @default never */
  isNeutral?: (error: unknown) => boolean;
}

/**
 * Creates a function that retries an operation of a webhook request while its store is down: a restart
 * of the store then rejects no request. The service waits longer than its default, 8 s.
 *
 * The returned function throws a WebhookError with `code` after `retryForMs`, and `OVERLOADED` if the
 * single attempt at `maxRetrying` failed, with a neutral copy of the last error as cause. It rethrows
 * a WebhookError of an attempt without a retry.
 */
export function createRequestRetry(options: RequestRetryOptions = {}) {
  const { code = "STORE_UNAVAILABLE", what = "a store", isNeutral = () => false } = options;
  const toCause = (error: unknown) => (isNeutral(error) ? error : createNeutralCause(error));
  return createRetry(options, {
    isFinal: (error) => error instanceof WebhookError,
    createError(error, elapsedMs) {
      const subject = what.charAt(0).toUpperCase() + what.slice(1);
      const message = `${subject} failed or did not respond within ${Math.round(elapsedMs)} ms; see the cause.`;
      return new WebhookError(code, message, { cause: toCause(error) });
    },
    createOverloadError(error, retrying) {
      const message = `${retrying} webhook requests already wait for ${what}; see the cause.`;
      return new WebhookError("OVERLOADED", message, { cause: toCause(error) });
    },
    onFirstFailure: () => publish("retrying", () => ({})),
  });
}
