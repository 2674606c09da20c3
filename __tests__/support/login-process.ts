/**
 * A process of an app with a queue in Redis: it receives events, confirms them, and serves waits and
 * the admin router.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import {
  adminRouter,
  confirmWith,
  createAdminClient,
  type AdminClientOptions,
} from "express-push-verification/admin";
import { redisQueue } from "express-push-verification/durable";
import { silent } from "./receivers";

export interface LoginProcessSettings {
  receiver: Pick<PushWebhooksOptions, "authToken" | "publicUrl">;
  client: AdminClientOptions;
  connection: string;
  port?: number;
  hasWorker?: boolean;
}

const {
  receiver,
  client: clientOptions,
  connection,
  port: wanted = 0,
  hasWorker = true,
} = JSON.parse(process.argv[2] ?? "") as LoginProcessSettings;
const queue = redisQueue({ name: "logins", connection, logger: silent });
const client = createAdminClient(clientOptions);
const confirm = confirmWith(client);
const push = pushWebhooks({ ...receiver, queue, confirm, logger: silent });
push.on("challenge.approved", (_event, { authTokenIndex }) => {
  process.send?.(`token ${authTokenIndex}`);
});
if (hasWorker) queue.work(push.handlers);

const app = express();
app.use("/webhooks/push", push);
app.use("/admin", adminRouter({ client, authorize: () => true, receiver: push }));
app.get("/wait/:entityIdentity/:challengeSid", (req, res) => {
  push.waitForChallenge({ ...req.params, timeoutMs: 60_000 }).then(
    ({ type, source }) => res.send(`${type} ${source}`),
    (error: { code: string }) => res.status(503).send(error.code),
  );
});
const server = createServer({ keepAliveTimeout: 0 }, app).listen(wanted, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  void queue.ready().then(() => process.send?.(`port ${port}`));
});
