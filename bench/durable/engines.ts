/**
 * Redis, SQLite and Postgres in turns in one run: how long a store takes at 100 a second, how many
 * are stored a second at most, how fast they are handled, how long the app's event loop was blocked, and how
 * much a handled event leaves in the store.
 *
 * npm run node24 -- --import tsx bench/durable/engines.ts [rounds] [events]
 *
 * LANES: how many events are stored and handled at a time. See slow-fsync.c for a slower disk.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createHandlers } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { openQueue, startStore, type BenchStore } from "./engine";
import { percentile, queuedEvent } from "./processes";

const [, , rounds = "3", events = "10000"] = process.argv;
const CONCURRENCY = Number(process.env.LANES ?? 64);
const PACED_MS = 8_000;
const UUID_ROUNDS = 4;
const ENGINES = ["redis", "sqlite", "postgres"];

interface Result {
  "p50 at 100/s": number;
  "p99 at 100/s": number;
  "stores/s": number;
  "challenges/s": number;
  "handled/s": number;
  "longest block, ms": number;
}

type EventType = "factor.created" | "challenge.approved";

function store(queue: DurableQueue, type: EventType): Promise<unknown> {
  const uuid = crypto.randomUUID();
  const challenge_sid = `YC${uuid.replaceAll("-", "")}`;
  const event =
    type === "factor.created"
      ? eventFixture(type, { uuid })
      : eventFixture(type, { uuid, challenge_sid });
  return queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
}

async function pace(queue: DurableQueue): Promise<number[]> {
  const delaysMs: number[] = [];
  const stored: Promise<void>[] = [];
  const endMs = performance.now() + PACED_MS;
  for (let nextMs = performance.now(); nextMs < endMs; nextMs += 10) {
    await sleep(Math.max(0, nextMs - performance.now()));
    const startMs = performance.now();
    stored.push(
      store(queue, "factor.created").then(() => void delaysMs.push(performance.now() - startMs)),
    );
  }
  await Promise.all(stored);
  return delaysMs;
}

async function saturate(queue: DurableQueue, type: EventType): Promise<number> {
  let left = Number(events);
  const lane = async () => {
    while (left-- > 0) await store(queue, type);
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return Number(events) / ((performance.now() - startMs) / 1_000);
}

async function drain(queue: DurableQueue): Promise<number> {
  const { waiting } = await queue.stats();
  const startMs = performance.now();
  const worker = queue.work(
    createHandlers().onUnhandled(() => {}),
    { concurrency: CONCURRENCY },
  );
  for (;;) {
    const stats = await queue.stats();
    if (stats.waiting + stats.active === 0) break;
    await sleep(20);
  }
  const rate = waiting / ((performance.now() - startMs) / 1_000);
  await worker.close();
  return rate;
}

/**
 * Measures the longest time between two turns of the event loop, in milliseconds of the processor:
 * time of other programs does not count.
 */
function watchLoop(): () => number {
  const { threadCpuUsage } = process as typeof process & { threadCpuUsage: () => NodeJS.CpuUsage };
  const readMs = () => {
    const { user, system } = threadCpuUsage();
    return (user + system) / 1_000;
  };
  let longestMs = 0;
  let lastMs = readMs();
  const timer = setInterval(() => {
    const nowMs = readMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, 1);
  return () => {
    clearInterval(timer);
    return longestMs;
  };
}

async function measure({ env }: BenchStore): Promise<Result> {
  const queue = openQueue(env);
  await queue.ready();
  await saturate(queue, "factor.created");
  const delaysMs = await pace(queue);
  const endWatch = watchLoop();
  const stores = await saturate(queue, "factor.created");
  const challenges = await saturate(queue, "challenge.approved");
  const handled = await drain(queue);
  const longestMs = endWatch();
  await queue.close();
  return {
    "p50 at 100/s": Number(percentile(delaysMs, 0.5, 2)),
    "p99 at 100/s": Number(percentile(delaysMs, 0.99, 2)),
    "stores/s": Math.round(stores),
    "challenges/s": Math.round(challenges),
    "handled/s": Math.round(handled),
    "longest block, ms": Math.round(longestMs * 10) / 10,
  };
}

/** How much of the store a uuid takes whose event was handled. */
async function measureUuid(engine: string): Promise<void> {
  const bench = await startStore(engine);
  const queue = openQueue(bench.env);
  await queue.ready();
  const handleEvents = async () => {
    await saturate(queue, "factor.created");
    await drain(queue);
    return bench.readUsedBytes();
  };
  const before = await handleEvents();
  for (let round = 1; round < UUID_ROUNDS; round++) await handleEvents();
  const added = (await handleEvents()) - before;
  await queue.close();
  await bench.remove();
  console.log(`${engine}: ${Math.round(added / (UUID_ROUNDS * Number(events)))} bytes for a uuid`);
}

async function main(): Promise<void> {
  const results: (Result & { engine: string })[] = [];
  for (let round = 0; round < Number(rounds); round++) {
    for (const engine of ENGINES) {
      const bench = await startStore(engine);
      results.push({ engine, ...(await measure(bench)) });
      await bench.remove();
    }
  }
  console.table(results);
  for (const engine of ENGINES) await measureUuid(engine);
}

void main();
