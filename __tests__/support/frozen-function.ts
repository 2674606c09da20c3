/**
 * A function of a platform that freezes it after each response: it receives a request or the options
 * of a wait from its parent, and sends the result. Its handlers end when the parent sends "finish".
 */
import { pushWebhooks, type WaitOptions } from "express-push-verification";
import { openQueue } from "./engine";
import { silent } from "./receivers";
import { createGate } from "./waiting";
import {
  AUTH_TOKEN as authToken,
  PUBLIC_URL as publicUrl,
  toWebRequest,
  type TestRequest,
} from "./webhook-requests";

const [, , kind = "", setting = "{}"] = process.argv;
const options = JSON.parse(setting) as object;
const queue = kind === "" ? undefined : openQueue(kind, options);
const own = queue === undefined ? options : { queue };
// Longer than any reconnection on a slow machine.
const push = pushWebhooks({ authToken, publicUrl, logger: silent, deadlineMs: 60_000, ...own });
const finish = createGate();
push.onAny(async () => {
  process.send?.("began");
  await finish.opened;
  process.send?.("ended");
});

async function invoke({ request, wait }: { request?: TestRequest; wait?: WaitOptions }) {
  if (wait !== undefined) return (await push.waitForChallenge(wait)).type;
  return (await push.fetch(toWebRequest(request as TestRequest))).status;
}

process.on("message", (message) => {
  if (message === "finish") return finish.open();
  void invoke(message as object).then((result) => process.send?.({ result }));
});
void Promise.resolve(queue?.ready()).then(() => process.send?.("ready"));
