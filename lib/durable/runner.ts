import { type Handlers, StoredDelivery, type WorkOptions } from "../core/door";
import type { Outcome } from "./outcomes";
import { pauseOf, type QueueSettings } from "./queue-options";
import type { FailedRun, Run } from "./storage";
import { addFailure, readEventNames, readStoredEvent } from "./stored-event";

/** Why a run failed. */
export type RunFailure = NonNullable<Awaited<ReturnType<StoredDelivery["run"]>>>;

/**
 * Plans what becomes of an event after a failed run: another run, or a dead letter.
 *
 * @param failures how often its handlers have failed, this run included.
 * @param errors its former failures, as `addFailure` writes them.
 */
export function planFailure(
  { attempts, backoff }: QueueSettings,
  failure: RunFailure,
  failures: number,
  errors: string | null,
): Omit<FailedRun, keyof Run> {
  const isDead = failure.isPermanent || failures >= attempts;
  const pauseMs = isDead ? undefined : pauseOf(backoff, failures);
  return {
    failures,
    errors: addFailure(errors, failure),
    pauseMs,
    isForged: isDead && failure.isForged,
  };
}

/** Runs the handlers of stored events, for the worker of any engine. */
export type Runner = ReturnType<typeof createRunner>;

/**
 * Creates the runner of a worker.
 *
 * @param recordOutcome records an outcome that was confirmed; goes on until the store has it, or the
 *   queue is closed.
 * @throws TypeError as `queue.work`.
 */
export function createRunner(
  handlers: Handlers,
  options: WorkOptions,
  { name, logger }: Pick<QueueSettings, "name" | "logger">,
  recordOutcome: (account: string, outcome: Outcome) => Promise<void>,
) {
  const delivery = new StoredDelivery(handlers, options, { name, logger, recordOutcome });
  return {
    /** How many events may be handled at a time. */
    concurrency: delivery.concurrency,
    /** See `RunningWorker`. */
    freedAtMs: () => delivery.freedAtMs(),
    /**
     * Reads a stored event and runs its handlers; returns why that failed, unless a tool invented the
     * event and it is not confirmed.
     */
    async handle(stored: unknown, attempt: number): Promise<RunFailure | undefined> {
      const failure = await delivery.run(() => readStoredEvent(stored), attempt);
      // Reported, and no dead letter: the service cannot confirm what a tool of ours invented.
      return failure?.isInvented === true ? undefined : failure;
    },
    /** Reports a stored event that is a dead letter now. */
    reportDeadLetter: (stored: unknown, attempts: number, error: string) =>
      delivery.reportDeadLetter(readEventNames(stored), attempts, error),
  };
}
