import { type Handlers, type HandlingOptions, StoredDelivery } from "../core/door";
import { CONFIRM, FUNCTION } from "../kit/option-rules";
import { MAX_TIMER_MS, validateOptions, wholeNumber } from "../kit/validate-options";
import type { Outcome } from "./outcomes";
import { pauseOf, type QueueSettings } from "./queue-options";
import type { Step, NoteStep } from "./steps";
import type { FailedRun, Run } from "./storage";
import { addFailure, readEventNames, readStoredEvent } from "./stored-event";

/** How many events of `queue.work` are handled, and how. */
export interface WorkOptions extends HandlingOptions {
  /** How many events are handled at a time in this process. @default 16 */
  concurrency?: number | undefined;
}

const WORK_RULES = {
  concurrency: wholeNumber(1, 10_000, "events"),
  handlerTimeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  confirm: CONFIRM,
  onError: FUNCTION,
};

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

/** What a runner does with its queue. */
export interface RunnerContext {
  /** Records an outcome that was confirmed; goes on until the store has it, or the queue is closed. */
  recordOutcome: (account: string, outcome: Outcome) => Promise<void>;
  noteStep: NoteStep;
}

/**
 * Creates the runner of a worker.
 *
 * @throws TypeError as `queue.work`.
 */
export function createRunner(
  handlers: Handlers,
  options: WorkOptions,
  { name, logger }: Pick<QueueSettings, "name" | "logger">,
  { recordOutcome, noteStep }: RunnerContext,
) {
  validateOptions("work", options, WORK_RULES);
  const { concurrency = 16 } = options;
  const delivery = new StoredDelivery(handlers, options, { name, logger, recordOutcome });
  let running = 0;
  let changedAtMs = performance.now();

  function count(change: 1 | -1): void {
    running += change;
    changedAtMs = performance.now();
  }

  function note(
    stored: unknown,
    what: Step["what"],
    attempt: number,
    { masked: error, durationMs }: { masked?: string; durationMs?: number | undefined },
  ): void {
    noteStep(stored, { what, attempt, durationMs: durationMs && Math.round(durationMs), error });
  }

  return {
    /** How many events may be handled at a time. */
    concurrency,
    /** See `RunningWorker`. */
    freedAtMs: () => (running < concurrency ? changedAtMs : undefined),
    /** Reads a stored event and runs its handlers; returns why that failed. */
    async handle(stored: unknown, attempt: number): Promise<RunFailure | undefined> {
      const startMs = performance.now();
      count(1);
      const failure = await delivery.run(() => readStoredEvent(stored), attempt);
      count(-1);
      if (failure === undefined) {
        note(stored, "handled", attempt, { durationMs: performance.now() - startMs });
      } else if (failure.isInvented === true) note(stored, "discarded", attempt, failure);
      return failure;
    },
    /** Reports a stored run that failed: the event is a dead letter now, or runs again. */
    reportFailure(stored: unknown, attempt: number, failure: RunFailure, isDead: boolean): void {
      note(stored, isDead ? "dead" : "failed", attempt, failure);
      if (isDead) delivery.reportDeadLetter(readEventNames(stored), attempt, failure.reason);
    },
  };
}
