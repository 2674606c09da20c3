/**
 * The engine under test: Redis, Postgres with ENGINE=postgres, or SQLite with ENGINE=sqlite on a
 * Node.js that has node:sqlite.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  postgresQueue,
  redisQueue,
  sqliteQueue,
  type DurableQueue,
} from "express-push-verification/durable";
import {
  startPostgresProcess,
  type PostgresProcess,
} from "../../__tests__/support/postgres-server";
import { connect } from "../../lib/durable/sqlite/node-sqlite";
import { QUEUE_NAME, startRedis, type Revivable } from "./processes";

/** Where the events of a bench are stored. */
export interface BenchStore {
  /** What a process needs to open the queue. */
  env: Record<string, string>;
  /** The server of the engine, if it has one. */
  server: Revivable | undefined;
  /** Asserts that the store is intact; returns what it found. */
  check(): string;
  remove(): Promise<void>;
}

/** Starts an empty store of the engine that ENGINE names. */
export async function startStore(engine = process.env.ENGINE): Promise<BenchStore> {
  if (engine === "postgres") {
    const server = await startPostgresProcess();
    const { url, remove } = server;
    const revivable = server as PostgresProcess & { child: ChildProcess };
    return { env: { POSTGRES_URL: url }, server: revivable, check: () => "not checked", remove };
  }
  if (engine !== "sqlite") {
    const server = await startRedis();
    const { url, remove } = server;
    return { env: { REDIS_URL: url }, server, check: () => "not checked", remove };
  }
  const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), "push-bench-"));
  const file = join(folder, "push.db");
  return {
    env: { SQLITE_FILE: file },
    server: undefined,
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
  options: { backoff?: number } = {},
): DurableQueue {
  const settings = { name: QUEUE_NAME, ...options };
  if (file !== "") return sqliteQueue({ file, ...settings });
  if (postgres !== "") return postgresQueue({ connection: postgres, ...settings });
  return redisQueue({ connection, ...settings });
}
