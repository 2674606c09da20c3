import { WebhookError } from "../errors";
import { createNeutralCause } from "../neutral-cause";

/**
 * Turns what Redis or BullMQ threw into `STORE_UNAVAILABLE`, whose cause has no arguments. A
 * TypeError of ours and a WebhookError stay as they are.
 */
export function toQueueError(error: unknown): Error {
  if (error instanceof WebhookError || error instanceof TypeError) return error;
  const message = "Redis did not run the operation on the queue; see the cause.";
  return new WebhookError("STORE_UNAVAILABLE", message, { cause: createNeutralCause(error) });
}

/** Rejects with {@link toQueueError} of the failure of an operation. */
export async function reportQueueError<Value>(operation: Promise<Value>): Promise<Value> {
  try {
    return await operation;
  } catch (error) {
    throw toQueueError(error);
  }
}
