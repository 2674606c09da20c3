import { STATUS_CODES } from "node:http";
import { createNeutralCause } from "../errors/neutral-cause";
import { WebhookError } from "../errors/webhook-error";
import { FormError } from "../form/form";
import { loadEngine } from "../signature/explain";
import { UncoveredTargetError } from "../signature/signed-parts";

const ACCEPTED_HEADERS = { "Cache-Control": "no-store", "Content-Length": "0" };

/**
 * Returns the response to an accepted or a rejected request. It repeats no input, and the responses
 * to equal rejections are equal byte by byte.
 */
export function describeResponse(rejection: WebhookError | undefined) {
  if (rejection === undefined) return { status: 200, headers: ACCEPTED_HEADERS, text: "" };
  const { status } = rejection;
  const text = `${STATUS_CODES[status] ?? "Error"}\n`;
  const headers = {
    ...rejection.headers,
    "Cache-Control": "no-store",
    "Content-Length": String(Buffer.byteLength(text)),
    "Content-Type": "text/plain; charset=utf-8",
  };
  return { status, headers, text };
}

/**
 * Returns the WebhookError of an error that form decoding or signed parts throw, which has no code;
 * returns any other error unchanged.
 */
export function addCode(error: unknown): unknown {
  if (error instanceof FormError) {
    const code = error.reason === "malformed" ? "BODY_MALFORMED" : "BODY_TOO_LARGE";
    return new WebhookError(code, error.message);
  }
  if (error instanceof UncoveredTargetError) {
    const { message, publicUrl } = error;
    const explain = () => loadEngine().explainCause("URL_QUERY_EXTRA", publicUrl);
    return new WebhookError("SIGNATURE_MISMATCH", message, { explain });
  }
  return error;
}

/** Returns an error of the request path as a WebhookError: `INTERNAL_ERROR` when it has no code. */
export function toWebhookError(error: unknown): WebhookError {
  const coded = addCode(error);
  if (coded instanceof WebhookError) return coded;
  const cause = createNeutralCause(error);
  return new WebhookError("INTERNAL_ERROR", "The receiver itself failed; see the cause.", {
    cause,
  });
}
