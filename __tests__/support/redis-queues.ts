import { redisQueue, type RedisQueueOptions } from "express-push-verification/durable";
import { QUEUE_NAME } from "./durable";
import { stopRedis } from "./redis";

/** After each test, closes its queues and workers, within 200 ms, and stops its servers. */
export function useRedisQueues() {
  const opened: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    await stopRedis();
  });
  return {
    /** Opens a queue as a process would. */
    open(connection: RedisQueueOptions["connection"], options?: Partial<RedisQueueOptions>) {
      const queue = redisQueue({ name: QUEUE_NAME, connection, ...options });
      opened.push({ close: () => queue.close({ deadlineMs: 200 }) });
      return queue;
    },
    closeLater<Part extends { close(): unknown }>(part: Part): Part {
      opened.push(part);
      return part;
    },
  };
}
