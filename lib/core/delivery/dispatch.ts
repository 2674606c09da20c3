import { andThen } from "../../kit/pending";
import { publish, trace, type Traces } from "../observability/diagnostics";
import { WebhookError } from "../errors/webhook-error";
import type { AnyEvent } from "../event/event";
import { selectHandlers, type HandlerContext, type Handlers } from "./handler-registry";
import type { AnyHandler } from "./handler-registry";
import type { Reporter } from "../observability/reporter";

/** The context of a run of handlers, without the signal. */
export type RunContext = Omit<HandlerContext, "signal">;

/** Runs the handlers of an event within `timeoutMs`; see {@link createDispatch}. */
export type Dispatch = ReturnType<typeof createDispatch>;

/** Additions of a worker to the run of an event. */
interface QueuedRun extends Pick<Traces["handle"], "queue" | "carrier"> {
  /** Runs before the handlers. */
  prepare?: (() => Promise<void>) | undefined;
}

/**
 * Creates the step that runs the handlers of an event and reports the result. It returns undefined when
 * none has to be awaited. It rejects with a WebhookError `HANDLER_FAILED` or `HANDLER_TIMEOUT`, or the
 * error of `prepare`, which it has reported.
 */
export function createDispatch(handlers: Handlers, reports: Reporter) {
  return (
    event: AnyEvent,
    context: RunContext,
    timeoutMs: number,
    { queue, carrier, prepare }: QueuedRun = {},
  ): Promise<void> | void => {
    const { type, uuid } = event;
    const { attempt, receiver } = context;
    const describe = () => ({ type, uuid, attempt, receiver, queue, carrier });
    return trace("handle", describe, () => {
      const run = new HandlerRun(handlers, reports, event, context);
      const running = andThen(prepare?.(), () => run.start(timeoutMs));
      if (running === undefined) return run.succeed();
      return running.then(
        () => run.succeed(),
        (error: unknown) => run.fail(error as WebhookError),
      );
    });
  };
}

class HandlerRun {
  readonly #startMs = performance.now();
  /** Whether the event has a handler, or a login waits for it; known when they have started. */
  #isHandled = false;

  constructor(
    readonly handlers: Handlers,
    readonly reports: Reporter,
    readonly event: AnyEvent,
    readonly context: RunContext,
  ) {}

  start(timeoutMs: number): Promise<void> | void {
    const { handlers, isHandled } = selectHandlers(this.handlers, this.event);
    this.#isHandled = isHandled;
    return runHandlers(handlers, this.event, this.context, timeoutMs);
  }

  succeed(): void {
    if (this.#isHandled) publish("handled", () => this.#describe());
    else this.reports.unhandled(this.event);
  }

  fail(failure: WebhookError): never {
    const { attempt, receiver } = this.context;
    publish("failed", () => ({ ...this.#describe(), code: failure.code }));
    const about = receiver === undefined ? { attempt } : { attempt, receiver };
    this.reports.error(failure, this.event, about);
    throw failure;
  }

  #describe() {
    const durationMs = performance.now() - this.#startMs;
    return { type: this.event.type, attempt: this.context.attempt, durationMs };
  }
}

/**
 * Starts the handlers of an event concurrently; returns undefined when none returned a promise.
 *
 * @throws WebhookError (by the promise) `HANDLER_FAILED` with the value that the handler threw as its
 *   cause (an AggregateError of several), `HANDLER_TIMEOUT`.
 */
function runHandlers(
  handlers: readonly AnyHandler[],
  event: AnyEvent,
  context: RunContext,
  timeoutMs: number,
): Promise<void> | void {
  const timeout = new AbortController();
  const { signal } = timeout;
  const { attempt, authTokenIndex, publicUrlIndex, receiver } = context;
  // Each field by its name: a spread costs Node 20 a microsecond.
  const run: HandlerContext = { attempt, authTokenIndex, publicUrlIndex, receiver, signal };
  const results = handlers.map((handler): unknown => {
    try {
      return handler(event, run);
    } catch (error) {
      return Promise.reject(error);
    }
  });
  return results.some(mayBePending) ? settle(results, timeout, timeoutMs) : undefined;
}

async function settle(
  results: readonly unknown[],
  timeout: AbortController,
  timeoutMs: number,
): Promise<void> {
  const timedOut = Symbol("timed out");
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<typeof timedOut>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, timedOut);
  });
  const settled = await Promise.race([Promise.allSettled(results), expiry]);
  clearTimeout(timer);
  if (settled !== timedOut) return throwFailures(settled);
  const error = new WebhookError(
    "HANDLER_TIMEOUT",
    `The handlers of this event ran longer than ${Math.round(timeoutMs)} ms: handlerTimeoutMs, or the rest of deadlineMs.`,
  );
  timeout.abort(error);
  throw error;
}

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
