import { isBuiltin } from "node:module";
import { isOlder } from "../packages";

/** As node:sqlite has it. */
export interface PreparedStatement {
  run(...values: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: unknown[]): Record<string, unknown> | undefined;
  all(...values: unknown[]): Record<string, unknown>[];
}

/** A connection of node:sqlite; the declarations of Node.js 20 have none. */
export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): PreparedStatement;
  function(name: string, options: { deterministic: boolean }, run: () => bigint): void;
  close(): void;
}

/** Throws TypeError without node:sqlite, and for Deno, whose threads cannot end themselves. */
export function assertNodeSqlite(): void {
  const { deno } = process.versions;
  if (isBuiltin("node:sqlite") && deno === undefined) return;
  const found = deno === undefined ? process.version : `Deno ${deno}`;
  throw new TypeError(
    `sqliteQueue needs node:sqlite, which Node.js has since 22.13; this is ${found}. Run the app on Node.js 22.13 or newer, or use redisQueue or postgresQueue.`,
  );
}

/** Opens a connection; loads node:sqlite on the first call. */
export function connect(file: string, options: { readOnly?: boolean } = {}): SqliteConnection {
  const { DatabaseSync } = require("node:sqlite") as {
    DatabaseSync: new (file: string, options: { readOnly?: boolean }) => SqliteConnection;
  };
  return new DatabaseSync(file, options);
}

/** Opens a connection, and closes it after a step. */
export function useConnection(
  file: string,
  options: { readOnly?: boolean },
  run: (connection: SqliteConnection) => void,
): void {
  const connection = connect(file, options);
  try {
    run(connection);
  } finally {
    connection.close();
  }
}

/** Primary result codes of SQLite. */
const CODES: Readonly<Record<number, string>> = {
  1: "SQLITE_ERROR",
  3: "SQLITE_PERM",
  5: "SQLITE_BUSY",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  19: "SQLITE_CONSTRAINT",
  26: "SQLITE_NOTADB",
};

/** Returns the code of an error of SQLite, such as `"SQLITE_BUSY"`; undefined for other errors. */
export function sqliteCodeOf(error: unknown): string | undefined {
  const { errcode } = error as { errcode?: unknown };
  if (typeof errcode !== "number") return undefined;
  // The upper bits are a detail.
  return CODES[errcode & 0xff] ?? `SQLITE_${errcode}`;
}

/** Before, the WAL-reset bug of SQLite loses commits of concurrent processes. */
export const FIRST_SHARING = "3.51.3";

/** Returns whether processes with this version of SQLite may share a file. */
export function canShare(version: string): boolean {
  return !isOlder(version, FIRST_SHARING);
}

const BUSY_MS = 5_000;
/** The pauses of SQLite grow to 100 ms, while a transaction of another process takes one fsync. */
const PAUSE_MS = 0.5;

const sleepCell = new Int32Array(new SharedArrayBuffer(4));

/** Repeats a step while another process holds the lock; throws `SQLITE_BUSY` after this time. */
export function retryWhileLocked<Value>(
  run: () => Value,
  busyMs = BUSY_MS,
  pauseMs = PAUSE_MS,
): Value {
  const deadlineAtMs = performance.now() + busyMs;
  for (;;) {
    try {
      return run();
    } catch (error) {
      if (sqliteCodeOf(error) !== "SQLITE_BUSY" || performance.now() > deadlineAtMs) throw error;
    }
    Atomics.wait(sleepCell, 0, 0, pauseMs * (0.4 + Math.random() * 1.2));
  }
}
