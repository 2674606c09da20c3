import { Queue } from "bullmq";
import { isChallengeEvent } from "../event";
import { WebhookError } from "../errors";
import { areHandlersEmpty, isHandlers, type Handlers } from "../handlers";
import { createHold } from "../hold";
import { CLOSE_RULES, settleWithin, type CloseOptions } from "../close-options";
import { checkOptions, MAX_TIMER_MS, wholeNumber } from "../option-rules";
import type { EventQueue } from "../queue";
import type { ErrorListener } from "../reports";
import { openConnection } from "./connection";
import type { DeadLetter, DeadLetterOptions } from "./dead-letter";
import { createDeadLetters } from "./dead-letters";
import { reportQueueError, toQueueError } from "./queue-error";
import { DurabilityError } from "./durability-error";
import { resolveDurableOptions, type DurableQueueOptions } from "./options";
import { createSharedOutcomes } from "./outcomes";
import { createEventStore } from "./store";
import type { StoredEvent } from "./stored-event";
import { startWorker, type RedisWorker } from "./worker";

/** Options of `queue.work`. */
export interface WorkOptions {
  /** How many events are handled at a time in this process. @default 16 */
  concurrency?: number | undefined;
  /** How long the handlers of an event may run, in milliseconds. @default 10_000 */
  handlerTimeoutMs?: number | undefined;
  /** Called with the failure of each attempt. @default none */
  onError?: ErrorListener | undefined;
}

/** Runs handlers for the events of a queue; see `queue.work`. */
export interface EventWorker extends AsyncDisposable {
  /** Takes no more events, and resolves when the running handlers have finished. */
  close(options?: CloseOptions): Promise<void>;
}

/** How many events a queue holds. */
export interface QueueStats {
  /** Stored and not handled yet. */
  waiting: number;
  /** Being handled. */
  active: number;
  /** Failed, to be handled again. */
  delayed: number;
  deadLetters: number;
}

