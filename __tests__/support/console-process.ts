/** A process of an app with a receiver and its console. It sends its port, and each event that it handles. */
import express from "express";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pushWebhooks } from "express-push-verification";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import { silent } from "./receivers";
import { clientOptions } from "./upstream";
import { AUTH_TOKEN as authToken } from "./webhook-requests";

const [, , publicUrl = "", mount = "", upstreamUrl = ""] = process.argv;
const push = pushWebhooks({ authToken, publicUrl, logger: silent });
push.onAny(({ uuid }) => void process.send?.(`handled ${uuid}`));
const client = createAdminClient(clientOptions(upstreamUrl));
const app = express()
  .use(new URL(publicUrl).pathname, push)
  .use(mount, adminRouter({ client, authorize: () => true, console: true, receiver: push }));
const server = createServer(app).listen(0, "127.0.0.1", () => {
  process.send?.(String((server.address() as AddressInfo).port));
});
