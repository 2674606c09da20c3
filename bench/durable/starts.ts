/**
 * Redis is killed 0 to 6 ms after a queue was opened, and started again: how many queues never store.
 *
 * npx tsx bench/durable/starts.ts [queues]
 */
import { setTimeout as sleep } from "node:timers/promises";
import { redisQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { QUEUE_NAME, queuedEvent, startRedis } from "./processes";

const [, , queues = "200"] = process.argv;

async function main(): Promise<void> {
  const redis = await startRedis();
  const logger = { debug() {}, info() {}, warn() {}, error: console.error };
  let dead = 0;
  for (let count = 0; count < Number(queues); count++) {
    const queue = redisQueue({ name: QUEUE_NAME, connection: redis.url, logger });
    await sleep((count % 13) / 2);
    await redis.kill();
    await redis.start();
    const uuid = crypto.randomUUID();
    const event = queuedEvent(eventFixture("factor.created", { uuid }));
    await queue
      .ready()
      .then(() => queue.store(event, Number.POSITIVE_INFINITY))
      .catch(() => dead++);
    await queue.close({ deadlineMs: 200 });
  }
  console.log(`${queues} queues, ${dead} dead`);
  await redis.remove();
}

void main();