/** A queue of events in Redis, on BullMQ; see {@link durableQueue}. */
export interface DurableQueue extends EventQueue, AsyncDisposable {
  /**
   * Resolves once Redis is reached and durable as required; waits for a Redis that is down.
   *
   * @throws DurabilityError with the lines of redis.conf to change; WebhookError `CLOSING`.
   */
  ready(): Promise<void>;
  /**
   * Runs handlers for stored events in this process, until the worker or the queue is closed. The
   * handlers of an event that fails run again, `attempts` times, then the event is a dead letter;
   * a {@link PermanentError} makes it one at once.
   *
   * @throws TypeError when `handlers` is not what `createHandlers()` returns or has no handler, or
   *   for an option that is unknown or impossible.
   */
  work(handlers: Handlers, options?: WorkOptions): EventWorker;
  /** Lists the events that exhausted their attempts, the oldest failure first. */
  deadLetters(): AsyncIterableIterator<DeadLetter>;
  /**
   * Runs the handlers of a dead letter again, with all attempts.
   *
   * @returns whether there was one.
   * @throws TypeError when several accounts have one of this uuid and `accountSid` is not given.
   */
  retry(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  /** Runs the handlers of every dead letter again; returns how many there were. */
  retryAll(): Promise<number>;
  /**
   * Removes a dead letter. Its uuid is kept, so that a replay is not handled.
   *
   * @returns whether there was one.
   * @throws TypeError as {@link DurableQueue.retry}.
   */
  discard(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  stats(): Promise<QueueStats>;
  /** Stores no more, finishes what runs within the deadline, and disconnects. */
  close(options?: CloseOptions): Promise<void>;
}

const ATTEMPT_MS = 2_000;
const WORK_RULES = {
  concurrency: wholeNumber(1, 10_000, "events"),
  handlerTimeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  onError: { accepts: (value: unknown) => typeof value === "function", expected: "a function" },
};

/**
 * Creates a queue that stores events in Redis before the response, and runs their handlers from
 * there, in this process or in others: an event with a 200 is not lost with a process.
 *
 * @example
 * const queue = durableQueue({ name: "shop-production", connection: "redis://127.0.0.1:6379" });
 * const push = pushWebhooks({ authToken, publicUrl, queue });
 * push.on("challenge.approved", async (event) => { … });
 * const worker = queue.work(push.handlers);
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function durableQueue(options: DurableQueueOptions): DurableQueue {
  const settings = resolveDurableOptions(options);
  const { name, prefix, storeTimeoutMs, maxPending } = settings;
  const redis = openConnection(settings, "store");
  const queue = new Queue<StoredEvent>(name, {
    connection: redis,
    prefix,
    // This package reads none of them.
    streams: { events: { maxLen: 100 } },
  });
  // The connection reports its outages itself.
  queue.on("error", () => {});
  const outcomes = createSharedOutcomes(redis, settings);
  const store = createEventStore(queue, redis, settings);
  const letters = createDeadLetters(queue, redis, settings);
  const retryStore = createHold({
    holdMs: storeTimeoutMs,
    maxHeld: maxPending,
    attemptMs: ATTEMPT_MS,
    isNeutral,
  });
  const workers = new Map<EventWorker, RedisWorker>();
  const storing = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  async function drain(closeOptions: CloseOptions): Promise<void> {
    const closing = [...workers.keys()].map((worker) => worker.close(closeOptions));
    await settleWithin(Promise.allSettled([...storing, ...closing]), closeOptions);
    // Those that were being closed with a longer deadline.
    for (const running of workers.values()) running.disconnect();
    outcomes.disconnect();
    store.close();
    redis.disconnect();
  }

  function close(closeOptions: CloseOptions = {}): Promise<void> {
    checkOptions("close", closeOptions, CLOSE_RULES);
    outcomes.closeWaits();
    return (closed ??= drain(closeOptions));
  }

  return {
    ready: store.ready,
    outcomes,
    store(queued, deadlineAtMs) {
      if (closed !== undefined) {
        return Promise.reject(new WebhookError("CLOSING", "The queue is closed."));
      }
      const keep = store.prepare(queued);
      const stored = retryStore(async () => {
        const outcome = await keep();
        const { event, account } = queued;
        // The first delivery of a uuid only: a replay must not bring back an expired outcome.
        if (outcome === "new" && isChallengeEvent(event)) await outcomes.record(account, event);
        return outcome;
      }, deadlineAtMs);
      storing.add(stored);
      const remove = () => storing.delete(stored);
      stored.then(remove, remove);
      return stored;
    },
    work(handlers, workOptions = {}) {
      checkOptions("work", workOptions, WORK_RULES);
      if (!isHandlers(handlers)) {
        throw new TypeError(
          "work: handlers must be what createHandlers() returns, or push.handlers of a receiver.",
        );
      }
      if (areHandlersEmpty(handlers)) {
        throw new TypeError(
          "work: handlers has no handler: every event would count as unhandled. Call handlers.on() before queue.work(handlers).",
        );
      }
      if (closed !== undefined) throw new WebhookError("CLOSING", "The queue is closed.");
      const { concurrency = 16, handlerTimeoutMs = 10_000, onError } = workOptions;
      const running = startWorker(settings, outcomes, {
        handlers,
        concurrency,
        handlerTimeoutMs,
        onError,
      });
      let finished: Promise<void> | undefined;
      const worker: EventWorker = {
        close(closeOptions = {}) {
          checkOptions("close", closeOptions, CLOSE_RULES);
          finished ??= settleWithin(running.finish(), closeOptions).finally(() => {
            running.disconnect();
            workers.delete(worker);
          });
          return finished;
        },
        [Symbol.asyncDispose]: () => worker.close(),
      };
      workers.set(worker, running);
      return worker;
    },
    async *deadLetters() {
      try {
        yield* letters.list();
      } catch (error) {
        throw toQueueError(error);
      }
    },
    retry: (...args) => reportQueueError(letters.retry(...args)),
    retryAll: () => reportQueueError(letters.retryAll()),
    discard: (...args) => reportQueueError(letters.discard(...args)),
    async stats() {
      const counts = await reportQueueError(
        queue.getJobCounts("wait", "active", "delayed", "failed"),
      );
      const { wait = 0, active = 0, delayed = 0, failed = 0 } = counts;
      return { waiting: wait, active, delayed, deadLetters: failed };
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Its message names the lines of redis.conf to change: the cause must keep them all. */
function isNeutral(error: unknown): boolean {
  return error instanceof DurabilityError;
}
