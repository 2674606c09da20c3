/**
 * A process of an app: a receiver on a queue in Redis, closed at a signal as in examples/deploy, and
 * a client of Redis that the app never closes.
 */
import { createServer } from "node:http";
import timers from "node:timers/promises";
import { pushWebhooks } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";
import { Redis } from "ioredis";
import { closeAtSignal } from "../../examples/deploy/close-at-signal";
import { silent } from "./receivers";
import { AUTH_TOKEN as authToken, PUBLIC_URL as publicUrl } from "./webhook-requests";

const [, , port, connection = "", given = ""] = process.argv;
/** A pause that ends at the first message but "shutdown". */
const UNTIL_TOLD_MS = 86_400_000;
const pauseMs = given === "" ? UNTIL_TOLD_MS : Number(given);
const told = new Promise<void>((resolve) => {
  process.on("message", (message) => void (message !== "shutdown" && resolve()));
});
const { setTimeout: sleep } = timers;
Object.assign(timers, {
  setTimeout: (ms: number, ...more: []) => (ms === UNTIL_TOLD_MS ? told : sleep(ms, ...more)),
});
const queue = redisQueue({ name: "nginx", connection, logger: silent });
const push = pushWebhooks({ authToken, publicUrl, queue, logger: silent });
push.onAny((event) => void process.send?.(event.uuid));
const worker = queue.work(push.handlers);
const server = createServer({ keepAliveTimeout: 0 }, (req, res) => void push(req, res));

new Redis(connection).on("error", () => {});
const parts = { server, push, worker, queue, pauseMs };
void closeAtSignal({ ...parts, closeOthers: () => process.send?.("closed") });
void queue.ready().then(() => server.listen(Number(port), () => process.send?.("ready")));
