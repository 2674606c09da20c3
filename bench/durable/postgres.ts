/**
 * The figures of the Postgres engine, each on a server of its own whose fsync takes 2 ms longer.
 *
 * npx tsx bench/durable/postgres.ts [kills]
 *
 * FSYNC_MS: how much longer each fsync takes. LANES: how many events are stored at a time. ONLY: the
 * name of one part.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { createHandlers } from "express-push-verification";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import {
  createPostgres,
  startPostgres,
  type PostgresProcess,
} from "../../__tests__/support/postgres";
import { percentile, QUEUE_NAME, queuedEvent } from "./processes";
import { slowFsync } from "./slow-fsync";

const [, , kills = "10"] = process.argv;
const { FSYNC_MS = "2", LANES = "128", ONLY } = process.env;
const fsyncMs = Number(FSYNC_MS);
const env = slowFsync(fsyncMs);
const lanes = Number(LANES);
const EVENTS = 20_000;
const ROUNDS = 5;
/** How many events wait for handlers, and how long these are measured. */
const WAITING = 120_000;
const LIMIT_MS = 10_000;

function open({ url }: PostgresProcess, options: { backoff?: number } = {}): DurableQueue {
  return postgresQueue({ name: QUEUE_NAME, connection: url, ...options });
}

function store(queue: DurableQueue, uuid = randomUUID()): Promise<unknown> {
  const event = eventFixture("factor.created", { uuid });
  return queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
}

async function waitUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(2);
}

function describeDelays(values: number[]): string {
  const warm = values.slice(200);
  return `p50 ${percentile(warm, 0.5)} ms, p99 ${percentile(warm, 0.99)} ms`;
}

/** Runs something for each item, several at a time; returns how many a second. */
async function repeatInLanes<Item>(
  items: readonly Item[],
  run: (item: Item) => Promise<unknown>,
): Promise<number> {
  const left = items.values();
  const lane = async () => {
    for (const item of left) await run(item);
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: lanes }, lane));
  return items.length / ((performance.now() - startMs) / 1_000);
}

const createEvents = (count: number) =>
  Array.from({ length: count }, () => queuedEvent(eventFixture("factor.created")));

async function measureThroughput(): Promise<void> {
  const server = await startPostgres({ env });
  const queue = open(server);
  await queue.ready();
  const rates: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    rates.push(
      await repeatInLanes(createEvents(EVENTS), (event) =>
        queue.store(event, Number.POSITIVE_INFINITY),
      ),
    );
  }
  const rate = Number(percentile(rates.slice(1), 0.5));
  const [row] = await server.query(
    "select pg_total_relation_size('push.delivery') / count(*) as bytes from push.delivery",
  );
  console.log(`store, ${lanes} lanes: ${rate.toFixed(0)}/s; ${String(row?.bytes)} bytes a uuid`);
  await queue.close({ deadlineMs: 1_000 });
  await server.remove();
}

/** A condition under which events are handled. */
interface Condition {
  /** How many events wait. @default 120_000 */
  waiting?: number;
  workers?: number;
  /** Runs before the workers start. */
  prepare?: (server: PostgresProcess) => Promise<unknown>;
}

const CONDITIONS: Record<string, Condition> = {
  "16 handlers": {},
  "with a backlog of 500,000": { waiting: 500_000 },
  "beside as many older events of a queue without a worker": {
    async prepare(server) {
      await server.query("insert into push.queue (name) values ('other')");
      await server.query(
        copyEvents("(select id from push.queue where name = 'other')", WAITING, 2 * WAITING),
      );
    },
  },
  "with four workers": { workers: 4 },
  "beside a transaction of another program": {
    async prepare({ url }) {
      const client = new Client({ connectionString: url });
      // It ends with its server.
      client.on("error", () => {});
      await client.connect();
      await client.query("begin isolation level repeatable read");
      await client.query("select pg_current_xact_id()");
    },
  },
  "without autovacuum": {
    prepare: (server) => server.query("alter table push.event set (autovacuum_enabled = false)"),
  },
};

/** Copies the event that waits, so many times, into a queue, each due a millisecond after the last. */
function copyEvents(queue: string, count: number, agoMs = count): string {
  return `insert into push.event (queue, run_at, uuid_hash, body)
    select ${queue}, run_at - ${agoMs} + place, uuid_hash, body
    from push.event, generate_series(1, ${count}) as place
    where id = (select min(id) from push.event)`;
}

async function measureHandlers(): Promise<void> {
  for (const [name, condition] of Object.entries(CONDITIONS)) {
    const { waiting = WAITING, workers = 1, prepare } = condition;
    const server = await startPostgres({ env });
    const first = open(server);
    await first.ready();
    await store(first);
    const queues = [first, ...Array.from({ length: workers - 1 }, () => open(server))];
    await Promise.all(queues.map((queue) => queue.ready()));
    await prepare?.(server);
    await server.query(copyEvents("queue", waiting));
    await server.query("vacuum analyze push.event");
    let handled = 0;
    const startMs = performance.now();
    const finished = new Promise<void>((resolve) => {
      const handlers = createHandlers().onAny(() => void (++handled === waiting && resolve()));
      for (const queue of queues) queue.work(handlers);
    });
    await Promise.race([finished, sleep(LIMIT_MS)]);
    const rate = (handled / (performance.now() - startMs)) * 1_000;
    console.log(`${name}: ${rate.toFixed(0)} of ${waiting} events handled a second`);
    await Promise.all(queues.map((queue) => queue.close({ deadlineMs: 1_000 })));
    await server.remove();
  }
}

