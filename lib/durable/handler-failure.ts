import { PermanentError } from "../errors/permanent-error";
import type { WebhookError } from "../errors/webhook-error";

/** How many processes may die in the handlers of an event: it may be the cause. */
export const MAX_STALLS = 20;

/**
 * Returns whether another attempt is of no use: a handler threw a PermanentError, or the event is
 * not confirmed.
 */
export function isPermanent({ code, cause }: WebhookError): boolean {
  return (
    code === "NOT_CONFIRMED" ||
    listReasons(cause).some((reason) => reason instanceof PermanentError)
  );
}

/** Returns the code of a failure and the messages of the errors that handlers threw. */
export function describeHandlerFailure({ code, message, cause }: WebhookError): string {
  const texts = listReasons(cause).flatMap((reason) =>
    reason instanceof Error ? [reason.message] : [],
  );
  return `${code}: ${texts.length > 0 ? texts.join("; ") : message}`;
}

function listReasons(cause: unknown): unknown[] {
  return cause instanceof AggregateError ? cause.errors : [cause];
}
