/** What the web process and the workers have in common. */
import { pushWebhooks } from "express-push-verification";
import { durableQueue } from "express-push-verification/durable";

export function createPush() {
  const queue = durableQueue({ connection: process.env.REDIS_URL ?? "redis://127.0.0.1:6379" });
  const push = pushWebhooks({
    authToken: process.env.PUSH_AUTH_TOKEN ?? "",
    publicUrl: process.env.PUSH_PUBLIC_URL ?? "",
    queue,
  });
  return { push, queue };
}
