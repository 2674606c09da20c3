import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { CloseOptions } from "../../receiver/close-options";
import { CLOSE_RULES, settleWithin } from "../../receiver/close-options";
import { createRetry } from "../../delivery/retry";
import { validateOptions } from "../../validation/validate-options";
import type { DurableQueue, EventWorker } from "../durable-queue";
import { createEventWorker } from "../event-worker";
import { validateWork } from "../work-options";
import { openConnection } from "./connection";
import { createRedisDeadLetters } from "./dead-letters";
import { QueueError } from "../queue-error";
import { createOperations } from "./operations";
import { resolveRedisOptions, type RedisQueueOptions, type RedisSettings } from "./options";
import { createRedisOutcomes } from "./outcomes";
import { watchReadiness } from "./readiness";
import { readStats } from "./stats";
import { createPrepareStore } from "./store";
import { startRedisWorker, type RedisWorker } from "./worker";
import { createWorkerBeats } from "./worker-beats";
import { createClosedError } from "../closed-error";
import type { StoredEvent } from "../stored-event";

const ATTEMPT_MS = 2_000;

/**
 * Opens a queue in Redis; `redisQueue` documents it.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function createRedisQueue(options: RedisQueueOptions): DurableQueue {
  const settings = resolveRedisOptions(options);
  const { storeTimeoutMs, maxPending } = settings;
  const connection = openConnection(settings, "store");
  const { redis } = connection;
  const getQueue = openQueue(redis, settings);
  const readiness = watchReadiness(redis, settings);
  const outcomes = createRedisOutcomes(redis, settings);
  const prepareStore = createPrepareStore({ getQueue, redis, outcomes, readiness }, settings);
  const deadLetters = createRedisDeadLetters(getQueue, redis, settings);
  const beats = createWorkerBeats(redis, settings);
  const workers = new Map<EventWorker, RedisWorker>();
  const storing = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;
  const retryStore = createRetry({
    retryForMs: storeTimeoutMs,
    maxRetrying: maxPending,
    attemptMs: ATTEMPT_MS,
    isNeutral,
  });
  const run = createOperations({
    retryForMs: storeTimeoutMs,
    attemptMs: ATTEMPT_MS,
    assertReachable: readiness.assertReachable,
    isClosed: () => closed !== undefined,
  });

  async function drain(closeOptions: CloseOptions): Promise<void> {
    const closing = [...workers.keys()].map((worker) => worker.close(closeOptions));
    await settleWithin(Promise.allSettled([...storing, ...closing]), closeOptions);
    // Those that were being closed with a longer deadline.
    for (const running of workers.values()) running.disconnect();
    outcomes.disconnect();
    readiness.close();
    connection.end();
  }

  function close(closeOptions: CloseOptions = {}): Promise<void> {
    validateOptions("close", closeOptions, CLOSE_RULES);
    outcomes.closeWaits();
    return (closed ??= drain(closeOptions));
  }

  return {
    ready: readiness.ready,
    outcomes,
    store(queued, deadlineAtMs) {
      if (closed !== undefined) {
        return Promise.reject(createClosedError());
      }
      const stored = retryStore(prepareStore(queued), deadlineAtMs);
      storing.add(stored);
      const remove = () => storing.delete(stored);
      stored.then(remove, remove);
      return stored;
    },
    work(handlers, workOptions = {}) {
      validateWork(handlers, workOptions);
      if (closed !== undefined) throw createClosedError();
      const parts = { outcomes, beats, countDeadLetters: deadLetters.count };
      const running = startRedisWorker(settings, parts, handlers, workOptions);
      const worker = createEventWorker(running.finish, () => {
        running.disconnect();
        workers.delete(worker);
      });
      workers.set(worker, running);
      return worker;
    },
    async *deadLetters() {
      for (const jobId of await run(deadLetters.listIds)) {
        const letter = await run(() => deadLetters.read(jobId));
        if (letter !== undefined) yield letter;
      }
    },
    retry: (...args) => run(() => deadLetters.retry(...args)),
    async retryAll() {
      let count = 0;
      for (const jobId of await run(deadLetters.listIds)) {
        if (await run(() => deadLetters.retryOne(jobId))) count++;
      }
      return count;
    },
    discard: (...args) => run(() => deadLetters.discard(...args)),
    stats: () => run(() => readStats(redis, beats, settings)),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/**
 * Opens the queue of BullMQ when Redis is first reached: one whose connection ends before is rejected
 * for ever. A user that may not run INFO can add events, too.
 */
function openQueue(redis: Redis, { name, prefix }: RedisSettings): () => Queue<StoredEvent> {
  let queue: Queue<StoredEvent> | undefined;
  redis.once("ready", () => {
    queue = new Queue<StoredEvent>(name, {
      connection: redis,
      prefix,
      skipVersionCheck: true,
      // This package reads no events of BullMQ.
      streams: { events: { maxLen: 100 } },
    });
    // The connection reports its outages itself.
    queue.on("error", () => {});
  });
  return () => {
    if (queue === undefined) throw new Error("Redis was not reached yet.");
    return queue;
  };
}

/** Its message names the lines of redis.conf to change: the cause must keep them all. */
function isNeutral(error: unknown): boolean {
  return error instanceof QueueError;
}
