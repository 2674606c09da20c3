import { createRetry } from "../delivery/retry";
import { isChallengeEvent } from "../event/event";
import type { Handlers } from "../delivery/handler-registry";
import { CLOSE_RULES, settleWithin, type CloseOptions } from "../receiver/close-options";
import { validateOptions } from "../validation/validate-options";
import { keepConnected, type Availability } from "./availability";
import { createBatches } from "./batches";
import { createClosedError } from "./closed-error";
import { createLetterOperations } from "./dead-letters";
import type { DurableQueue } from "./durable-queue";
import { createEventWorker } from "./event-worker";
import { createSharedOutcomes } from "./outcomes";
import { QueueError } from "./queue-error";
import type { QueueSettings } from "./queue-options";
import type { QueueStore, NewEvent, StoredOutcome } from "./storage";
import { compareContent } from "./stored-content";
import { toNewEvent } from "./stored-event";
import { validateWork, type WorkOptions } from "./work-options";
import type { QueueWorker } from "./worker";

/** What runs the handlers of the events of a queue in this process. */
export interface WorkerPool {
  start(handlers: Handlers, options: WorkOptions): QueueWorker;
  /** Called when the store can be used, for the first time and after an outage. */
  onOpen(): void;
  /** Called before the store is closed; `isIdle`: no event is held. */
  stop(): void;
}

/** What the pool of an engine may use. */
export interface PoolParts {
  settings: QueueSettings;
  availability: Availability;
}

const LONGEST_PAUSE_MS = 200;

/** Creates the queue of an engine: all that engines have in common. */
export function createQueue(
  store: QueueStore,
  settings: QueueSettings,
  createPool: (parts: PoolParts) => WorkerPool,
): DurableQueue {
  const { name, storeTimeoutMs, maxPending, logger } = settings;
  const workers = new Set<QueueWorker>();
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  const availability = keepConnected(store, logger, {
    onOpen() {
      outcomes.recheck();
      pool.onOpen();
    },
    onHint({ hasEvents, outcomes: keys }) {
      if (hasEvents) lookForEvents();
      outcomes.notice(keys);
    },
  });
  const outcomes = createSharedOutcomes(store, settings);
  const pool = createPool({ settings, availability });
  const storeEvent = createBatches((events: readonly NewEvent[]) =>
    availability.watchWrite(store.store(events)),
  );
  const storeOutcome = createBatches(async (items: readonly StoredOutcome[]) => {
    await availability.watchWrite(store.record(items));
    return [];
  });
  const retry = createRetry({
    what: store.title,
    retryForMs: storeTimeoutMs,
    maxRetrying: maxPending,
    // All that waited for the store is sent within this time after its return.
    longestPauseMs: LONGEST_PAUSE_MS,
    isNeutral: (error) => error instanceof QueueError,
  });

  function lookForEvents(): void {
    for (const worker of workers) worker.look();
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

  async function drain(options: CloseOptions): Promise<void> {
    const finishing = [...workers].map((worker) => worker.finish());
    await settleWithin(Promise.allSettled([...running, ...finishing]), options);
    for (const worker of workers) worker.abandon();
    pool.stop();
    availability.close();
    await store.close();
  }

  function close(options: CloseOptions = {}): Promise<void> {
    validateOptions("close", options, CLOSE_RULES);
    outcomes.close();
    return (closed ??= drain(options));
  }

  return {
    ...createLetterOperations(store, name, async (operation) => {
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
    async store(queued, deadlineAtMs) {
      const { event, account } = queued;
      const outcome = isChallengeEvent(event) ? outcomes.toStored(account, event) : undefined;
      const added = toNewEvent(name, queued, outcome);
      const kept = await run((isWanted) => storeEvent(added, isWanted), deadlineAtMs);
      const result = compareContent(queued, added.content, kept);
      if (result === "new") {
        lookForEvents();
        if (outcome !== undefined) outcomes.notice([outcome.key]);
      }
      return result;
    },
    work(handlers, options = {}) {
      validateWork(handlers, options);
      if (closed !== undefined) throw createClosedError();
      const worker = pool.start(handlers, options);
      workers.add(worker);
      return createEventWorker(async () => {
        await worker.finish();
        workers.delete(worker);
      });
    },
    stats: () => run(() => store.stats()),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}
