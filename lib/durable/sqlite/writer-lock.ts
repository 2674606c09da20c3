import { existsSync } from "node:fs";
import { canShare, connect, useConnection } from "./node-sqlite";

/**
 * Locks a file against other writers, where this version of SQLite loses what two of them write. The
 * lock is of another file, `-lock`: others may read, as a backup does.
 *
 * @returns the connection that holds the lock; undefined for a version without the bug.
 * @throws `SQLITE_BUSY` while another process holds the lock.
 */
export function lockWriters(file: string, version = process.versions.sqlite ?? "") {
  if (canShare(version)) return undefined;
  const lock = connect(`${file}-lock`);
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Throws `SQLITE_BUSY` while another process has a file open: a newer SQLite holds no lock. */
export function assertAlone(file: string): void {
  // In WAL mode, reading takes this lock; BEGIN would write to an empty file.
  const sql = "PRAGMA locking_mode = EXCLUSIVE; SELECT count(*) FROM sqlite_schema";
  useConnection(file, {}, (connection) => connection.exec(sql));
}

/** Throws `SQLITE_BUSY` while an older SQLite has a file that this process has opened by now. */
export function assertNoLock(file: string, version = process.versions.sqlite ?? ""): void {
  if (!canShare(version) || !existsSync(`${file}-lock`)) return;
  const sql = "BEGIN; SELECT count(*) FROM sqlite_schema; COMMIT";
  useConnection(`${file}-lock`, {}, (connection) => connection.exec(sql));
}
