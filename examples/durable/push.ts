/** The queue, which the web process and the workers share, and the receiver of the web process. */
import { pushWebhooks } from "express-push-verification";
import { durableQueue, type DurableQueue } from "express-push-verification/durable";

export function createQueue(): DurableQueue {
  return durableQueue({
    name: "durable-example",
    connection: process.env.REDIS_URL ?? "redis://127.0.0.1:6379",
  });
}

export function createPush(queue: DurableQueue) {
  return pushWebhooks({
    authToken: process.env.PUSH_AUTH_TOKEN ?? "",
    publicUrl: process.env.PUSH_PUBLIC_URL ?? "",
    queue,
  });
}
