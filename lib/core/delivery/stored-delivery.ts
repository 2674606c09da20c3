import { CONFIRM, FUNCTION } from "../../kit/option-rules";
import {
  MAX_TIMER_MS,
  validateOptions,
  wholeNumber,
  type OptionRules,
} from "../../kit/validate-options";
import { cutText, escapeControls } from "../../kit/text";
import type { Logger } from "../../kit/logger";
import { maskText } from "../journal/mask";
import { describeReasons, listReasons } from "../../kit/thrown-value";
import { PermanentError } from "../errors/permanent-error";
import { WebhookError } from "../errors/webhook-error";
import { isChallengeEvent } from "../event/event";
import { INVENTED_PREFIX } from "../event/invented-event";
import { publish } from "../observability/diagnostics";
import { Reporter, type ErrorListener } from "../observability/reporter";
import { ConfirmationPending, confirmOnce, type Confirm } from "./confirmation";
import { createDispatch, type Dispatch } from "./dispatch";
import type { QueuedEvent } from "./event-queue";
import { areHandlersEmpty, findConfirm, isHandlers, type Handlers } from "./handler-registry";
import { toOutcome, type ChallengeOutcome } from "./outcome";

const MAX_MASKED_CHARACTERS = 500;

/** How many events of `queue.work` are handled, and how. */
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

const WORK_RULES: OptionRules<WorkOptions> = {
  concurrency: wholeNumber(1, 10_000, "events"),
  handlerTimeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  confirm: CONFIRM,
  onError: FUNCTION,
};

/** An event from the store of a queue. */
interface RestoredEvent extends Pick<
  QueuedEvent,
  | "event"
  | "authenticatedAccount"
  | "needsConfirmation"
  | "ambiguity"
  | "authTokenIndex"
  | "publicUrlIndex"
> {
  receiver?: string | undefined;
  /** The trace context that was stored with the event. */
  carrier?: Record<string, string> | undefined;
}

/** Why a run failed. */
interface RunFailure {
  /** The code, and the messages of the errors that handlers threw. */
  reason: string;
  /** The reason without the values of the event: one for all users, at most 500 characters. */
  masked: string;
  /** Whether another run is of no use. */
  isPermanent: boolean;
  /** Whether `confirm` rejects it: a genuine event may have its uuid. */
  isForged: boolean;
  /** Whether it is forged, and `trigger` invented it. */
  isInvented?: boolean;
  /** Undefined when its process died. */
  durationMs?: number;
}

/** The queue of a worker. */
interface WorkerQueue {
  name: string;
  logger: Logger | undefined;
  /** Records an outcome that was confirmed; goes on until it is stored, or the queue is closed. */
  recordOutcome: (authenticatedAccount: string, outcome: ChallengeOutcome) => Promise<void>;
}

/** The delivery of a worker: confirms the events of a queue, and runs their handlers. */
export class StoredDelivery {
  readonly #handlers: Handlers;
  readonly #options: WorkOptions;
  readonly #queue: WorkerQueue;
  readonly #reports: Reporter;
  readonly #dispatch: Dispatch;
  readonly concurrency: number;
  #running = 0;
  /** When the number of running events changed last. */
  #changedAtMs = performance.now();

  /**
   * @throws TypeError for an option that is unknown or not valid, and when `handlers` is not a result
   *   of `createHandlers()` or has no handler.
   */
  constructor(handlers: Handlers, options: WorkOptions, queue: WorkerQueue) {
    validateOptions("work", options, WORK_RULES);
    assertHandlers(handlers);
    this.concurrency = options.concurrency ?? 16;
    this.#handlers = handlers;
    this.#options = options;
    this.#queue = queue;
    this.#reports = new Reporter(queue.logger, { queue: queue.name });
    if (options.onError !== undefined) this.#reports.onError(options.onError);
    this.#dispatch = createDispatch(handlers, this.#reports);
  }

  /** Since when more events could be handled, as `performance.now()` counts; undefined: no more can. */
  freedAtMs(): number | undefined {
    return this.#running < this.concurrency ? this.#changedAtMs : undefined;
  }

  /**
   * Runs the handlers of the event that `read` reads from its stored form; returns why that failed.
   */
  async run(read: () => RestoredEvent, attempt: number): Promise<RunFailure | undefined> {
    const startMs = this.#count(1);
    let event: RestoredEvent["event"] | undefined;
    try {
      const stored = this.#read(read);
      const { authTokenIndex, publicUrlIndex, receiver, carrier } = stored;
      ({ event } = stored);
      const { handlerTimeoutMs = 10_000 } = this.#options;
      const prepare = stored.needsConfirmation === true ? () => this.#confirm(stored) : undefined;
      const context = { attempt, authTokenIndex, publicUrlIndex, receiver };
      const traced = { queue: this.#queue.name, carrier, prepare };
      await this.#dispatch(event, context, handlerTimeoutMs, traced);
      return undefined;
    } catch (error) {
      const { code, cause, message } = error as WebhookError;
      const isForged = code === "NOT_CONFIRMED";
      const isFinal = isForged && !(cause instanceof ConfirmationPending);
      const reason = `${code}: ${describeReasons(cause) ?? message}`;
      return {
        reason,
        // A name is longer than a short value.
        masked: cutText(maskText(reason, event), MAX_MASKED_CHARACTERS),
        isPermanent: isFinal || listReasons(cause).some((one) => one instanceof PermanentError),
        isForged,
        isInvented: isFinal && event?.uuid.startsWith(INVENTED_PREFIX) === true,
        durationMs: performance.now() - startMs,
      };
    } finally {
      this.#count(-1);
    }
  }

  /** Reports a new dead letter, by what is known of it. */
  reportDeadLetter(
    event: { type: string; uuid: string; receiver?: string | undefined },
    attempts: number,
    error: string,
  ): void {
    const { receiver } = event;
    publish("dead-lettered", () => ({ type: event.type, attempts }));
    // Texts of a signer, and of an error that may quote one.
    const [type, uuid] = [event.type, event.uuid].map(escapeControls);
    const { name: queue, logger } = this.#queue;
    const fields = { queue, receiver, type, uuid, attempts, error: escapeControls(error) };
    logger?.error(fields, "An event is a dead letter now");
  }

  /** Counts a run that begins or ends; returns the time. */
  #count(change: 1 | -1): number {
    this.#running += change;
    this.#changedAtMs = performance.now();
    return this.#changedAtMs;
  }

  #read(read: () => RestoredEvent): RestoredEvent {
    try {
      return read();
    } catch (reason) {
      // Another error may quote the parameters. Another version may read them in a later attempt.
      const message = "This version cannot read a stored event.";
      const isNamed = reason instanceof WebhookError && reason.code === "INTERNAL_ERROR";
      const error = isNamed ? reason : new WebhookError("INTERNAL_ERROR", message);
      this.#reports.error(error);
      throw error;
    }
  }

  async #confirm({
    event,
    authenticatedAccount,
    receiver,
    ambiguity,
  }: RestoredEvent): Promise<void> {
    const confirm = this.#options.confirm ?? findConfirm(this.#handlers, receiver);
    await confirmOnce(confirm, event, ambiguity);
    if (isChallengeEvent(event))
      await this.#queue.recordOutcome(authenticatedAccount, toOutcome(event));
  }
}

function assertHandlers(handlers: Handlers): void {
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
