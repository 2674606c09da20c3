/** A worker that dies between the confirmation of an event and its handlers. */
import { createHandlers } from "express-push-verification";
import { silent } from "./durable";
import { openQueue, type EngineName } from "./engine";

const [, , engine, location = "", name = ""] = process.argv;
const queue = openQueue(engine as EngineName, location, { name, logger: silent });
void main();

async function main(): Promise<void> {
  await queue.ready();
  queue.work(
    createHandlers().onAny(() => void process.send?.("handled")),
    {
      confirm() {
        // After this turn confirm has returned, and no store has responded yet.
        setImmediate(() => process.kill(process.pid, "SIGKILL"));
        return true;
      },
    },
  );
  process.send?.("ready");
}
