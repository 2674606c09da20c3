/**
 * A worker with the health route of the documents, whose module is given. Sends the port of its
 * server; the handler of "blocking" blocks the event loop for a minute.
 */
import type { AddressInfo } from "node:net";
import express, { type Router } from "express";
import { createHandlers } from "express-push-verification";
import { redisQueue, type DurableQueue } from "express-push-verification/durable";
import { silent } from "./durable";

const [, , recipe = "", connection = ""] = process.argv;
// oxlint-disable-next-line typescript/no-require-imports
const { createHealthRoute } = require(recipe) as {
  createHealthRoute(part: DurableQueue): Router;
};
const queue = redisQueue({ name: "health", connection, logger: silent });
const handlers = createHandlers().onAny(({ uuid }) => {
  process.send?.(uuid);
  if (uuid === "blocking") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
});

void main();

async function main(): Promise<void> {
  await queue.ready();
  queue.work(handlers);
  const server = express().use(createHealthRoute(queue)).listen(0, "127.0.0.1");
  server.once("listening", () => process.send?.(String((server.address() as AddressInfo).port)));
}
