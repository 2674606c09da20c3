/** Receives webhook requests, lets a login wait for its outcome, and serves metrics. */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { collectMetrics, type PushWebhooks } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { createPush, createQueue } from "./push";

void main();

async function main(): Promise<void> {
  const queue = createQueue();
  const push = createPush(queue);
  await queue.ready();
  const readMetrics = collectMetrics();
  const app = express();
  app.use("/webhooks/push", push);
  // A real login takes both from its session, and its receiver has the option confirm.
  app.get("/login/:challengeSid/:entityIdentity", async (req, res) => {
    const { challengeSid, entityIdentity } = req.params;
    const outcome = await push.waitForChallenge({
      challengeSid,
      entityIdentity,
      timeoutMs: 20_000,
    });
    res.json({ type: outcome.type });
  });
  app.get("/metrics", async (_req, res) => {
    res.type("text/plain; version=0.0.4").send(readMetrics(await queue.stats()));
  });
  const server = app.listen(Number(process.env.PORT ?? 0), "127.0.0.1");
  await once(server, "listening");
  console.log(`web ${process.pid}: listening on ${(server.address() as AddressInfo).port}`);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) {
    process.once(signal, () => void close(server, push, queue));
  }
}

async function close(server: Server, push: PushWebhooks, queue: DurableQueue): Promise<void> {
  server.close();
  await push.close();
  await queue.close();
}
