/** Stores webhook requests that arrive on PORT; a header of the response has the time of arrival. */
import { createServer } from "node:http";
import { pushWebhooks } from "express-push-verification";
import { openQueue } from "./engine";
import { now, settings } from "./processes";

const queue = openQueue();
const push = pushWebhooks({ ...settings, queue });
push.onRejected(() => {});
const server = createServer((req, res) => {
  res.setHeader("X-Received-At", String(now()));
  push(req, res);
});
server.listen(Number(process.env.PORT), "127.0.0.1", () => process.send?.("ready"));
