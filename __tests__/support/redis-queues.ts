import {
  redisQueue,
  type DurableQueue,
  type RedisQueueOptions,
} from "express-push-verification/durable";
import { QUEUE_NAME } from "./durable";
import { stopRedis } from "./redis";

/** A resource that a test closes at its end. */
export interface Closable {
  close(): unknown;
}

/** Queues on Redis servers that a test starts. */
export interface RedisQueues {
  /** Opens a queue as a process would. */
  open(
    connection: RedisQueueOptions["connection"],
    options?: Partial<RedisQueueOptions>,
  ): DurableQueue;
  closeLater<Part extends Closable>(part: Part): Part;
}

/** After each test, closes its queues and workers, within 200 ms, and stops its servers. */
export function useRedisQueues(): RedisQueues {
  const opened: Closable[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    await stopRedis();
  });
  return {
    open(connection, options) {
      const queue = redisQueue({ name: QUEUE_NAME, connection, ...options });
      opened.push({ close: () => queue.close({ deadlineMs: 200 }) });
      return queue;
    },
    closeLater(part) {
      opened.push(part);
      return part;
    },
  };
}
