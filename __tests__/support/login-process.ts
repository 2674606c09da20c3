/** A process of an app with a queue in Redis: it receives events, confirms them, and serves waits. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import {
  confirmWith,
  createAdminClient,
  type AdminClientOptions,
} from "express-push-verification/admin";
import { redisQueue } from "express-push-verification/durable";
import { silent } from "./receivers";

/** The settings of the process, as JSON in its argument. */
export interface LoginProcessSettings {
  receiver: Pick<PushWebhooksOptions, "authToken" | "publicUrl">;
  client: AdminClientOptions;
  connection: string;
}

const { receiver, client, connection } = JSON.parse(process.argv[2] ?? "") as LoginProcessSettings;
const queue = redisQueue({ name: "logins", connection, logger: silent });
const confirm = confirmWith(createAdminClient(client));
const push = pushWebhooks({ ...receiver, queue, confirm, logger: silent });
push.on("challenge.approved", (_event, { authTokenIndex }) => {
  process.send?.(`token ${authTokenIndex}`);
});
queue.work(push.handlers);

const app = express();
app.use("/webhooks/push", push);
app.get("/wait/:entityIdentity/:challengeSid", (req, res) => {
  push.waitForChallenge({ ...req.params, timeoutMs: 60_000 }).then(
    ({ type }) => res.send(type),
    (error: { code: string }) => res.status(503).send(error.code),
  );
});
const server = createServer(app).listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  void queue.ready().then(() => process.send?.(`port ${port}`));
});
