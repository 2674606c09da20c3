/** Takes calls, lets a login wait for an answer that may arrive elsewhere, and shows metrics. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express from "express";
import { collectMetrics } from "./metrics";
import { createPush } from "./push";

void main();

async function main(): Promise<void> {
  const { push, queue } = createPush();
  await queue.ready();
  const metrics = collectMetrics();
  const app = express();
  app.use("/webhooks/push", push);
  app.get("/login/:challenge_sid", async (req, res) => {
    const outcome = await push.waitForChallenge(req.params.challenge_sid, { timeoutMs: 20_000 });
    res.json({ type: outcome.type });
  });
  app.get("/metrics", async (_req, res) => {
    res.type(metrics.contentType).send(await metrics.metrics());
  });
  const server = app.listen(Number(process.env.PORT ?? 0), "127.0.0.1");
  await once(server, "listening");
  console.log(`web ${process.pid}: listening on ${(server.address() as AddressInfo).port}`);
  process.once("SIGTERM", () => {
    server.close();
    void push.close().then(() => queue.close());
  });
}
