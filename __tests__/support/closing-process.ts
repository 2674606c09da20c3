/** A process that handles stored events; told to close, it must end by itself. */
import { createHandlers } from "express-push-verification";
import { silent } from "./durable";
import { openQueue, type EngineName } from "./engine";

const [, , engine, location = "", name = ""] = process.argv;
const queue = openQueue(engine as EngineName, location, { name, logger: silent });
void main();

async function main(): Promise<void> {
  await queue.ready();
  queue.work(createHandlers().onAny(() => void process.send?.("handled")));
  process.once("message", () => void close());
  // Once it counts, the worker waits for events.
  while ((await queue.stats()).workers === 0)
    await new Promise((resolve) => setTimeout(resolve, 10));
  process.send?.("ready");
}

async function close(): Promise<void> {
  await queue.close({ deadlineMs: 200 });
  process.disconnect();
}
