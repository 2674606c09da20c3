import { StoredDelivery, type WorkOptions } from "../core/door";
import type { Handlers } from "../index";
import type { QueueUser } from "./event-operations";
import type { Outcome } from "./outcomes";
import type { QueueSettings } from "./queue-options";
import type { Step, NoteStep } from "./steps";
import { readEventNames, readStoredEvent } from "./stored-event";

/** Why a run failed. */
export type RunFailure = NonNullable<Awaited<ReturnType<StoredDelivery["run"]>>> & {
  /** See `FailedRun`. */
  person?: string | undefined;
};

/** What {@link createRunner} returns. */
export type Runner = ReturnType<typeof createRunner>;

/** The parts of a queue that a runner uses. */
interface RunnerContext {
  /** Records a confirmed outcome; goes on until the store has it, or the queue is closed. */
  recordOutcome: (authenticatedAccount: string, outcome: Outcome) => Promise<void>;
  noteStep: NoteStep;
  /** Names a user, by which users are counted. */
  nameUser(user: QueueUser): string | undefined;
}

/** Creates what runs the handlers of stored events; throws TypeError as `queue.work`. */
export function createRunner(
  handlers: Handlers,
  options: WorkOptions,
  { name, logger }: Pick<QueueSettings, "name" | "logger">,
  { recordOutcome, noteStep, nameUser }: RunnerContext,
) {
  const delivery = new StoredDelivery(handlers, options, { name, logger, recordOutcome });
  function note(
    stored: unknown,
    what: Step["what"],
    attempt: number,
    { masked: error, durationMs }: { masked?: string; durationMs?: number | undefined },
  ): void {
    noteStep(stored, { what, attempt, durationMs: durationMs && Math.round(durationMs), error });
  }

  return {
    concurrency: delivery.concurrency,
    /** See `RunningWorker`. */
    freedAtMs: () => delivery.freedAtMs(),
    /** Reads a stored event and runs its handlers; returns why that failed. */
    async handle(stored: unknown, attempt: number): Promise<RunFailure | undefined> {
      const startMs = performance.now();
      const failure = await delivery.run(() => readStoredEvent(stored), attempt);
      if (failure === undefined) {
        note(stored, "handled", attempt, { durationMs: performance.now() - startMs });
        return undefined;
      }
      if (failure.isInvented === true) note(stored, "discarded", attempt, failure);
      return { ...failure, person: nameUser(readEventNames(stored)) };
    },
    /** Reports a stored run that failed: the event is a dead letter now, or runs again. */
    reportFailure(stored: unknown, attempt: number, failure: RunFailure, isDead: boolean): void {
      note(stored, isDead ? "dead" : "failed", attempt, failure);
      if (isDead) delivery.reportDeadLetter(readEventNames(stored), attempt, failure.reason);
    },
  };
}
