/**
 * A process of an app with a queue in Postgres: a receiver with the console and waits, or a worker. The
 * parent tells a worker how its handlers are to run, and each process to close.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import express from "express";
import {
  createHandlers,
  PermanentError,
  pushWebhooks,
  type PushWebhooksOptions,
} from "express-push-verification";
import {
  adminRouter,
  confirmWith,
  createAdminClient,
  type AdminClientOptions,
} from "express-push-verification/admin";
import { postgresQueue } from "express-push-verification/durable";
import { silent } from "./receivers";

export interface ConsoleProcessSettings {
  connection: string;
  client: AdminClientOptions;
  /** Undefined for a worker. */
  receiver: Pick<PushWebhooksOptions, "authToken" | "publicUrl"> | undefined;
}

export interface Work {
  /** What they fail with; `<user>` is replaced by the identity. */
  error?: string | undefined;
  durationMs?: number | undefined;
}

const {
  connection,
  client: clientOptions,
  receiver,
} = JSON.parse(process.argv[2] ?? "") as ConsoleProcessSettings;
const client = createAdminClient(clientOptions);
// An attempt may fail for a process that stands still; only what the parent wants makes a dead letter.
const retries = { attempts: 50, backoff: 500 };
const queue = postgresQueue({ name: "logins", connection, logger: silent, ...retries });
let work: Work = {};
let close = async (): Promise<void> => {};

process.on("message", (message: Work | "close") => {
  if (message !== "close") work = message;
  else void close().then(() => process.disconnect());
});
void queue.ready().then(() => (receiver === undefined ? startWorker() : serve(receiver)));

function startWorker(): void {
  const handlers = createHandlers().onUnhandled(async (event) => {
    const { error, durationMs = 0 } = work;
    await sleep(durationMs);
    const { entity_identity: user = "" } = event as { entity_identity?: string };
    if (error !== undefined) throw new PermanentError(error.replace("<user>", user));
  });
  const options = { confirm: confirmWith(client), concurrency: 4, handlerTimeoutMs: 120_000 };
  const worker = queue.work(handlers, options);
  close = async () => {
    await worker.close();
    await queue.close();
  };
  process.send?.("worker");
}

function serve(options: NonNullable<ConsoleProcessSettings["receiver"]>): void {
  const push = pushWebhooks({ ...options, queue, confirm: confirmWith(client), logger: silent });
  // Those of the worker, of which the comparison with the Webhooks knows nothing.
  push.onAny(() => {});
  const actor = (req: express.Request) => req.get("x-user");
  const shown = { console: true, receiver: push, queue };
  const app = express()
    .use("/webhooks/push", push)
    .use("/admin/push", adminRouter({ client, authorize: () => true, actor, ...shown }))
    .get("/wait/:entityIdentity/:challengeSid", (req, res) => {
      push.waitForChallenge({ ...req.params, timeoutMs: 20_000 }).then(
        ({ type }) => res.send(type),
        ({ code }: { code: string }) => res.status(503).send(code),
      );
    });
  const server = createServer({ keepAliveTimeout: 0 }, app).listen(0, "127.0.0.1", () => {
    process.send?.(`port ${(server.address() as AddressInfo).port}`);
  });
  close = async () => {
    server.close();
    server.closeAllConnections();
    await push.close();
    await queue.close();
  };
}
