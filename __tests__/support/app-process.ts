/** A process of an app: a receiver on a queue in Redis, closed at SIGTERM as in examples/deploy. */
import { createServer } from "node:http";
import { pushWebhooks } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";
import { closeAtSigterm } from "../../examples/deploy/close-at-sigterm";
import { silent } from "./receivers";
import { AUTH_TOKEN as authToken, PUBLIC_URL as publicUrl } from "./webhook-requests";

const [, , port, connection = "", pauseMs] = process.argv;
const queue = redisQueue({ name: "nginx", connection, logger: silent });
const push = pushWebhooks({ authToken, publicUrl, queue, logger: silent });
push.onAny((event) => void process.send?.(event.uuid));
const worker = queue.work(push.handlers);
const server = createServer((req, res) => void push(req, res));

closeAtSigterm({ server, push, worker, queue, pauseMs: Number(pauseMs) });
void queue.ready().then(() => server.listen(Number(port), () => process.send?.("ready")));
