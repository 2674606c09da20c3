import type { FetchOutcome } from "./outcome";
import { within } from "../../kit/response-timeout";
import { createNeutralCause } from "../../kit/neutral-cause";
import { createRequestRetry } from "./retry-request";
import { WebhookError } from "../errors/webhook-error";
import type { PushEvent, AnyEvent } from "../event/event";

/** The second argument of {@link Confirm}. */
interface ConfirmContext {
  /** Aborts when the time of the call is over. */
  readonly signal: AbortSignal;
  /**
   * Why the signed text can also be read as another event; undefined when it has one reading. What
   * you confirm must then be true of this event and of no other.
   */
  readonly ambiguity?: string | undefined;
}

/**
 * Whether an event is true; `"pending"` when the source still has an earlier state, as a replica
 * does that is behind.
 */
export type Confirmation = boolean | "pending";

/**
 * Returns whether an authentic event is true, by a source other than its signature: `confirmWith()`
 * of `express-push-verification/admin` asks the API of the service. `false` rejects the event.
 *
 * After `"pending"` it is called again, within the time that it has; then the event is rejected. An
 * error that it throws, or any other value that it returns, is a failure: it is called again, too.
 */
export interface Confirm {
  (event: PushEvent, context: ConfirmContext): Confirmation | Promise<Confirmation>;
  /**
   * Asks the same source for the outcome of a challenge whose event has not arrived, at most 4 times
   * in a wait; `confirmWith()` has it. @default none: a wait resolves by events only
   */
  readonly fetchOutcome?: FetchOutcome | undefined;
}

/** How long one call of `confirm` may take: two fit into {@link CONFIRM_FOR_MS}. */
const CONFIRM_MS = 4_000;
/** How long `confirm` is called again while a response waits; below the 15 s of the service. */
export const CONFIRM_FOR_MS = 8_000;

/** The last call of `confirm` returned `"pending"`: the cause of a `NOT_CONFIRMED`. */
export class ConfirmationPending extends Error {
  override readonly message = 'The function confirm returned "pending".';
}

const isPending = (thrown: unknown): thrown is ConfirmationPending =>
  thrown instanceof ConfirmationPending;

/**
 * Creates the step that calls `confirm` until it decides about an event of a known type.
 *
 * The step throws a WebhookError: `NOT_CONFIRMED` after `false`, and for `"pending"` until the
 * deadline; `CONFIRM_UNAVAILABLE` when `confirm` failed or did not respond until then.
 */
export function createConfirmation(confirm: Confirm) {
  const retry = createRequestRetry({
    code: "CONFIRM_UNAVAILABLE",
    what: "the function confirm",
    retryForMs: CONFIRM_FOR_MS,
    attemptMs: CONFIRM_MS,
    attemptWhenFullMs: CONFIRM_MS,
    pauses: { firstMs: 250, longestMs: 2_000 },
    isNeutral: isPending,
  });

  return async function confirmUntil(
    event: AnyEvent,
    ambiguity: string | undefined,
    deadlineAtMs: number,
  ): Promise<void> {
    // The signal of the last call aborts with it.
    const endsAtMs = Math.min(performance.now() + CONFIRM_FOR_MS, deadlineAtMs);
    const call = () =>
      callConfirm(confirm, event, ambiguity, Math.min(CONFIRM_MS, endsAtMs - performance.now()));
    try {
      await retry(call, endsAtMs);
    } catch (error) {
      const { code, cause } = error as WebhookError;
      const isLate = code === "CONFIRM_UNAVAILABLE" && isPending(cause);
      throw isLate ? createNotConfirmed(ambiguity, cause) : error;
    }
  };
}

/**
 * Calls `confirm` once for an event of a known type.
 *
 * @throws WebhookError `NOT_CONFIRMED`, which is final unless its cause is a
 *   {@link ConfirmationPending}; `CONFIRM_UNAVAILABLE` when `confirm` failed, did not respond within
 *   4 s, or is undefined.
 */
export async function confirmOnce(
  confirm: Confirm | undefined,
  event: AnyEvent,
  ambiguity: string | undefined,
): Promise<void> {
  if (confirm === undefined) {
    const message =
      "The event needs a confirmation, and this worker has no function confirm. Pass the option confirm to queue.work(), or the handlers of a receiver that has it.";
    throw new WebhookError("CONFIRM_UNAVAILABLE", message);
  }
  try {
    await callConfirm(confirm, event, ambiguity, CONFIRM_MS);
  } catch (error) {
    if (error instanceof WebhookError && error.code === "NOT_CONFIRMED") throw error;
    if (isPending(error)) throw createNotConfirmed(ambiguity, error);
    throw new WebhookError("CONFIRM_UNAVAILABLE", "The function confirm failed; see the cause.", {
      cause: createNeutralCause(error),
    });
  }
}

/**
 * Calls `confirm` once; rethrows its error.
 *
 * @throws WebhookError `NOT_CONFIRMED` when it returned false; ConfirmationPending; an Error for any
 *   other value, and when there was no response within `timeoutMs`.
 */
async function callConfirm(
  confirm: Confirm,
  event: AnyEvent,
  ambiguity: string | undefined,
  timeoutMs: number,
): Promise<void> {
  const timeout = new AbortController();
  let confirmation: unknown;
  try {
    // Only events of known types are marked for a confirmation.
    const answer = confirm(event as PushEvent, { signal: timeout.signal, ambiguity });
    confirmation = await within(answer, timeoutMs);
  } finally {
    timeout.abort();
  }
  if (confirmation === true) return;
  if (confirmation === "pending") throw new ConfirmationPending();
  if (confirmation === false) throw createNotConfirmed(ambiguity);
  throw new TypeError('confirm must return true, false or "pending".');
}

function createNotConfirmed(
  ambiguity: string | undefined,
  cause?: ConfirmationPending,
): WebhookError {
  const reason =
    cause === undefined
      ? "confirm returned false: the service does not have the challenge or factor as this event says. An event of trigger or of the console is never confirmed; otherwise check verifyUrl and serviceSid of the client, and treat the event as forged or replayed."
      : 'confirm returned "pending" until its time was over: its source does not have the state of the event.';
  const reading =
    ambiguity === undefined ? "" : ` Its text can be read in another way: ${ambiguity}.`;
  const message = `The request is signed, but ${reason}${reading}`;
  return new WebhookError("NOT_CONFIRMED", message, cause === undefined ? {} : { cause });
}
