import { createBatches } from "./batches";
import type { DurableQueue } from "./durable-queue";
import { createEventRunner } from "./event-runner";
import { startHeartbeat } from "./heartbeat";
import { createQueue, type PoolParts, type WorkerPool } from "./queue";
import type { QueueSettings } from "./queue-options";
import type { FailedRun, Run, Storage } from "./storage";
import { startWorker, type QueueWorker } from "./worker";

/** Creates the queue of an engine that implements {@link Storage}. */
export function createStorageQueue(storage: Storage, settings: QueueSettings): DurableQueue {
  return createQueue(storage, settings, (parts) => createStoragePool(storage, parts));
}

/**
 * Creates the pool of workers that claim their events from a storage.
 *
 * @param createRunner replaced by the simulation, whose runs need no handlers.
 */
export function createStoragePool(
  storage: Storage,
  poolParts: PoolParts,
  createRunner = createEventRunner,
): WorkerPool {
  const { settings, availability } = poolParts;
  const workers = new Set<QueueWorker>();
  const heartbeat = startHeartbeat(storage, availability, () => {
    for (const worker of workers) worker.look();
  });
  const parts = {
    storage,
    settings,
    availability,
    heartbeat,
    finishRun: createBatches(async (runs: readonly Run[]) => {
      await availability.watchWrite(storage.finish(runs));
      return [];
    }),
    failRun: createBatches(async (runs: readonly FailedRun[]) => {
      const dead = new Set(await availability.watchWrite(storage.fail(runs)));
      return runs.map(({ id }) => dead.has(id));
    }, 1),
  };
  return {
    start(handlers, options) {
      const runner = createRunner(handlers, options, poolParts);
      const worker = startWorker(parts, runner);
      workers.add(worker);
      return {
        ...worker,
        async finish() {
          await worker.finish();
          workers.delete(worker);
        },
      };
    },
    onOpen: heartbeat.beat,
    stop: heartbeat.stop,
  };
}
