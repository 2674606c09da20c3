/** A process that handles stored events and reports to its parent; the uuid "slow" takes 8 s. */
import { createHandlers } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";

const [, , connection = "", name = ""] = process.argv;
const queue = redisQueue({ connection, name });
const handlers = createHandlers().onAny(async ({ uuid }) => {
  process.send?.(`began ${uuid}`);
  if (uuid === "slow") await new Promise((resolve) => setTimeout(resolve, 8_000));
  process.send?.(`done ${uuid}`);
});
void main();

async function main(): Promise<void> {
  await queue.ready();
  queue.work(handlers);
  process.send?.("ready");
}
