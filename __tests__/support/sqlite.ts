import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../lib/durable/sqlite/node-sqlite";

const folders: string[] = [];

export function createFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "push-sqlite-"));
  folders.push(folder);
  return join(folder, "push.db");
}

/** Runs statements on a file, as another program does: it waits while a queue writes. */
export function execute(file: string, sql: string): string {
  const connection = connect(file);
  try {
    connection.exec(`PRAGMA busy_timeout = 10000; ${sql}`);
  } finally {
    connection.close();
  }
  return file;
}

export function query(file: string, sql: string): Record<string, unknown>[] {
  const connection = connect(file);
  const rows = connection.prepare(sql).all();
  connection.close();
  return rows;
}

const PAGE_BYTES = 4096;

/** Overwrites pages of a file, by their numbers in SQLite: the first is 1. */
export function damagePages(file: string, first: number, last: number): void {
  const opened = openSync(file, "r+");
  const bytes = Buffer.alloc((last - first + 1) * PAGE_BYTES, 0xa5);
  writeSync(opened, bytes, 0, bytes.length, (first - 1) * PAGE_BYTES);
  closeSync(opened);
}

export function removeFiles(): void {
  // Retries: a thread that was closed without time to finish may still create files.
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 20 };
  for (const folder of folders.splice(0)) rmSync(folder, options);
}
