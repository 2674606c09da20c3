import {
  createRequestRetry,
  type EventQueue,
  type QueuedEvent,
  trace,
  type WorkOptions,
} from "../core/door";
import type { Handlers } from "../index";
import { CLOSED, type Health } from "../kit/health";
import { CLOSE_RULES, settleWithin, type CloseOptions } from "../kit/closing";
import { validateOptions } from "../kit/validate-options";
import { Availability, createClosedError } from "./availability";
import { createBatches } from "./batches";
import { createEventOperations } from "./dead-letters";
import type { EventOperations } from "./event-operations";
import { describeQueueHealth } from "./health";
import { StoredJournal } from "./journal";
import { type Outcome, SharedOutcomes } from "./outcomes";
import { QueueError } from "./queue-error";
import type { QueueSettings } from "./queue-options";
import { createRunner } from "./runner";
import { createNotes, type NoteStep } from "./steps";
import type { Claims, Hint, NewEvent, QueueStats, Storage, StoredOutcome } from "./storage";
import { compareContent, toNewEvent, type DeliveryResult } from "./stored-event";
import { createUserOperations } from "./user-data";
import { ClaimingPool, type RunningWorker, type WorkerContext, type WorkerPool } from "./worker";

export type { WorkOptions } from "../core/door";
export type {
  DeadLetter,
  DeadLetterFilter,
  DeadLetterGroup,
  DeadLetterOptions,
  EventFailure,
  EventState,
  EventStatus,
  QueueUser,
  UserData,
} from "./event-operations";
export type { QueueErrorCode } from "./queue-error";
export type { Backoff, QueueOptions } from "./queue-options";
export type { QueueStats } from "./storage";

/** See {@link DurableQueue.work}. */
export interface EventWorker extends AsyncDisposable {
  /** Takes no more events, and resolves when the running handlers have finished. */
  close(options?: CloseOptions): Promise<void>;
}

/** A queue of events that outlives this process; alike on every engine. */
export interface DurableQueue extends EventQueue, EventOperations, AsyncDisposable {
  /**
   * Resolves once events can be stored; waits for a store that is down.
   *
   * @throws QueueError for a store that cannot be used until you change something; WebhookError `CLOSING`.
   */
  ready(): Promise<void>;
  /**
   * Runs handlers for stored events in this process, until the worker or the queue is closed. The
   * handlers of an event that fails run again, `attempts` times, then the event is a dead letter;
   * a `PermanentError` makes it one at once.
   *
   * @throws TypeError when `handlers` is not a result of `createHandlers()` or has no handler, or
   *   for an option that is unknown or impossible.
   */
  work(handlers: Handlers, options?: WorkOptions): EventWorker;
  /**
   * Counts the events of the queue, over all processes.
   *
   * @throws WebhookError `STORE_UNAVAILABLE`, `OVERLOADED`, `CLOSING`.
   */
  stats(): Promise<QueueStats>;
  /**
   * Lists the names of the queues of the store that ever had an event; undefined for SQLite, whose
   * file is one queue, and for Postgres.
   */
  names?(): Promise<readonly string[]>;
  /**
   * Returns within a second whether this process stores and handles events: `"unhealthy"` when one of
   * its workers has taken no event for 15 s while one waits, `"degraded"` when the store cannot be
   * used, or when events wait and no process has a worker that takes them. Never rejects.
   */
  health(): Promise<Health>;
  /** Stores no more, finishes running handlers within the deadline, and disconnects. */
  close(options?: CloseOptions): Promise<void>;
}

/** A storage, and either the claims that the workers of this package run on, or its own workers. @internal */
export type Engine = Storage & (Claims | WorkerPool);

/** As long as a store takes that responds. */
const LAST_WRITES_MS = 250;
/** When the store returns, every waiting event is sent within the longest. */
const PAUSES = { firstMs: 25, longestMs: 200 };

/**
 * Creates the queue of an engine. Its methods need no `this`. @internal
 *
 * @param createEventRunner replaced by the simulation, whose runs need no handlers.
 */
