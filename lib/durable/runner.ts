import {
  areHandlersEmpty,
  type ChallengeEvent,
  type Confirm,
  ConfirmationPending,
  confirmOnce,
  createDispatch,
  Reporter,
  type ErrorListener,
  findConfirm,
  type Handlers,
  isChallengeEvent,
  isHandlers,
  isInvented,
  maskText,
  PermanentError,
  publish,
  type QueueUser,
  WebhookError,
} from "../core/door";
import { cutText, escapeControls, toAsciiJson } from "../kit/text";
import { describeReasons, listReasons } from "../kit/thrown-value";
import { CONFIRM, FUNCTION } from "../kit/option-rules";
import { MAX_TIMER_MS, validateOptions, wholeNumber } from "../kit/validate-options";
import { pauseOf, type QueueSettings } from "./queue-options";
import type { Step, NoteStep } from "./steps";
import type { FailedRun, Run } from "./storage";
import { addFailure, readEventNames, readStoredEvent, type RestoredEvent } from "./stored-event";

/** Options of `queue.work`. */
export interface WorkOptions {
  /** How many events are handled at a time in this process. @default 16 */
  concurrency?: number | undefined;
  /** How long the handlers of an event may run, in milliseconds. @default 10_000 */
  handlerTimeoutMs?: number | undefined;
  /**
   * Confirms the events of receivers with the option `confirm`, in each attempt, before their outcome
   * is recorded and their handlers run. `false` makes an event a dead letter at once, `"pending"`
   * after the last attempt.
   * @default the option of the receiver of these handlers in this process; without one, such an
   *   event fails
   */
  confirm?: Confirm | undefined;
  /** Called with the failure of each attempt. @default none */
  onError?: ErrorListener | undefined;
}

const MAX_MASKED_CHARACTERS = 500;
const WORK_RULES = {
  concurrency: wholeNumber(1, 10_000, "events"),
  handlerTimeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  confirm: CONFIRM,
  onError: FUNCTION,
};

function validateWork(handlers: Handlers, options: WorkOptions): void {
  validateOptions("work", options, WORK_RULES);
  if (!isHandlers(handlers)) {
    throw new TypeError(
      "work: handlers must be the result of createHandlers(), or push.handlers of a receiver.",
    );
  }
  if (areHandlersEmpty(handlers)) {
    throw new TypeError(
      "work: handlers has no handler: every event would count as unhandled. Call handlers.on() before queue.work(handlers).",
    );
  }
}

/** Why a run failed. */
export interface RunFailure {
  /** The code, and the messages of the errors that handlers threw. */
  reason: string;
  /** The reason without the values of the event: one for all users, at most 500 characters. */
  masked: string;
  /** See `FailedRun`. */
  person?: string | undefined;
  /** Whether another run is of no use. */
  isPermanent: boolean;
  /** Whether it is not confirmed: a genuine event may have the uuid of this dead letter. */
  isForged: boolean;
  /** Undefined when its process died. */
  durationMs?: number;
}

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
    failure: toAsciiJson(failure.masked),
    person: failure.person,
    pauseMs,
    isForged: isDead && failure.isForged,
  };
}

/** Runs the handlers of stored events, for the worker of any engine. */
export type Runner = ReturnType<typeof createRunner>;

/** What a runner does with its queue. */
export interface RunnerContext {
  /** Records an outcome that was confirmed; goes on until the store has it, or the queue is closed. */
  recordOutcome(account: string, event: ChallengeEvent): Promise<void>;
  noteStep: NoteStep;
  /** Names a user, by which users are counted. */
  nameUser(user: QueueUser): string | undefined;
}

/**
 * Creates the runner of a worker.
 *
 * @throws TypeError as `queue.work`.
 */
