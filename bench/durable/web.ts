/**
 * Stores webhook requests that arrive on PORT, and handles them, too, when WORKS is set. A header of
 * the response has the time of arrival. With JOURNAL=none, its queue has no journal; it sends its CPU time
 * to a parent that asks for it.
 */
import { createServer } from "node:http";
import { pushWebhooks } from "express-push-verification";
import { openQueue } from "./engine";
import { logEvents } from "./log-events";
import { now, settings } from "./processes";

const journal = process.env.JOURNAL !== "none";
const queue = openQueue(process.env, { backoff: 200, journal });
if (process.env.WORKS !== undefined) logEvents(queue);
const push = pushWebhooks({ ...settings, queue });
push.onRejected(() => {});
process.on("message", (message) => {
  if (message === "cpu") process.send?.(process.cpuUsage());
});
const server = createServer((req, res) => {
  res.setHeader("X-Received-At", String(now()));
  push(req, res);
});
server.listen(Number(process.env.PORT), "127.0.0.1", () => process.send?.("ready"));
