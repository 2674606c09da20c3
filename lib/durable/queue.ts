import {
  type ChallengeEvent,
  CLOSED,
  createRequestRetry,
  type DeliveryResult,
  type EventOperations,
  type EventQueue,
  type Handlers,
  type Health,
  isChallengeEvent,
  type QueuedEvent,
  trace,
} from "../core/door";
import { CLOSE_RULES, settleWithin, type CloseOptions } from "../kit/closing";
import { validateOptions } from "../kit/validate-options";
import { createClosedError, keepConnected } from "./availability";
import { createBatches } from "./batches";
import { createEventOperations } from "./dead-letters";
import { describeQueueHealth } from "./health";
import { createSharedOutcomes } from "./outcomes";
import { QueueError } from "./queue-error";
import type { QueueSettings } from "./queue-options";
import { createRunner, type WorkOptions } from "./runner";
import type { Claims, Hint, NewEvent, QueueStats, Storage, StoredOutcome } from "./storage";
import { compareContent, toNewEvent } from "./stored-event";
import { createWorkerPool, type RunningWorker, type WorkerPool } from "./worker";

export type {
  DeadLetter,
  DeadLetterOptions,
  EventFailure,
  EventState,
  EventStatus,
} from "../core/door";
export type { QueueErrorCode } from "./queue-error";
export type { Backoff, QueueOptions } from "./queue-options";
export type { WorkOptions } from "./runner";
export type { QueueStats } from "./storage";

/** Runs handlers for the events of a queue; see `queue.work`. */
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
   * Lists the names of the queues of the store in which an event was ever stored; undefined for
   * SQLite, whose file is one queue, and for Postgres.
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

/**
 * What SQLite, Postgres and Redis implement: a storage, and either the claims that the workers of
 * this package run on, or workers of their own. @internal
 */
export type Engine = Storage & (Claims | WorkerPool);

/** When the store returns, every waiting event is sent within the longest. */
const PAUSES = { firstMs: 25, longestMs: 200 };

/**
 * Creates the queue of an engine: all that engines have in common. @internal
 *
 * @param createEventRunner replaced by the simulation, whose runs need no handlers.
 */
export function createQueue(
  engine: Engine,
  settings: QueueSettings,
  createEventRunner = createRunner,
): DurableQueue {
  const { name, storeTimeoutMs, maxPending, logger } = settings;
  const { names } = engine;
  const localWorkers = new Set<RunningWorker>();
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  const availability = keepConnected(engine, logger, onOpen, onHint);
  const outcomes = createSharedOutcomes(engine, settings);
  const context = { settings, availability, lookForEvents };
  const pool: WorkerPool = "claim" in engine ? createWorkerPool(engine, context) : engine;
  const storeEvent = createBatches(
    (events: readonly NewEvent[]) => availability.watchWrite(engine.store(events), true),
    engine.storeBatches,
  );
  const storeOutcome = createBatches(async (items: readonly StoredOutcome[]) => {
    await availability.watchWrite(engine.record(items), true);
    return [];
  });
  const retry = createRequestRetry({
    what: engine.title,
    retryForMs: storeTimeoutMs,
    maxRetrying: maxPending,
    pauses: PAUSES,
    isNeutral: (error) => error instanceof QueueError,
  });

  function onOpen(): void {
    outcomes.recheck();
    pool.onOpen?.();
  }

  function onHint({ hasEvents, outcomes: keys }: Hint): void {
    if (hasEvents) lookForEvents();
    outcomes.notice(keys);
  }

  function lookForEvents(): void {
    for (const worker of localWorkers) worker.look?.();
  }

  /** Runs an operation, and again while the store fails, up to `storeTimeoutMs`. */
  async function run<Value>(
    attempt: (isWanted: () => boolean) => Promise<Value>,
    deadlineAtMs?: number,
  ): Promise<Value> {
    if (closed !== undefined) throw createClosedError();
    let isOver = false;
    const result = retry(() => {
      availability.assertOpen();
      return attempt(() => !isOver);
    }, deadlineAtMs);
    running.add(result);
    try {
      return await result;
    } finally {
      isOver = true;
      running.delete(result);
    }
  }

  /** Also while the queue closes, and without a limit: an outage must not use up attempts. */
  async function recordConfirmed(account: string, event: ChallengeEvent): Promise<void> {
    const outcome = outcomes.toStored(account, event);
    const stored = availability.writeAtLast(() => storeOutcome(outcome).then(() => true));
    if ((await stored) !== true) throw createClosedError();
    outcomes.notice([outcome.key]);
  }

  async function storeOnce(
    queued: QueuedEvent,
    deadlineAtMs: number,
    carrier: Record<string, string> | undefined,
  ): Promise<DeliveryResult> {
    const { event, account, needsConfirmation = false } = queued;
    const isKnown = isChallengeEvent(event) && !needsConfirmation;
    const outcome = isKnown ? outcomes.toStored(account, event) : undefined;
    const added = toNewEvent(name, queued, outcome, carrier);
    const kept = await run((isWanted) => storeEvent(added, isWanted), deadlineAtMs);
    const result = compareContent(queued, added.content, kept);
    if (result === "new") {
      lookForEvents();
      if (outcome !== undefined) outcomes.notice([outcome.key]);
    }
    return result;
  }

  function toEventWorker(worker: RunningWorker): EventWorker {
    let finished: Promise<void> | undefined;
    function closeWorker(options: CloseOptions = {}): Promise<void> {
      validateOptions("close", options, CLOSE_RULES);
      return (finished ??= settleWithin(
        worker.finish().then(() => void localWorkers.delete(worker)),
        options,
      ));
    }
    return { close: closeWorker, [Symbol.asyncDispose]: () => closeWorker() };
  }

  async function drain(options: CloseOptions): Promise<void> {
    const finishing = [...localWorkers].map((worker) => worker.finish());
    await settleWithin(Promise.allSettled([...running, ...finishing]), options);
    for (const worker of localWorkers) worker.abandon();
    pool.stop?.();
    availability.close();
    await engine.close();
  }

  function close(options: CloseOptions = {}): Promise<void> {
    validateOptions("close", options, CLOSE_RULES);
    outcomes.close();
    return (closed ??= drain(options));
  }

  return {
    ...createEventOperations(engine, name, async (operation) => {
      const value = await run(operation);
      lookForEvents();
      return value;
    }),
    ready: () =>
      closed === undefined ? availability.ready() : Promise.reject(createClosedError()),
    outcomes: {
      async record(account, event) {
        const outcome = outcomes.toStored(account, event);
        await run((isWanted) => storeOutcome(outcome, isWanted));
        outcomes.notice([outcome.key]);
      },
      wait: outcomes.wait,
    },
    store(queued, deadlineAtMs) {
      const { event, uuid, receiver } = queued;
      const describe = () => ({ queue: name, type: event.type, uuid, receiver, carrier: {} });
      return trace("store", describe, (traced) => storeOnce(queued, deadlineAtMs, traced?.carrier));
    },
    work(handlers, options = {}) {
      if (closed !== undefined) throw createClosedError();
      const runner = createEventRunner(handlers, options, settings, recordConfirmed);
      const worker = pool.startWorker(runner, context);
      localWorkers.add(worker);
      return toEventWorker(worker);
    },
    stats: () => run(() => engine.stats()),
    ...(names && { names: () => run(names) }),
    async health() {
      if (closed !== undefined) return CLOSED;
      return describeQueueHealth(availability, localWorkers, () => engine.stats());
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}
