import { createDispatch } from "../delivery/dispatch";
import type { Handlers } from "../delivery/handler-registry";
import { WebhookError } from "../errors/webhook-error";
import { publish } from "../observability/diagnostics";
import type { Logger } from "../observability/logger";
import { createReporter } from "../observability/reporter";
import { readEventNames } from "./event-names";
import { describeHandlerFailure, isPermanent } from "./handler-failure";
import { readStoredEvent, type RestoredEvent } from "./stored-event";
import type { WorkOptions } from "./work-options";

/** Why a run failed. */
export interface RunFailure {
  /** The code, and the messages of the errors that handlers threw. */
  reason: string;
  /** Whether another run is of no use. */
  isPermanent: boolean;
}

/** Runs the handlers of stored events, for the worker of any engine. */
export interface EventRunner {
  /** Reads a stored event and runs its handlers; returns why that failed. */
  handle(stored: unknown, attempt: number): Promise<RunFailure | undefined>;
  /** Reports a stored event that is a dead letter now. */
  reportDeadLetter(stored: unknown, attempts: number, error: string): void;
}

/** Creates the runner of a worker. */
export function createEventRunner(
  handlers: Handlers,
  { handlerTimeoutMs = 10_000, onError }: WorkOptions,
  logger: Logger | undefined,
): EventRunner {
  const reports = createReporter(logger);
  if (onError !== undefined) reports.onError(onError);
  const dispatch = createDispatch(handlers, reports);

  function read(stored: unknown): RestoredEvent {
    try {
      return readStoredEvent(stored);
    } catch {
      // The error may quote the parameters. Another version may read them in a later attempt.
      const message = "This version cannot read a stored event.";
      const error = new WebhookError("INTERNAL_ERROR", message);
      reports.error(error);
      throw error;
    }
  }

  return {
    async handle(stored, attempt) {
      try {
        const { event, authTokenIndex, publicUrlIndex, receiver } = read(stored);
        const context = { attempt, authTokenIndex, publicUrlIndex, receiver };
        await dispatch(event, context, handlerTimeoutMs);
        return undefined;
      } catch (error) {
        const failure = error as WebhookError;
        return { reason: describeHandlerFailure(failure), isPermanent: isPermanent(failure) };
      }
    },
    reportDeadLetter(stored, attempts, error) {
      const { type, uuid } = readEventNames(stored);
      publish("dead-lettered", { type, attempts });
      logger?.error({ type, uuid, attempts, error }, "An event is a dead letter now");
    },
  };
}
