import type { CloseOptions } from "../../receiver/close-options";
import { CLOSE_RULES, settleWithin } from "../../receiver/close-options";
import { createRetry } from "../../delivery/retry";
import { validateOptions } from "../../validation/validate-options";
import type { DurableQueue, EventWorker } from "../durable-queue";
import { createEventWorker } from "../event-worker";
import { validateWork } from "../work-options";
import { openBullQueue } from "./bull-queue";
import { endConnection, openConnection } from "./connection";
import { createRedisLetters } from "./dead-letters";
import { QueueError } from "../queue-error";
import { createOperations } from "./operations";
import { resolveRedisOptions, type RedisQueueOptions } from "./options";
import { createRedisOutcomes } from "./outcomes";
import { watchReadiness } from "./readiness";
import { readStats } from "./stats";
import { createEventStore } from "./store";
import { startRedisWorker, type RedisWorker } from "./worker";
import { createWorkerBeats } from "./worker-beats";
import { createClosedError } from "../closed-error";

const ATTEMPT_MS = 2_000;

/**
 * Opens a queue in Redis; `redisQueue` documents it.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function createRedisQueue(options: RedisQueueOptions): DurableQueue {
  const settings = resolveRedisOptions(options);
  const { storeTimeoutMs, maxPending } = settings;
  const redis = openConnection(settings, "store");
  const bull = openBullQueue(redis, settings);
  const readiness = watchReadiness(redis, bull, settings);
  const outcomes = createRedisOutcomes(redis, settings);
  const store = createEventStore({ bull, redis, outcomes, readiness }, settings);
  const letters = createRedisLetters(bull, redis, settings);
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
    store.close();
    bull.close();
    endConnection(redis);
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
      const stored = retryStore(store.prepare(queued), deadlineAtMs);
      storing.add(stored);
      const remove = () => storing.delete(stored);
      stored.then(remove, remove);
      return stored;
    },
    work(handlers, workOptions = {}) {
      validateWork(handlers, workOptions);
      if (closed !== undefined) throw createClosedError();
      const parts = { outcomes, letters, beats };
      const running = startRedisWorker(settings, parts, handlers, workOptions);
      const worker = createEventWorker(running.finish, () => {
        running.disconnect();
        workers.delete(worker);
      });
      workers.set(worker, running);
      return worker;
    },
    async *deadLetters() {
      for (const jobId of await run(letters.listIds)) {
        const letter = await run(() => letters.read(jobId));
        if (letter !== undefined) yield letter;
      }
    },
    retry: (...args) => run(() => letters.retry(...args)),
    async retryAll() {
      let count = 0;
      for (const jobId of await run(letters.listIds)) {
        if (await run(() => letters.retryOne(jobId))) count++;
      }
      return count;
    },
    discard: (...args) => run(() => letters.discard(...args)),
    stats: () => run(() => readStats(redis, beats, settings)),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Its message names the lines of redis.conf to change: the cause must keep them all. */
function isNeutral(error: unknown): boolean {
  return error instanceof QueueError;
}
