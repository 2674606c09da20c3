/** Takes calls on PORT, stores them, and says in a header when it received each. */
import { createServer } from "node:http";
import { pushWebhooks } from "express-push-verification";
import { durableQueue } from "express-push-verification/durable";
import { now, QUEUE_NAME, settings } from "./processes";

const queue = durableQueue({ name: QUEUE_NAME, connection: process.env.REDIS_URL ?? "" });
const push = pushWebhooks({ ...settings, queue });
push.onRejected(() => {});
const server = createServer((req, res) => {
  res.setHeader("X-Received-At", String(now()));
  void push(req, res);
});
server.listen(Number(process.env.PORT), "127.0.0.1", () => process.send?.("ready"));
