import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createHandlers } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";

/** Handles stored events: writes a line to LOG for each, when it is done. One in 20 fails once. */
export function logEvents(queue: DurableQueue): void {
  const handlers = createHandlers().onAny(async ({ uuid }, { attempt }) => {
    await sleep(2);
    if (attempt === 1 && Number.parseInt(uuid.slice(-2), 16) % 20 === 0) throw new Error("once");
    appendFileSync(process.env.LOG ?? "", `${uuid} ${Date.now()}\n`);
  });
  queue.work(handlers, { onError: () => {} });
}
