import { requireWithPackages } from "../packages";
import { createQueue, type DurableQueue } from "../queue";
import { PACKAGES, resolveRedisOptions, type RedisQueueOptions } from "./options";
import type * as engine from "./redis-store";

/**
 * Creates a queue that stores events in Redis before the response, and runs their handlers from
 * there, in this process or in others: an event with a 200 is not lost with a process.
 *
 * Loads the packages bullmq and ioredis on the first call.
 *
 * @example
 * const queue = redisQueue({ name: "shop-production", connection: "redis://127.0.0.1:6379" });
 *
 * @throws TypeError for an option that is unknown or impossible; Error with the line that installs
 *   the packages when they are missing.
 */
export function redisQueue(options: RedisQueueOptions): DurableQueue {
  const settings = resolveRedisOptions(options);
  const { RedisStore } = requireWithPackages(
    () => require("./redis-store") as typeof engine,
    "redisQueue",
    PACKAGES,
  );
  return createQueue(new RedisStore(settings), settings);
}
