/**
 * The engine under test: Redis, Postgres with ENGINE=postgres, or SQLite with ENGINE=sqlite on a
 * Node.js that has node:sqlite.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import {
  postgresQueue,
  redisQueue,
  sqliteQueue,
  type DurableQueue,
} from "express-push-verification/durable";
import { startPostgres, type PostgresProcess } from "../../__tests__/support/postgres";
import { connect, type SqliteConnection } from "../../lib/durable/sqlite/node-sqlite";
import { QUEUE_NAME, startRedis, type Revivable } from "./processes";

/** A time in which the engine stores nothing. */
export interface Outage {
  name: string;
  begin(): unknown;
  end(): unknown;
}

/** Where the events of a bench are stored. */
export interface BenchStore {
  /** Variables with which a process opens the queue. */
  env: Record<string, string>;
  /** The server of the engine, if it has one. */
  server: Revivable | undefined;
  outages: Outage[];
  /** How much of its memory or disk the store uses. */
  readUsedBytes(): Promise<number>;
  /** Asserts that the store is intact; returns its findings. */
  check(): string;
  remove(): Promise<void>;
}

/** Starts an empty store of the engine that ENGINE names. */
export async function startStore(engine = process.env.ENGINE): Promise<BenchStore> {
  if (engine === "postgres") {
    const server = await startPostgres();
    const { url, remove, start } = server;
    const revivable = server as PostgresProcess & { child: ChildProcess };
    return {
      env: { POSTGRES_URL: url },
      server: revivable,
      outages: [
        // SIGTERM would wait for the end of all connections.
        { name: "stopped", begin: () => server.kill("SIGINT"), end: start },
        { name: "killed", begin: () => server.kill(), end: start },
        {
          name: "frozen",
          begin: () => server.signalAll("SIGSTOP"),
          end: () => server.signalAll("SIGCONT"),
        },
      ],
      async readUsedBytes() {
        const [row] = await server.query("select pg_total_relation_size('push.delivery') as size");
        return Number(row?.size);
      },
      check: () => "not checked",
      remove,
    };
  }
  if (engine !== "sqlite") {
    const server = await startRedis();
    const { url, remove, start } = server;
    return {
      env: { REDIS_URL: url },
      server,
      outages: [
        { name: "stopped", begin: () => server.kill("SIGTERM"), end: start },
        { name: "killed", begin: () => server.kill(), end: start },
        {
          name: "frozen",
          begin: () => server.child.kill("SIGSTOP"),
          end: () => server.child.kill("SIGCONT"),
        },
      ],
      async readUsedBytes() {
        const redis = new Redis(url);
        const [, used] = /used_memory:(\d+)/.exec(await redis.info("memory")) ?? [];
        redis.disconnect();
        return Number(used);
      },
      check: () => "not checked",
      remove,
    };
  }
  const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), "push-bench-"));
  const file = join(folder, "push.db");
  let locker: SqliteConnection | undefined;
  return {
    env: { SQLITE_FILE: file },
    server: undefined,
    outages: [
      {
        name: "locked by another process",
        begin() {
          locker = connect(file);
          locker.exec("BEGIN IMMEDIATE");
        },
        end: () => locker?.close(),
      },
    ],
    async readUsedBytes() {
      const connection = connect(file);
      const read = (name: string) =>
        Number(Object.values(connection.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
      const used = (read("page_count") - read("freelist_count")) * read("page_size");
      connection.close();
      return used;
    },
    check() {
      const connection = connect(file);
      const { integrity_check: result } = connection.prepare("PRAGMA integrity_check").get() ?? {};
      connection.close();
      return String(result);
    },
    async remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Opens the queue that the environment names. */
export function openQueue(
  {
    SQLITE_FILE: file = "",
    POSTGRES_URL: postgres = "",
    REDIS_URL: connection = "",
  }: NodeJS.ProcessEnv = process.env,
  options: { backoff?: number; journal?: boolean } = {},
): DurableQueue {
  const settings = { name: QUEUE_NAME, ...options };
  if (file !== "") return sqliteQueue({ file, ...settings });
  if (postgres !== "") return postgresQueue({ connection: postgres, ...settings });
  return redisQueue({ connection, ...settings });
}
