import { publish } from "../observability/diagnostics";
import type { WebhookError } from "../errors/webhook-error";
import type { PushEvent, UnknownPushEvent } from "../event/event";
import { selectHandlers, type Handlers } from "./handler-registry";
import type { Reporter } from "../observability/reporter";
import { trace, type Traces } from "../observability/tracing";
import { runHandlers, type RunContext } from "./run-handlers";

/** Runs the handlers of an event within `timeoutMs`; see {@link createDispatch}. */
export type Dispatch = ReturnType<typeof createDispatch>;

/** Additions of a worker to the run of an event. */
interface QueuedRun extends Pick<Traces["handle"], "queue" | "carrier"> {
  /** Runs before the handlers. */
  prepare?: (() => Promise<void>) | undefined;
}

/**
 * Creates the step that runs the handlers of an event and reports the result, for a receiver or a
 * worker. It throws a WebhookError `HANDLER_FAILED` or `HANDLER_TIMEOUT`, or the error of `prepare`,
 * after it reported it.
 */
export function createDispatch(handlers: Handlers, reports: Reporter) {
  async function run(
    event: PushEvent | UnknownPushEvent,
    context: RunContext,
    timeoutMs: number,
    prepare: QueuedRun["prepare"],
  ): Promise<void> {
    const startMs = performance.now();
    const describeRun = () => ({
      type: event.type,
      attempt: context.attempt,
      durationMs: performance.now() - startMs,
    });
    let isHandled: boolean;
    try {
      if (prepare !== undefined) await prepare();
      isHandled = await runHandlers(handlers, event, context, timeoutMs);
    } catch (error) {
      const failure = error as WebhookError;
      publish("failed", () => ({ ...describeRun(), code: failure.code }));
      const { attempt, receiver } = context;
      const about = receiver === undefined ? { attempt } : { attempt, receiver };
      reports.error(failure, event, about);
      throw failure;
    }
    if (isHandled) publish("handled", describeRun);
    else reports.unhandled(event, selectHandlers(handlers, event).handlers.length > 0);
  }

  return (
    event: PushEvent | UnknownPushEvent,
    context: RunContext,
    timeoutMs: number,
    { queue, carrier, prepare }: QueuedRun = {},
  ): Promise<void> => {
    const { type, uuid } = event;
    const { attempt, receiver } = context;
    const describe = () => ({ type, uuid, attempt, receiver, queue, carrier });
    return trace("handle", describe, () => run(event, context, timeoutMs, prepare));
  };
}
