import { createRetry } from "../time/retry";
import { isChallengeEvent, type ChallengeEvent, type DeliveryResult } from "../event/event";
import type { QueuedEvent } from "../delivery/event-queue";
import { CLOSED } from "../observability/health";
import { trace } from "../observability/tracing";
import { CLOSE_RULES, settleWithin, type CloseOptions } from "../time/close-options";
import { validateOptions } from "../validation/validate-options";
import { createClosedError, keepConnected, writeAtLast } from "./availability";
import { createBatches, type ORDERED } from "./batches";
import { createEventOperations } from "./dead-letters";
import type { DurableQueue, EventWorker } from "./durable-queue";
import { createSharedOutcomes } from "./outcomes";
import { QueueError } from "./queue-error";
import { describeQueueHealth } from "./queue-health";
import type { QueueSettings } from "./queue-options";
import type { Hint, NewEvent, QueueStore, Storage, StoredOutcome } from "./storage";
import { compareContent, toNewEvent } from "./stored-event";
import { validateWork } from "./event-runner";
import { createStoragePool, type PoolParts, type QueueWorker, type WorkerPool } from "./worker";

const LONGEST_PAUSE_MS = 200;

/**
 * Loads an engine.
 *
 * @param packages the packages that it needs, with the lowest version of each.
 * @throws Error with the line that installs them when one is missing or older.
 */
export function loadEngine<Engine>(
  load: () => Engine,
  owner: string,
  packages: Record<string, string>,
): Engine {
  const names = Object.keys(packages);
  const install = `Run: npm install ${names.join(" ")}`;
  for (const [name, lowest] of Object.entries(packages)) {
    const installed = readVersion(name);
    if (installed === undefined || !isOlder(installed, lowest)) continue;
    throw new Error(`${owner} needs ${name} ${lowest} or newer, not ${installed}. ${install}`);
  }
  try {
    return load();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = names.some((name) => message.includes(`'${name}'`));
    if (code !== "MODULE_NOT_FOUND" || !isMissing) throw error;
    throw new Error(`${owner} needs packages that are not installed. ${install}`, { cause: error });
  }
}

/** Returns undefined for a package that is missing, or whose version a bundler left out. */
function readVersion(name: string): string | undefined {
  try {
    return (require(`${name}/package.json`) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** Compares versions by their three numbers. */
function isOlder(version: string, lowest: string): boolean {
  return version.localeCompare(lowest, "en", { numeric: true }) < 0;
}

/** Creates the queue of an engine that implements {@link Storage}. */
export function createStorageQueue(storage: Storage, settings: QueueSettings): DurableQueue {
  return createQueue(storage, settings, (parts) => createStoragePool(storage, parts));
}

/** Creates the queue of an engine: all that engines have in common. */
export function createQueue(
  store: QueueStore,
  settings: QueueSettings,
  createPool: (parts: PoolParts) => WorkerPool,
  /** The size of the batches of events that are stored. */
  batchLimits?: typeof ORDERED,
): DurableQueue {
  const { name, storeTimeoutMs, maxPending, logger } = settings;
  const workers = new Set<QueueWorker>();
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  const availability = keepConnected(store, logger, onOpen, onHint);
  const outcomes = createSharedOutcomes(store, settings);
  const pool = createPool({ settings, availability, recordOutcome, lookForEvents });
  const storeEvent = createBatches(
    (events: readonly NewEvent[]) => availability.watchWrite(store.store(events), true),
    batchLimits,
  );
  const storeOutcome = createBatches(async (items: readonly StoredOutcome[]) => {
    await availability.watchWrite(store.record(items), true);
    return [];
  });
  const retry = createRetry({
    what: store.title,
    retryForMs: storeTimeoutMs,
    maxRetrying: maxPending,
    // When the store returns, every waiting event is sent within this time.
    longestPauseMs: LONGEST_PAUSE_MS,
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

  /** Also while the queue closes, and without a limit: an outage must not use up attempts. */
  async function recordOutcome(account: string, event: ChallengeEvent): Promise<void> {
    const outcome = outcomes.toStored(account, event);
    const stored = writeAtLast(availability, () => storeOutcome(outcome).then(() => true));
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

  function toEventWorker(worker: QueueWorker): EventWorker {
    let finished: Promise<void> | undefined;
    function closeWorker(options: CloseOptions = {}): Promise<void> {
      validateOptions("close", options, CLOSE_RULES);
      return (finished ??= settleWithin(
        worker.finish().then(() => void workers.delete(worker)),
        options,
      ));
    }
    return { close: closeWorker, [Symbol.asyncDispose]: () => closeWorker() };
  }

  async function drain(options: CloseOptions): Promise<void> {
    const finishing = [...workers].map((worker) => worker.finish());
    await settleWithin(Promise.allSettled([...running, ...finishing]), options);
    for (const worker of workers) worker.abandon();
    pool.stop?.();
    availability.close();
    await store.close();
  }

  function close(options: CloseOptions = {}): Promise<void> {
    validateOptions("close", options, CLOSE_RULES);
    outcomes.close();
    return (closed ??= drain(options));
  }

  return {
    ...createEventOperations(store, name, async (operation) => {
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
      validateWork(handlers, options);
      if (closed !== undefined) throw createClosedError();
      const worker = pool.start(handlers, options);
      workers.add(worker);
      return toEventWorker(worker);
    },
    stats: () => run(() => store.stats()),
    ...(store.names !== undefined && {
      names: () => run(async () => (await store.names?.()) ?? []),
    }),
    async health() {
      if (closed !== undefined) return CLOSED;
      return describeQueueHealth(availability, workers, () => store.stats());
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}
