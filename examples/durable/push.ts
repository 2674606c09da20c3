/** The queue, which the web process and the workers share, and the receiver of the web process. */
import { pushWebhooks } from "express-push-verification";
import { redisQueue, sqliteQueue, type DurableQueue } from "express-push-verification/durable";

export function createQueue(): DurableQueue {
  const name = "durable-example";
  const { SQLITE_FILE: file, REDIS_URL: connection = "redis://127.0.0.1:6379" } = process.env;
  return file === undefined ? redisQueue({ name, connection }) : sqliteQueue({ name, file });
}

export function createPush(queue: DurableQueue) {
  return pushWebhooks({
    authToken: process.env.PUSH_AUTH_TOKEN,
    publicUrl: process.env.PUSH_PUBLIC_URL,
    queue,
  });
}
