/** A process that handles stored events; told to close, it must end by itself. */
import { createHandlers } from "express-push-verification";
import { durableQueue } from "express-push-verification/durable";

const [, , connection = "", name = ""] = process.argv;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const queue = durableQueue({ connection, name, logger: silent });
void main();

async function main(): Promise<void> {
  await queue.ready();
  queue.work(createHandlers().onAny(() => void process.send?.("handled")));
  process.once("message", () => void close());
  process.send?.("ready");
}

async function close(): Promise<void> {
  await queue.close({ deadlineMs: 200 });
  process.disconnect();
}