export function createRunner(
  handlers: Handlers,
  options: WorkOptions,
  { name: queue, logger }: Pick<QueueSettings, "name" | "logger">,
  { recordOutcome, noteStep, nameUser }: RunnerContext,
) {
  validateWork(handlers, options);
  const { concurrency = 16, handlerTimeoutMs = 10_000, confirm, onError } = options;
  const reports = new Reporter(logger, { queue });
  if (onError !== undefined) reports.onError(onError);
  const dispatch = createDispatch(handlers, reports);
  let running = 0;
  let changedAtMs = performance.now();

  function read(stored: unknown): RestoredEvent {
    try {
      return readStoredEvent(stored);
    } catch (reason) {
      // Another error may quote the parameters. Another version may read them in a later attempt.
      const message = "This version cannot read a stored event.";
      const isNamed = reason instanceof WebhookError && reason.code === "INTERNAL_ERROR";
      const error = isNamed ? reason : new WebhookError("INTERNAL_ERROR", message);
      reports.error(error);
      throw error;
    }
  }

  async function confirmAndRecord(restored: RestoredEvent): Promise<void> {
    const { event, account, receiver, ambiguity } = restored;
    await confirmOnce(confirm ?? findConfirm(handlers, receiver), event, ambiguity);
    if (isChallengeEvent(event)) await recordOutcome(account, event);
  }

  async function run(restored: RestoredEvent, attempt: number): Promise<void> {
    const { event, authTokenIndex, publicUrlIndex, receiver, carrier } = restored;
    const context = { attempt, authTokenIndex, publicUrlIndex, receiver };
    const prepare =
      restored.needsConfirmation === true ? () => confirmAndRecord(restored) : undefined;
    await dispatch(event, context, handlerTimeoutMs, { queue, carrier, prepare });
  }

  return {
    /** How many events may be handled at a time. */
    concurrency,
    /** See `RunningWorker`. */
    freedAtMs: () => (running < concurrency ? changedAtMs : undefined),
    /**
     * Reads a stored event and runs its handlers; returns why that failed, unless a tool invented the
     * event and it is not confirmed.
     */
    async handle(stored: unknown, attempt: number): Promise<RunFailure | undefined> {
      running++;
      const startMs = (changedAtMs = performance.now());
      const note = (step: Step) =>
        noteStep(stored, { attempt, durationMs: Math.round(performance.now() - startMs), ...step });
      let restored: RestoredEvent | undefined;
      try {
        restored = read(stored);
        await run(restored, attempt);
        note({ what: "handled" });
        return undefined;
      } catch (error) {
        const { code, cause, message } = error as WebhookError;
        const isForged = code === "NOT_CONFIRMED";
        const isFinal = isForged && !(cause instanceof ConfirmationPending);
        const reason = `${code}: ${describeReasons(cause) ?? message}`;
        // A name is longer than a short value.
        const masked = cutText(maskText(reason, restored?.event), MAX_MASKED_CHARACTERS);
        const names = readEventNames(stored);
        // Reported above, and no dead letter: the service cannot confirm what a tool of ours invented.
        if (isFinal && isInvented(names.uuid)) {
          note({ what: "discarded", error: masked });
          return undefined;
        }
        return {
          reason,
          masked,
          person: nameUser(names),
          isPermanent: isFinal || listReasons(cause).some((one) => one instanceof PermanentError),
          isForged,
          durationMs: performance.now() - startMs,
        };
      } finally {
        running--;
        changedAtMs = performance.now();
      }
    },
    /** Reports a stored run that failed: the event is a dead letter now, or runs again. */
    reportFailure(stored: unknown, attempt: number, failure: RunFailure, isDead: boolean): void {
      const { reason, masked, durationMs } = failure;
      const step = { attempt, durationMs: durationMs && Math.round(durationMs), error: masked };
      noteStep(stored, { what: isDead ? "dead" : "failed", ...step });
      if (!isDead) return;
      const { receiver, ...names } = readEventNames(stored);
      publish("dead-lettered", () => ({ type: names.type, attempts: attempt }));
      const message = "An event is a dead letter now";
      // Texts of a signer, and of an error that may quote one.
      const [type, uuid] = [names.type, names.uuid].map(escapeControls);
      const error = escapeControls(reason);
      logger?.error({ queue, receiver, type, uuid, attempts: attempt, error }, message);
    },
  };
}
