/**
 * What a store holds while as many challenge events as the engine takes are stored and handled, and end
 * after 2 s: rows and bytes each minute, and how long a slice of a purge keeps the stores waiting.
 *
 * npm run node24 -- --import tsx bench/durable/purge.ts <redis|sqlite|postgres> [minutes]
 * npm run node24 -- --import tsx bench/durable/purge.ts slices [rows]
 *
 * `slices`: the CPU time of each slice that removes a backlog from a file; other programs do not disturb it.
 *
 * LANES: how many events are stored at a time.
 */
import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { createHandlers } from "express-push-verification";
import { redisQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { startPostgres } from "../../__tests__/support/postgres";
import { resolvePostgresOptions } from "../../lib/durable/postgres/options";
import { ServerStorage } from "../../lib/durable/postgres/server-storage";
import { createQueue } from "../../lib/durable/queue";
import type { QueueSettings } from "../../lib/durable/queue-options";
import { openDatabase } from "../../lib/durable/sqlite/database";
import { createFileStorage } from "../../lib/durable/sqlite/file-storage";
import { FileOperations } from "../../lib/durable/sqlite/operations";
import { resolveSqliteOptions } from "../../lib/durable/sqlite/options";
import type { Claims, Storage } from "../../lib/durable/storage";
import { startStore } from "./engine";
import { percentile, QUEUE_NAME, queuedEvent, startRedis } from "./processes";

const [, , engine = "sqlite", minutes = "10"] = process.argv;
const LANES = Number(process.env.LANES ?? 64);
const MINUTE_MS = 60_000;
/** Stores wait while so many events are not handled. */
const MAX_WAITING = 2_000;
const options = { name: QUEUE_NAME, dedupeTtlMs: 2_000, outcomeTtlMs: 2_000 };

/** A store whose contents are measured. */
interface Measured {
  queue: DurableQueue;
  /** Counts the rows, or the keys, beside those of events that wait, and the bytes of all. */
  measure(): Promise<{ rows: string; bytes: number }>;
  remove(): Promise<unknown>;
}

const slicesMs: number[] = [];
/** How many slices run. */
let running = 0;

/** Opens the queue of a storage; each slice of a purge counts from the reply before it. */
function watchSlices(storage: Storage & Claims, settings: QueueSettings): DurableQueue {
  let repliedAtMs = 0;
  for (const method of ["store", "claim", "finish", "purge"] as const) {
    const run = (storage[method] as (...args: unknown[]) => Promise<unknown>).bind(storage);
    const watched = async (...args: unknown[]) => {
      const sentAtMs = performance.now();
      if (method === "purge") running++;
      const value = await run(...args);
      if (method === "purge") running--;
      const nowMs = performance.now();
      if (method === "purge") slicesMs.push(nowMs - Math.max(sentAtMs, repliedAtMs));
      // The thread of a file replies in the order of the requests; the connections of a server do not.
      if (engine === "sqlite") repliedAtMs = nowMs;
      return value;
    };
    Object.assign(storage, { [method]: watched });
  }
  return createQueue(storage, settings);
}

async function openSqlite(): Promise<Measured> {
  const { env, remove } = await startStore("sqlite");
  const settings = resolveSqliteOptions({ ...options, file: env.SQLITE_FILE ?? "" });
  const { file } = settings;
  // In a process of its own: closing the file in this one would drop its locks.
  const count = `
    const database = new (require("node:sqlite").DatabaseSync)(process.argv[1]);
    const count = (table) => Object.values(database.prepare("SELECT count(*) FROM " + table).get());
    console.log(count("delivery") + " uuids, " + count("outcome") + " outcomes")`;
  return {
    queue: watchSlices(createFileStorage(settings), settings),
    async measure() {
      const { stdout } = await promisify(execFile)(process.execPath, ["-e", count, file]);
      return {
        rows: stdout.trim(),
        bytes: statSync(file).size + statSync(`${file}-wal`).size,
      };
    },
    remove,
  };
}

async function openPostgres(): Promise<Measured> {
  const { url, query, remove } = await startPostgres();
  const settings = resolvePostgresOptions({ ...options, connection: url });
  return {
    queue: watchSlices(new ServerStorage(settings), settings),
    async measure() {
      const [row] = await query(
        `select (select count(*) from push.delivery) || ' uuids, ' || (select count(*) from push.outcome)
           || ' outcomes' as rows, sum(pg_total_relation_size('push.' || name)) as bytes
         from unnest('{delivery,event,outcome}'::text[]) as name`,
      );
      return { rows: String(row?.rows), bytes: Number(row?.bytes) };
    },
    remove,
  };
}

async function openRedis(): Promise<Measured> {
  const { url, remove } = await startRedis();
  const redis = new Redis(url);
  return {
    queue: redisQueue({ ...options, connection: url }),
    async measure() {
      const [, used] = /used_memory:(\d+)/.exec(await redis.info("memory")) ?? [];
      return { rows: `${await redis.dbsize()} keys`, bytes: Number(used) };
    },
    async remove() {
      redis.disconnect();
      await remove();
    },
  };
}

async function measureSlices(rows: number): Promise<void> {
  const { env, remove } = await startStore("sqlite");
  const { connection, transact, close } = openDatabase(env.SQLITE_FILE ?? "", QUEUE_NAME);
  const operations = new FileOperations(connection, options);
  for (const [table, value] of [
    ["delivery (key, content, expires_at)", "randomblob(16)"],
    ["outcome (key, value, expires_at)", "hex(randomblob(120))"],
  ]) {
    connection.exec(`WITH RECURSIVE row (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < ${rows})
      INSERT INTO ${table} SELECT randomblob(16), ${value}, 5 FROM row`);
  }
  const cpuMs: number[] = [];
  for (let isMore = true; isMore;) {
    const start = process.cpuUsage();
    isMore = transact(false, () => operations.purge());
    const { user, system } = process.cpuUsage(start);
    cpuMs.push((user + system) / 1_000);
  }
  console.log(
    `${cpuMs.length} slices removed ${2 * rows} rows; ms of CPU (p50, p99, longest) ${describe(cpuMs)}`,
  );
  close();
  await remove();
}

const describe = (values: readonly number[]) =>
  [0.5, 0.99, 1].map((share) => percentile(values, share)).join(", ");

async function main(): Promise<void> {
  if (engine === "slices") return measureSlices(Number(process.argv[3] ?? "100000"));
  const open = { sqlite: openSqlite, postgres: openPostgres, redis: openRedis }[engine];
  if (open === undefined) throw new Error(`There is no engine ${engine}.`);
  const { queue, measure, remove } = await open();
  await queue.ready();
  let waiting = 0;
  let stored = 0;
  const isFull = () => waiting > MAX_WAITING;
  const storesMs: number[] = [];
  const besideMs: number[] = [];
  queue.work(
    createHandlers().onAny(() => void waiting--),
    { concurrency: LANES },
  );
  const endMs = performance.now() + Number(minutes) * MINUTE_MS;
  const lane = async () => {
    while (performance.now() < endMs) {
      while (isFull()) await sleep(1);
      const uuid = crypto.randomUUID();
      const challenge_sid = `YC${uuid.replaceAll("-", "")}`;
      const isBeside = running > 0;
      const startMs = performance.now();
      await queue.store(
        queuedEvent(eventFixture("challenge.approved", { uuid, challenge_sid })),
        Number.POSITIVE_INFINITY,
      );
      (isBeside ? besideMs : storesMs).push(performance.now() - startMs);
      waiting++;
      stored++;
    }
  };
  const lanes = Promise.all(Array.from({ length: LANES }, lane));
  for (let minute = 1; minute <= Number(minutes); minute++) {
    await sleep(MINUTE_MS);
    const { rows, bytes } = await measure();
    console.log(
      `${engine}, minute ${minute}: ${(stored / 60).toFixed(0)} stores/s, ${rows}, ${(bytes / 2 ** 20).toFixed(0)} MiB; ms of a store (p50, p99, longest) ${describe(storesMs)}; of one that began during a slice ${describe(besideMs)}; of ${slicesMs.length} slices ${describe(slicesMs)}`,
    );
    storesMs.length = 0;
    besideMs.length = 0;
    slicesMs.length = 0;
    stored = 0;
  }
  await lanes;
  await queue.close();
  await remove();
}

void main();
