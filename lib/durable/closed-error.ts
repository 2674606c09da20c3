import { WebhookError } from "../errors/webhook-error";

/** Creates the error of an operation on a queue that was closed: `CLOSING`. */
export function createClosedError(): WebhookError {
  return new WebhookError("CLOSING", "The queue was closed.");
}
