/**
 * A process on a queue. It stores events, one after the other in several lanes, and sends each uuid
 * once it is stored; it handles events and appends their uuids to the log. The handlers of "slow" and
 * "slow-failing" wait in their first attempt until the parent sends "finish", and that of
 * "slow-failing" then fails. The process closes its queue when it is told anything else, and is
 * killed between the confirmation of an event and its handlers.
 */
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createHandlers } from "express-push-verification";
import { storeFactor } from "./durable";
import { openQueue } from "./engine";
import { createGate, until } from "./waiting";

const [, , engine = "", place = "", log = "", lanes = "0"] = process.argv;
const queue = openQueue(engine, { backoff: 50, ...(JSON.parse(place) as object) });
const finish = createGate();
const handlers = createHandlers().onUnhandled(async (event, { attempt }) => {
  const { uuid } = event as { uuid: string };
  const isFirst = attempt === 1;
  if (uuid.startsWith("slow") && isFirst) {
    process.send?.(`began ${uuid}`);
    await finish.opened;
  }
  appendFileSync(log, `${uuid}\n`);
  if (uuid === "slow-failing" && isFirst) throw new Error("slow");
});
const ending = new AbortController();

function confirmAndDie(): boolean {
  // After this turn confirm has returned, and no store has responded yet.
  setImmediate(() => process.kill(process.pid, "SIGKILL"));
  return true;
}

async function storeInTurn(): Promise<void> {
  while (!ending.signal.aborted) {
    const uuid = randomUUID();
    await storeFactor(queue, uuid);
    process.send?.(uuid);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

process.on("message", (message) => {
  if (message === "finish") return finish.open();
  ending.abort();
  void queue.close({ deadlineMs: 200 }).then(() => process.disconnect());
});
void main();

async function main(): Promise<void> {
  await queue.ready();
  queue.work(handlers, { handlerTimeoutMs: 30_000, confirm: confirmAndDie });
  // Once it counts, the worker waits for events.
  await until(async () => (await queue.stats()).workers > 0);
  process.send?.("ready");
  // A store that the end of the queue rejects was not reported.
  await Promise.allSettled(Array.from({ length: Number(lanes) }, storeInTurn));
}
