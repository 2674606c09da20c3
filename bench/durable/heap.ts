/**
 * 200,000 events are stored and handled in one process: its heap after each quarter.
 *
 * node --expose-gc --import tsx bench/durable/heap.ts [events]
 * ENGINE=postgres node --expose-gc --import tsx bench/durable/heap.ts [events]
 * ENGINE=sqlite npm run node24 -- --expose-gc --import tsx bench/durable/heap.ts [events]
 */
import { createHandlers } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { openQueue, startStore } from "./engine";
import { queuedEvent } from "./processes";

const [, , events = "200000"] = process.argv;

async function main(): Promise<void> {
  const store = await startStore();
  const queue = openQueue(store.env);
  const done = { stored: 0, handled: 0 };
  const handlers = createHandlers().onAny(() => void done.handled++);
  await queue.ready();
  queue.work(handlers, { concurrency: 64 });
  async function storeUpTo(count: number): Promise<void> {
    while (done.stored < count) {
      done.stored++;
      const event = eventFixture("challenge.approved");
      await queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
    }
  }
  for (let quarter = 0; quarter <= 4; quarter++) {
    const count = (Number(events) * quarter) / 4;
    await Promise.all(Array.from({ length: 64 }, () => storeUpTo(count)));
    while (done.handled < done.stored) await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    console.log(`${count} events: heap ${megabytes(heapUsed)} MB, RSS ${megabytes(rss)} MB`);
  }
  await queue.close();
  await store.remove();
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

void main();
