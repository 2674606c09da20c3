import { areHandlersEmpty, isHandlers, type Handlers } from "../delivery/handler-registry";
import type { Confirm } from "../delivery/confirmation";
import type { ErrorListener } from "../observability/reporter";
import { CONFIRM, FUNCTION } from "../validation/option-rules";
import { MAX_TIMER_MS, validateOptions, wholeNumber } from "../validation/validate-options";

/** Options of `queue.work`. */
export interface WorkOptions {
  /** How many events are handled at a time in this process. @default 16 */
  concurrency?: number | undefined;
  /** How long the handlers of an event may run, in milliseconds. @default 10_000 */
  handlerTimeoutMs?: number | undefined;
  /**
   * Confirms the events of receivers with the option `confirm`, in each attempt, before their outcome
   * is recorded and their handlers run; `false` makes an event a dead letter at once.
   * @default the option of the receiver of these handlers in this process; without one, such an
   *   event fails
   */
  confirm?: Confirm | undefined;
  /** Called with the failure of each attempt. @default none */
  onError?: ErrorListener | undefined;
}

const WORK_RULES = {
  concurrency: wholeNumber(1, 10_000, "events"),
  handlerTimeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  confirm: CONFIRM,
  onError: FUNCTION,
};

/**
 * Validates the arguments of `queue.work`.
 *
 * @throws TypeError for an option that is unknown or impossible, for handlers that
 *   `createHandlers()` did not return, and for handlers of no event.
 */
export function validateWork(handlers: Handlers, options: WorkOptions): void {
  validateOptions("work", options, WORK_RULES);
  if (!isHandlers(handlers)) {
    throw new TypeError(
      "work: handlers must be what createHandlers() returns, or push.handlers of a receiver.",
    );
  }
  if (areHandlersEmpty(handlers)) {
    throw new TypeError(
      "work: handlers has no handler: every event would count as unhandled. Call handlers.on() before queue.work(handlers).",
    );
  }
}
