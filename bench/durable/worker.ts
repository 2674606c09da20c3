/** Handles stored events: writes a line to LOG for each, when it is done. One in 20 fails once. */
import { appendFileSync } from "node:fs";
import { createHandlers } from "express-push-verification";
import { openQueue } from "./engine";

const queue = openQueue(process.env, { backoff: 200 });
const handlers = createHandlers().onAny(async ({ uuid }, { attempt }) => {
  await new Promise((resolve) => setTimeout(resolve, 2));
  if (attempt === 1 && Number.parseInt(uuid.slice(-2), 16) % 20 === 0) throw new Error("once");
  appendFileSync(process.env.LOG ?? "", `${uuid} ${Date.now()}\n`);
});
queue.work(handlers, { onError: () => {} });
process.send?.("ready");
