import type { DurableQueue } from "../durable-queue";
import { createQueue } from "../queue";
import { resolveRedisOptions, type RedisQueueOptions } from "./options";
import { openRedisStore } from "./redis-store";
import { startRedisWorker } from "./worker";

/**
 * Opens a queue in Redis; `redisQueue` documents it.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function createRedisQueue(options: RedisQueueOptions): DurableQueue {
  const settings = resolveRedisOptions(options);
  const store = openRedisStore(settings);
  return createQueue(store, settings, ({ recordOutcome }) => ({
    start: (handlers, workOptions) =>
      startRedisWorker({ settings, recordOutcome }, store, handlers, workOptions),
    // BullMQ reconnects its workers itself.
    onOpen() {},
    stop() {},
  }));
}
