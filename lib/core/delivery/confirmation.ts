import type { FetchOutcome } from "./outcome";
import { within } from "../../kit/retry";
import { createNeutralCause } from "../../kit/neutral-cause";
import { WebhookError } from "../errors/webhook-error";
import type { PushEvent, UnknownPushEvent } from "../event/event";

/** The second argument of {@link Confirm}. */
export interface ConfirmContext {
  /** Aborts when the time of the call is over. */
  readonly signal: AbortSignal;
  /**
   * Why the signed text can also be read as another event; undefined when it has one reading. What
   * you confirm must then be true of this event and of no other.
   */
  readonly ambiguity?: string | undefined;
}

/**
 * Returns whether an authentic event is true, by a source other than its signature: `confirmWith()`
 * of `express-push-verification/admin` asks the API of the service. `false` rejects the event.
 *
 * An error that it throws, or any other value that it returns, is a failure: it is called again.
 */
export interface Confirm {
  (event: PushEvent, context: ConfirmContext): boolean | Promise<boolean>;
  /**
   * Asks the same source for the outcome of a challenge whose event has not arrived, at most 4 times
   * in a wait; `confirmWith()` has it. @default none: a wait resolves by events only
   */
  readonly fetchOutcome?: FetchOutcome | undefined;
}

/** How long one call of `confirm` may take: two fit into the 8 s of a retry. */
export const CONFIRM_MS = 4_000;

/**
 * Calls `confirm` once for an event of a known type.
 *
 * @throws WebhookError `NOT_CONFIRMED`, which is final; `CONFIRM_UNAVAILABLE` when `confirm` failed,
 *   did not respond within `timeoutMs`, or is undefined.
 */
export async function confirmOnce(
  confirm: Confirm | undefined,
  event: PushEvent | UnknownPushEvent,
  timeoutMs: number,
  ambiguity?: string,
): Promise<void> {
  if (confirm === undefined) {
    const message =
      "The event needs a confirmation, and this worker has no function confirm. Pass the option confirm to queue.work(), or the handlers of a receiver that has it.";
    throw new WebhookError("CONFIRM_UNAVAILABLE", message);
  }
  try {
    await assertConfirmed(confirm, event, timeoutMs, ambiguity);
  } catch (error) {
    if (error instanceof WebhookError && error.code === "NOT_CONFIRMED") throw error;
    throw new WebhookError("CONFIRM_UNAVAILABLE", "The function confirm failed; see the cause.", {
      cause: createNeutralCause(error),
    });
  }
}

/**
 * Calls `confirm` once; rethrows its error.
 *
 * @param ambiguity see {@link ConfirmContext}.
 * @throws WebhookError `NOT_CONFIRMED` when it returned false; an Error for a value that is no
 *   boolean, and when there was no response within `timeoutMs`.
 */
export async function assertConfirmed(
  confirm: Confirm,
  event: PushEvent | UnknownPushEvent,
  timeoutMs: number,
  ambiguity?: string,
): Promise<void> {
  const timeout = new AbortController();
  let isConfirmed: unknown;
  try {
    // Only events of known types are marked for a confirmation.
    const answer = confirm(event as PushEvent, { signal: timeout.signal, ambiguity });
    isConfirmed = await within(answer, timeoutMs);
  } finally {
    timeout.abort();
  }
  if (isConfirmed === true) return;
  if (isConfirmed !== false) throw new TypeError("confirm must return true or false.");
  const reading =
    ambiguity === undefined ? "" : ` Its text can be read in another way: ${ambiguity}.`;
  throw new WebhookError(
    "NOT_CONFIRMED",
    `The request is signed, but confirm returned false: the service does not have the challenge or factor as this event says. An event of trigger or of the console is never confirmed; otherwise check verifyUrl and serviceSid of the client, and treat the event as forged or replayed.${reading}`,
  );
}
