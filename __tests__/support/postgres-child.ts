/**
 * A process on a queue in Postgres. It stores events, one after the other in several lanes, and
 * reports each uuid once it is stored; it handles events and reports "began" and "done". The uuid
 * "slow" takes 20 s in its first attempt. It closes its queue when it is told so.
 */
import { randomUUID } from "node:crypto";
import { createHandlers } from "express-push-verification";
import { postgresQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, silent } from "./durable";

const [, , connection = "", lanes = "0"] = process.argv;
const queue = postgresQueue({ connection, name: "q", logger: silent, backoff: 50 });
const handlers = createHandlers().onUnhandled(async (event, { attempt }) => {
  const { uuid } = event as { uuid: string };
  process.send?.(`began ${uuid}`);
  if (uuid === "slow" && attempt === 1) await new Promise((resolve) => setTimeout(resolve, 20_000));
  process.send?.(`done ${uuid}`);
});
const ending = new AbortController();

async function storeInTurn(): Promise<void> {
  while (!ending.signal.aborted) {
    const uuid = randomUUID();
    await queue.store(queuedEvent(eventFixture("factor.created", { uuid })), 1e12);
    process.send?.(`stored ${uuid}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

process.on("message", () => {
  ending.abort();
  void queue.close().then(() => process.disconnect());
});
void main();

async function main(): Promise<void> {
  await queue.ready();
  queue.work(handlers, { handlerTimeoutMs: 30_000 });
  process.send?.("ready");
  const storing = Array.from({ length: Number(lanes) }, storeInTurn);
  // A store that the end of the queue rejects was not reported.
  await Promise.allSettled(storing);
}
