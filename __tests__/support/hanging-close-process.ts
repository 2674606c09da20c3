/**
 * A process whose disk hangs while it closes its queue. It sends "ready", and when it is told so,
 * closes the queue and sends how long that took, in milliseconds.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { sqliteQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, silent } from "./durable";

const [, , file = "", hangFile = "", deadlineMs = "0"] = process.argv;

void main();

async function main(): Promise<void> {
  const queue = sqliteQueue({ file, name: "q", logger: silent });
  await queue.ready();
  process.send?.("ready");
  await once(process, "message");
  writeFileSync(hangFile, "");
  const stored = queue.store(queuedEvent(eventFixture("factor.created")), 1e12);
  stored.catch(() => {});
  // Wait until the thread is in fsync.
  await sleep(500);
  const startMs = performance.now();
  await queue.close({ deadlineMs: Number(deadlineMs) });
  process.send?.(String(performance.now() - startMs));
}