export function createQueue(
  engine: Engine,
  settings: QueueSettings,
  createEventRunner = createRunner,
): DurableQueue {
  const queue = new OpenQueue(engine, settings, createEventRunner);
  const { names } = engine;
  return {
    ...createEventOperations(engine, settings.name, queue.noteStep, (operation) =>
      queue.runAndLook(operation),
    ),
    ...createUserOperations(engine, queue.journal, (operation) => queue.run(operation)),
    journal: settings.journal ? queue.journal : undefined,
    ready: () => queue.ready(),
    outcomes: {
      record: (authenticatedAccount, outcome) => queue.record(authenticatedAccount, outcome),
      wait: queue.outcomes.wait,
    },
    store: (queued, deadlineAtMs) => queue.store(queued, deadlineAtMs),
    work: (handlers, options) => queue.work(handlers, options),
    stats: () => queue.run(() => engine.stats()),
    ...(names && { names: () => queue.run(names) }),
    health: () => queue.health(),
    close: (options) => queue.close(options),
    [Symbol.asyncDispose]: () => queue.close(),
  };
}

/** A queue in this process, until it is closed. */
class OpenQueue {
  readonly outcomes: SharedOutcomes;
  readonly journal: StoredJournal;
  readonly noteStep: NoteStep;
  readonly #engine: Engine;
  readonly #settings: QueueSettings;
  readonly #createRunner: typeof createRunner;
  readonly #availability: Availability;
  readonly #context: WorkerContext;
  readonly #pool: WorkerPool;
  readonly #retry: ReturnType<typeof createRequestRetry>;
  readonly #storeEvent: ReturnType<typeof createBatches<NewEvent, string>>;
  readonly #storeOutcome: ReturnType<typeof createBatches<StoredOutcome, void>>;
  readonly #workers = new Set<RunningWorker>();
  /** The operations that have not settled. */
  readonly #running = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor(engine: Engine, settings: QueueSettings, createEventRunner: typeof createRunner) {
    this.#engine = engine;
    this.#settings = settings;
    this.#createRunner = createEventRunner;
    const availability = new Availability(
      engine,
      settings.logger,
      () => this.#onOpen(),
      (hint) => this.#onHint(hint),
    );
    this.#availability = availability;
    this.outcomes = new SharedOutcomes(engine, settings);
    this.journal = new StoredJournal(engine, availability, (read) => this.run(read));
    this.noteStep = createNotes(settings.journal ? this.journal : undefined);
    const context = { settings, availability, lookForEvents: () => this.#lookForEvents() };
    this.#context = context;
    this.#pool = "claim" in engine ? new ClaimingPool(engine, context) : engine;
    this.#storeEvent = createBatches(
      (events) => availability.watchWrite(engine.store(events), true),
      engine.storeBatches,
    );
    this.#storeOutcome = createBatches(async (items) => {
      await availability.watchWrite(engine.record(items), true);
      return [];
    });
    this.#retry = createRequestRetry({
      what: engine.title,
      retryForMs: settings.storeTimeoutMs,
      maxRetrying: settings.maxPending,
      pauses: PAUSES,
      isNeutral: (error) => error instanceof QueueError,
    });
  }

  async ready(): Promise<void> {
    this.#assertNotClosed();
    await this.#availability.ready();
  }

  store(queued: QueuedEvent, deadlineAtMs: number): Promise<DeliveryResult> {
    const { event, uuid, receiver } = queued;
    const queue = this.#settings.name;
    const describe = () => ({ queue, type: event.type, uuid, receiver, carrier: {} });
    return trace("store", describe, (traced) =>
      this.#storeOnce(queued, deadlineAtMs, traced?.carrier),
    );
  }

  async record(authenticatedAccount: string, outcome: Outcome): Promise<void> {
    const stored = this.outcomes.write(authenticatedAccount, outcome);
    await this.run((isWanted) => this.#storeOutcome(stored, isWanted));
    this.outcomes.notice([stored.key]);
  }

  work(handlers: Handlers, options: WorkOptions = {}): EventWorker {
    this.#assertNotClosed();
    const runner = this.#createRunner(handlers, options, this.#settings, {
      recordOutcome: (authenticatedAccount, outcome) =>
        this.#recordConfirmed(authenticatedAccount, outcome),
      noteStep: this.noteStep,
      nameUser: (user) => this.journal.nameUser(user),
    });
    const worker = this.#pool.startWorker(runner, this.#context);
    this.#workers.add(worker);
    return this.#toEventWorker(worker);
  }

  async health(): Promise<Health> {
    if (this.#closed !== undefined) return CLOSED;
    return describeQueueHealth(this.#availability, this.#workers, () => this.#engine.stats());
  }

  close(options: CloseOptions = {}): Promise<void> {
    validateOptions("close", options, CLOSE_RULES);
    this.outcomes.close();
    return (this.#closed ??= this.#drain(options));
  }

  /** Runs an operation, and again while the store fails, up to `storeTimeoutMs`. */
  async run<Value>(
    attempt: (isWanted: () => boolean) => Promise<Value>,
    deadlineAtMs?: number,
  ): Promise<Value> {
    this.#assertNotClosed();
    let isOver = false;
    const result = this.#retry(() => {
      this.#availability.assertOpen();
      return attempt(() => !isOver);
    }, deadlineAtMs);
    this.#running.add(result);
    try {
      return await result;
    } finally {
      isOver = true;
      this.#running.delete(result);
    }
  }

  /** Runs an operation after which events may be due. */
  async runAndLook<Value>(operation: () => Promise<Value>): Promise<Value> {
    const value = await this.run(operation);
    this.#lookForEvents();
    return value;
  }

  #assertNotClosed(): void {
    if (this.#closed !== undefined) throw createClosedError();
  }

  #onOpen(): void {
    this.journal.prepare();
    this.outcomes.recheck();
    this.#pool.onOpen?.();
  }

  #onHint({ hasEvents, outcomes: keys }: Hint): void {
    if (hasEvents) this.#lookForEvents();
    this.outcomes.notice(keys);
  }

  #lookForEvents(): void {
    for (const worker of this.#workers) worker.look?.();
  }

  async #storeOnce(
    queued: QueuedEvent,
    deadlineAtMs: number,
    carrier: Record<string, string> | undefined,
  ): Promise<DeliveryResult> {
    const outcome = this.outcomes.writeOf(queued);
    const added = toNewEvent(this.#settings.name, queued, outcome, carrier);
    const kept = await this.run((isWanted) => this.#storeEvent(added, isWanted), deadlineAtMs);
    const result = compareContent(queued, added.content, kept);
    if (result === "new") {
      this.#lookForEvents();
      if (outcome !== undefined) this.outcomes.notice([outcome.key]);
    }
    return result;
  }

  /** Also while the queue closes: an outage must not use up attempts. */
  async #recordConfirmed(authenticatedAccount: string, outcome: Outcome): Promise<void> {
    const stored = this.outcomes.write(authenticatedAccount, outcome);
    const record = () => this.#storeOutcome(stored).then(() => true);
    if ((await this.#availability.writeAtLast(record)) !== true) throw createClosedError();
    this.outcomes.notice([stored.key]);
  }

  #toEventWorker(worker: RunningWorker): EventWorker {
    let finished: Promise<void> | undefined;
    const close = (options: CloseOptions = {}) => {
      validateOptions("close", options, CLOSE_RULES);
      return (finished ??= settleWithin(
        worker.finish().then(() => void this.#workers.delete(worker)),
        options,
      ));
    };
    return { close, [Symbol.asyncDispose]: () => close() };
  }

  async #drain(options: CloseOptions): Promise<void> {
    const finishing = [...this.#workers].map((worker) => worker.finish());
    await settleWithin(Promise.allSettled([...this.#running, ...finishing]), options);
    for (const worker of this.#workers) worker.abandon();
    this.#pool.stop?.();
    // A worker that was abandoned gives its events back.
    const leaving = Promise.allSettled([...finishing, this.journal.close()]);
    await settleWithin(leaving, { deadlineMs: LAST_WRITES_MS });
    this.#availability.close();
    await this.#engine.close();
  }
}