async function measureLatency(): Promise<void> {
  const server = await startPostgres({ env });
  const queue = open(server);
  await queue.ready();
  const startedAt = new Map<string, number>();
  const delaysMs: number[] = [];
  const storesMs: number[] = [];
  queue.work(
    createHandlers().onAny(({ uuid }) => {
      delaysMs.push(performance.now() - (startedAt.get(uuid) ?? 0));
    }),
  );
  const storing: Promise<void>[] = [];
  for (let count = 0; count < 1_700; count++) {
    const uuid = randomUUID();
    const startMs = performance.now();
    startedAt.set(uuid, startMs);
    storing.push(store(queue, uuid).then(() => void storesMs.push(performance.now() - startMs)));
    await sleep(10);
  }
  await Promise.all(storing);
  await sleep(500);
  console.log(
    `100/s: store ${describeDelays(storesMs)}; store to handler ${describeDelays(delaysMs)}`,
  );
  await queue.close();
  await server.remove();
}

async function measureLateStart(): Promise<void> {
  const server = await createPostgres({ env });
  const queue = open(server);
  let handledAtMs = 0;
  queue.work(createHandlers().onAny(() => void (handledAtMs = performance.now())));
  await sleep(3_000);
  await server.start();
  const upAtMs = performance.now();
  await queue.ready();
  await store(queue);
  const storedAtMs = performance.now();
  await waitUntil(() => handledAtMs > 0);
  console.log(
    `Postgres started after the queue: stored ${(storedAtMs - upAtMs).toFixed(0)} ms and handled ${(handledAtMs - upAtMs).toFixed(0)} ms after it was up, schema created`,
  );
  await queue.close();
  await server.remove();
}

async function measureCrashes(): Promise<void> {
  const server = await startPostgres({ env });
  const queue = open(server, { backoff: 50 });
  await queue.ready();
  const handled = new Map<string, number>();
  const stored = new Set<string>();
  let failed = 0;
  const last = { storedMs: 0, handledMs: 0 };
  queue.work(
    createHandlers().onAny(({ uuid }) => {
      handled.set(uuid, (handled.get(uuid) ?? 0) + 1);
      last.handledMs = performance.now();
    }),
    { onError: () => {} },
  );
  const ending = new AbortController();
  const lane = async () => {
    while (!ending.signal.aborted) {
      const uuid = randomUUID();
      try {
        await store(queue, uuid);
        stored.add(uuid);
        last.storedMs = performance.now();
      } catch {
        failed++;
      }
      await sleep(20);
    }
  };
  const storing = Array.from({ length: 8 }, lane);
  const gapsMs: { stores: number[]; workers: number[] } = { stores: [], workers: [] };
  for (let kill = 0; kill < Number(kills); kill++) {
    await sleep(1_000 + Math.random() * 1_000);
    await server.kill("SIGKILL");
    await sleep(Math.random() * 1_000);
    await server.start();
    const upAtMs = performance.now();
    await waitUntil(() => last.storedMs >= upAtMs);
    gapsMs.stores.push(performance.now() - upAtMs);
    await waitUntil(() => last.handledMs >= upAtMs);
    gapsMs.workers.push(performance.now() - upAtMs);
  }
  ending.abort();
  await Promise.all(storing);
  for (let turn = 0; turn < 100; turn++) {
    const { waiting, active, delayed } = await queue.stats();
    if (waiting + active + delayed === 0) break;
    await sleep(200);
  }
  const lost = [...stored].filter((uuid) => !handled.has(uuid)).length;
  const twice = [...handled.values()].filter((count) => count > 1).length;
  console.log(
    `${kills} times kill -9 under load: ${stored.size} stored, ${lost} lost, ${failed} stores failed, ${twice} handled twice; back after at most: stores ${percentile(gapsMs.stores, 1)} ms, workers ${percentile(gapsMs.workers, 1)} ms; ${JSON.stringify(await queue.stats())}`,
  );
  await queue.close();
  await server.remove();
}

async function measureWaits(): Promise<void> {
  const server = await startPostgres({ env });
  const [queue, other] = [open(server), open(server)];
  await Promise.all([queue.ready(), other.ready()]);
  const delaysMs: number[] = [];
  let lost = 0;
  async function race(): Promise<void> {
    const challengeSid = `YC${randomUUID().replaceAll("-", "")}`;
    const event = eventFixture("challenge.approved", { challenge_sid: challengeSid });
    let storedAtMs = 0;
    const arrives = async () => {
      await sleep(Math.random() * 6);
      await other.store(queuedEvent(event), Number.POSITIVE_INFINITY);
      storedAtMs = performance.now();
    };
    const waits = async () => {
      await sleep(3);
      const startMs = performance.now();
      await queue.outcomes
        .wait({ authenticatedAccount: "", challengeSid, timeoutMs: 5_000 })
        .catch(() => void lost++);
      return [startMs, performance.now()] as const;
    };
    const [, [startMs, endMs]] = await Promise.all([arrives(), waits()]);
    delaysMs.push(endMs - Math.max(storedAtMs, startMs));
  }
  const lane = async () => {
    for (let count = 0; count < 250; count++) await race();
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  console.log(
    `${delaysMs.length} waits of another queue: ${lost} lost, p50 ${percentile(delaysMs, 0.5)} ms, p99 ${percentile(delaysMs, 0.99)} ms`,
  );
  await Promise.all([queue.close(), other.close()]);
  await server.remove();
}

const parts = {
  throughput: measureThroughput,
  handlers: measureHandlers,
  latency: measureLatency,
  start: measureLateStart,
  crashes: measureCrashes,
  waits: measureWaits,
};

async function main(): Promise<void> {
  console.log(`fsync takes ${fsyncMs} ms longer`);
  for (const [name, measure] of Object.entries(parts)) {
    if (ONLY === undefined || ONLY === name) await measure();
  }
}

void main();
