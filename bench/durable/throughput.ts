/**
 * Events stored by the queue against bare queue.add() of BullMQ, and events handled against a bare Worker,
 * in turns in one run, with the CPU time of each, which includes making the event; then how long an event
 * takes from the store to its handler.
 *
 * npx tsx bench/durable/throughput.ts
 */
import { createHash, randomUUID } from "node:crypto";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { createHandlers } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { percentile, QUEUE_NAME, queuedEvent, startRedis } from "./processes";

const ROUNDS = 7;
const EVENTS = 5_000;
const CONCURRENCY = 64;

interface Measured {
  perSecond: number;
  /** The CPU time of an event, in this process and in Redis. */
  appUs: number;
  redisUs: number;
}

async function readCpuSeconds(redis: Redis): Promise<number> {
  const info = await redis.info("cpu");
  const fields = [...info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)];
  return fields.reduce((sum, [, seconds]) => sum + Number(seconds), 0);
}

/** Measures work on `count` events. */
async function measure(
  count: number,
  work: () => Promise<unknown>,
  redis: Redis,
): Promise<Measured> {
  const redisSeconds = await readCpuSeconds(redis);
  const app = process.cpuUsage();
  const startMs = performance.now();
  await work();
  const seconds = (performance.now() - startMs) / 1_000;
  const { user, system } = process.cpuUsage(app);
  const redisUs = ((await readCpuSeconds(redis)) - redisSeconds) * 1e6;
  return {
    perSecond: count / seconds,
    appUs: (user + system) / count,
    redisUs: redisUs / count,
  };
}

/** Stores the events of a round, some at a time. */
async function storeAll(one: () => Promise<unknown>): Promise<void> {
  let left = EVENTS;
  const lane = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
}

/** Handles events with a worker, whose handler calls `done`, until `count` are handled. */
async function handleAll(
  count: number,
  start: (done: () => void) => { close(): Promise<void> },
): Promise<void> {
  let left = count;
  const worker = await new Promise<{ close(): Promise<void> }>((resolve) => {
    const started = start(() => {
      if (--left === 0) resolve(started);
    });
  });
  await worker.close();
}

async function main(): Promise<void> {
  const redis = await startRedis();
  const port = Number(new URL(redis.url).port);
  const connection = new Redis(port, "127.0.0.1", { maxRetriesPerRequest: null });
  const bare = new Queue("bare", { connection });
  const queue = redisQueue({ name: QUEUE_NAME, connection: redis.url });
  await queue.ready();
  const options = { attempts: 8, removeOnComplete: true, removeOnFail: false };
  const stores = {
    "queue.add of BullMQ": () => {
      const { params } = eventFixture("challenge.approved");
      return bare.add("event", { params }, options);
    },
    "queue.add with an identifier, deduplication and back-off": () => {
      const { params, uuid } = eventFixture("challenge.approved", { uuid: randomUUID() });
      const id = createHash("sha256").update(uuid).digest("hex");
      const deduplication = { id, ttl: 86_400_000 };
      const backoff = { type: "exponential", delay: 1_000, jitter: 0.5 };
      return bare.add("event", { params }, { ...options, jobId: id, deduplication, backoff });
    },
    "store of a factor event": () => store("factor.created"),
    "store of a challenge event, with its outcome": () => store("challenge.approved"),
  };
  function store(type: "factor.created" | "challenge.approved") {
    const uuid = randomUUID();
    const challenge_sid = `YC${uuid.replaceAll("-", "")}`;
    const event =
      type === "factor.created"
        ? eventFixture(type, { uuid })
        : eventFixture(type, { uuid, challenge_sid });
    return queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
  }
  /** Each handles what two of the stores have stored. */
  const workers = {
    "Worker of BullMQ, 64 at a time": (done: () => void) =>
      new Worker("bare", async () => done(), { connection, concurrency: CONCURRENCY }),
    "queue.work, 64 handlers": (done: () => void) =>
      queue.work(createHandlers().onAny(done), { concurrency: CONCURRENCY }),
  };
  const rounds = new Map<string, Measured[]>();
  const keep = async (name: string, count: number, work: () => Promise<unknown>) => {
    rounds.set(name, [...(rounds.get(name) ?? []), await measure(count, work, connection)]);
  };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, one] of Object.entries(stores)) {
      await keep(name, EVENTS, () => storeAll(one));
    }
    for (const [name, start] of Object.entries(workers)) {
      await keep(name, 2 * EVENTS, () => handleAll(2 * EVENTS, start));
    }
  }
  const median = (name: string, field: keyof Measured) =>
    Number(
      percentile(
        (rounds.get(name) ?? []).map((measured) => measured[field]),
        0.5,
      ),
    );
  const base = median("queue.add of BullMQ", "perSecond");
  for (const name of rounds.keys()) {
    const perSecond = median(name, "perSecond");
    const [appUs, redisUs] = [median(name, "appUs"), median(name, "redisUs")];
    console.log(
      `${name}: ${perSecond.toFixed(0)}/s, ${(perSecond / base).toFixed(2)}; CPU of the app ${appUs.toFixed(0)} µs, of Redis ${redisUs.toFixed(0)} µs`,
    );
  }

  await bare.obliterate({ force: true });
  await connection.flushall();
  const arrivals = new Map<string, number>();
  const delaysMs: number[] = [];
  const handlers = createHandlers().onAny(({ uuid }) => {
    delaysMs.push(performance.now() - (arrivals.get(uuid) ?? 0));
  });
  queue.work(handlers);
  for (let count = 0; count < 2_000; count++) {
    const event = eventFixture("factor.created");
    const { uuid } = event;
    arrivals.set(uuid, performance.now());
    await queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const [p50, p99] = [percentile(delaysMs.slice(200), 0.5), percentile(delaysMs.slice(200), 0.99)];
  console.log(`event to handler: p50 ${p50} ms, p99 ${p99} ms`);
  await queue.close();
  connection.disconnect();
  await redis.remove();
}

void main();
