import type { DurableQueue } from "./durable-queue";
import type { RedisQueueOptions } from "./redis/options";
import type * as engine from "./redis/redis-queue";

/**
 * Creates a queue that stores events in Redis before the response, and runs their handlers from
 * there, in this process or in others: an event with a 200 is not lost with a process.
 *
 * Loads the packages bullmq and ioredis on the first call.
 *
 * @example
 * const queue = redisQueue({ name: "shop-production", connection: "redis://127.0.0.1:6379" });
 * const push = pushWebhooks({ authToken, publicUrl, queue });
 * push.on("challenge.approved", async (event) => { … });
 * const worker = queue.work(push.handlers);
 *
 * @throws TypeError for an option that is unknown or impossible; Error with the line that installs
 *   the packages when they are missing.
 */
export function redisQueue(options: RedisQueueOptions): DurableQueue {
  return loadRedisEngine().createRedisQueue(options);
}

function loadRedisEngine(): typeof engine {
  try {
    return require("./redis/redis-queue") as typeof engine;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "MODULE_NOT_FOUND" || !/'(bullmq|ioredis)'/.test(message)) throw error;
    throw new Error(
      "redisQueue needs the packages bullmq and ioredis. Run: npm install bullmq ioredis",
      { cause: error },
    );
  }
}
