/** A process that waits for a challenge and reports the result; an unhandled error ends it. */
import { pushWebhooks } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";
import { AUTH_TOKEN, PUBLIC_URL } from "./webhook-requests";

const [, , connection = "", name = "", challengeSid = "", entityIdentity = ""] = process.argv;
const queue = redisQueue({ connection, name });
const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, queue });
void main();

async function main(): Promise<void> {
  await queue.ready();
  const waiting = push.waitForChallenge({ challengeSid, entityIdentity, timeoutMs: 30_000 });
  process.send?.("waits");
  process.send?.((await waiting).type);
}
