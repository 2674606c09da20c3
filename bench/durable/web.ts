/** Takes calls on PORT, and stores them. */
import { createServer } from "node:http";
import { pushWebhooks } from "express-push-verification";
import { durableQueue } from "express-push-verification/durable";
import { settings } from "./processes";

const queue = durableQueue({ connection: process.env.REDIS_URL ?? "" });
const push = pushWebhooks({ ...settings, queue });
push.onRejected(() => {});
const server = createServer((req, res) => void push(req, res));
server.listen(Number(process.env.PORT), "127.0.0.1", () => process.send?.("ready"));
