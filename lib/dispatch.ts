import { publish } from "./diagnostics";
import type { WebhookError } from "./errors";
import type { PushEvent, UnknownPushEvent } from "./event";
import type { Handlers } from "./handlers";
import type { Reports } from "./reports";
import { runHandlers, type RunContext } from "./run-handlers";

/**
 * Runs the handlers of an event and reports the result.
 *
 * @throws WebhookError `HANDLER_FAILED`, `HANDLER_TIMEOUT`, which was reported.
 */
export type Dispatch = (
  event: PushEvent | UnknownPushEvent,
  context: RunContext,
  timeoutMs: number,
) => Promise<void>;

/** Creates the step that runs the handlers of an event, for a receiver or a worker. */
export function createDispatch(handlers: Handlers, reports: Reports): Dispatch {
  return async function dispatch(event, context, timeoutMs) {
    const startMs = performance.now();
    const describeRun = () => ({
      type: event.type,
      attempt: context.attempt,
      durationMs: performance.now() - startMs,
    });
    let isHandled: boolean;
    try {
      isHandled = await runHandlers(handlers, event, context, timeoutMs);
    } catch (error) {
      const failure = error as WebhookError;
      publish("failed", { ...describeRun(), code: failure.code });
      reports.error(failure, event);
      throw failure;
    }
    if (isHandled) publish("handled", describeRun());
    else reports.unhandled(event);
  };
}
