import { WebhookError } from "../errors/webhook-error";
import type { PushEvent, UnknownPushEvent } from "../event/event";
import { selectHandlers, type HandlerContext, type Handlers } from "./handler-registry";

/** The context of a run of handlers, without the signal. */
export type RunContext = Omit<HandlerContext, "signal">;

/**
 * Runs the handlers of an event concurrently and waits for all.
 *
 * @param timeoutMs the time after which the signal of the handlers is aborted and the run fails.
 * @returns whether the event had a handler of its type or of `onUnhandled`.
 * @throws WebhookError `HANDLER_FAILED` with the value that the handler threw as its cause (an
 *   AggregateError of several), `HANDLER_TIMEOUT`.
 */
export async function runHandlers(
  handlers: Handlers,
  event: PushEvent | UnknownPushEvent,
  context: RunContext,
  timeoutMs: number,
): Promise<boolean> {
  const selected = selectHandlers(handlers, event);
  if (selected.handlers.length === 0) return false;

  const timeout = new AbortController();
  const run: HandlerContext = { ...context, signal: timeout.signal };
  const results = selected.handlers.map((handler): unknown => {
    try {
      return handler(event, run);
    } catch (error) {
      return Promise.reject(error);
    }
  });
  // Without a promise, there is nothing to wait for and no timer to start.
  if (results.some(mayBePending)) throwFailures(await settle(results, timeout, timeoutMs));
  return selected.isHandled;
}

async function settle(results: readonly unknown[], timeout: AbortController, timeoutMs: number) {
  const timedOut = Symbol("timed out");
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<typeof timedOut>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, timedOut);
  });
  const settled = await Promise.race([Promise.allSettled(results), expiry]);
  clearTimeout(timer);
  if (settled !== timedOut) return settled;
  const error = new WebhookError(
    "HANDLER_TIMEOUT",
    `The handlers of this event ran longer than ${Math.round(timeoutMs)} ms: handlerTimeoutMs, or the rest of deadlineMs.`,
  );
  timeout.abort(error);
  throw error;
}

/** Returns whether a result may have a `then`. */
function mayBePending(result: unknown): boolean {
  return (typeof result === "object" && result !== null) || typeof result === "function";
}

function throwFailures(results: readonly PromiseSettledResult<unknown>[]): void {
  const reasons = results.flatMap((result): unknown[] =>
    result.status === "rejected" ? [result.reason] : [],
  );
  if (reasons.length === 0) return;
  const cause = reasons.length === 1 ? reasons[0] : new AggregateError(reasons);
  const detail = cause === undefined ? ": it threw undefined." : "; see the cause.";
  throw new WebhookError("HANDLER_FAILED", `A handler of this event failed${detail}`, { cause });
}
