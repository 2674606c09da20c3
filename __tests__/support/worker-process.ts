/** A process that handles stored events and tells its parent; what is called "slow" takes long. */
import { pushWebhooks } from "express-push-verification";
import { durableQueue } from "express-push-verification/durable";

const [, , connection = ""] = process.argv;
const queue = durableQueue({ connection });
const push = pushWebhooks({ authToken: "t", publicUrl: "https://app.example.com/", queue });
push.on("*", async ({ uuid }) => {
  process.send?.(`began ${uuid}`);
  if (uuid === "slow") await new Promise((resolve) => setTimeout(resolve, 8_000));
  process.send?.(`done ${uuid}`);
});
void main();

async function main(): Promise<void> {
  await queue.ready();
  queue.work(push);
  process.send?.("ready");
}
