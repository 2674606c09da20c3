import { closeSync, openSync, statSync } from "node:fs";
import { createDamageError, createNoDatabaseError } from "./file-error";
import {
  connect,
  retryWhileLocked,
  sqliteCodeOf,
  type SqliteConnection,
  useConnection,
} from "./node-sqlite";
import type { Migrations } from "../event-migration";
import { assertAlone, assertNoLock, lockWriters } from "./writer-lock";
import { assertSchema, isEmpty, isNew, MIGRATIONS, prepareSchema } from "./schema";

/** Takes 1 to 2 s from a local SSD, and 4 s at 125 MB/s. */
const MAX_CHECKED_BYTES = 512 * 1024 * 1024;
/** The smallest page of SQLite, which takes some shorter files for empty databases. */
const MIN_DATABASE_BYTES = 512;
/** As long as a former process may take to close. */
const OPEN_MS = 12_000;
const OPEN_PAUSE_MS = 50;

/**
 * Opens the file of a queue, or creates it; waits 12 s for a lock. Changes no other file.
 *
 * @throws QueueError; the errors of SQLite.
 */
export function openDatabase(file: string, name: string, migrations = MIGRATIONS) {
  function open() {
    createPrivateFile(file);
    const lock = lockWriters(file);
    let connection: SqliteConnection | undefined;
    try {
      assertOwn(file, name, migrations);
      if (lock !== undefined) assertAlone(file);
      connection = connect(file);
      prepareFile(connection, file, name, migrations);
      return createDatabase(connection, file, lock);
    } catch (error) {
      connection?.close();
      lock?.close();
      throw error;
    }
  }

  return retryWhileLocked(open, OPEN_MS, OPEN_PAUSE_MS);
}

/** Creates a file that other users cannot read, as those beside it. */
function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch {
    // It exists, or SQLite says why it cannot be created.
  }
}

function prepareFile(
  connection: SqliteConnection,
  file: string,
  name: string,
  migrations: Migrations<string>,
): void {
  // Before the first page: a purge can give space back.
  if (isEmpty(connection)) connection.exec("PRAGMA auto_vacuum = INCREMENTAL");
  const mode = connection.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
  if (mode !== "wal") throw new Error(`SQLite uses the journal mode ${String(mode)} here.`);
  // fsync of macOS does not wait for the disk.
  connection.exec("PRAGMA fullfsync = ON; PRAGMA synchronous = FULL");
  connection.exec("BEGIN IMMEDIATE");
  // An older SQLite finds from here on that it is not alone.
  assertNoLock(file);
  prepareSchema(connection, file, name, migrations);
  connection.exec("COMMIT");
  // BEGIN IMMEDIATE also succeeds where this process may not write.
  connection.exec("BEGIN; UPDATE queue SET name = name; ROLLBACK");
}

function createDatabase(connection: SqliteConnection, file: string, lock?: SqliteConnection) {
  const wal = `${file}-wal`;
  const inode = inodeOf(file);
  const walInode = inodeOf(wal);
  let isFull = true;
  let isOpen = true;
  return {
    connection,
    /**
     * Runs statements in one transaction, which is rolled back when they throw.
     *
     * @param isDurable whether a power cut after it returns must not undo it.
     */
    transact<Value>(isDurable: boolean, run: () => Value): Value {
      if (isFull !== isDurable) {
        connection.exec(`PRAGMA synchronous = ${isDurable ? "FULL" : "NORMAL"}`);
        isFull = isDurable;
      }
      retryWhileLocked(() => connection.exec("BEGIN IMMEDIATE"));
      try {
        const value = run();
        connection.exec("COMMIT");
        return value;
      } catch (error) {
        rollBack(connection);
        throw error;
      }
    },
    /** Runs statements that write nothing, again while another process opens or closes the file. */
    read: retryWhileLocked,
    /**
     * Asserts that the file and its -wal are in place: SQLite would go on writing to the former ones.
     * If this process closes any descriptor of the file, the locks of SQLite are gone, and the next
     * program that closes it removes the -wal.
     */
    assertInPlace(): void {
      if (inodeOf(file) !== inode) throw new Error(`The file was removed or replaced: ${file}`);
      const inPlace = inodeOf(wal);
      if (inPlace === walInode) return;
      // What was committed since is in the removed -wal alone, unless another program writes by now.
      const isUnused = inPlace === undefined || statSync(wal).size === 0;
      if (isUnused) connection.exec("PRAGMA wal_checkpoint");
      throw new Error(
        `The file was removed or replaced: ${wal}. Another program, or this process itself, opened and closed ${file}`,
      );
    },
    isOpen: () => isOpen,
    close(): void {
      isOpen = false;
      connection.close();
      lock?.close();
    },
  };
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec("ROLLBACK");
  } catch (error) {
    // SQLite itself rolls back when the disk is full or fails.
    if (sqliteCodeOf(error) !== "SQLITE_ERROR") throw error;
  }
}

/**
 * Asserts that a file is an undamaged queue of this name, or empty, or not there. Reads it through a
 * connection that cannot write: another would write the -wal of a killed process into a damaged file.
 */
function assertOwn(file: string, name: string, migrations: Migrations<string>): void {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0) return;
  if (bytes < MIN_DATABASE_BYTES) throw createNoDatabaseError(file);

  function check(connection: SqliteConnection): void {
    // One snapshot: another process may create the tables between two reads.
    connection.exec("BEGIN");
    if (!isNew(connection)) assertSchema(connection, file, name, migrations);
    // Stores would wait for too long.
    if (bytes > MAX_CHECKED_BYTES) return;
    const result = String(connection.prepare("PRAGMA quick_check(1)").get()?.quick_check);
    if (result !== "ok") throw createDamageError(file, result);
  }

  try {
    useConnection(file, { readOnly: true }, check);
  } catch (error) {
    if (sqliteCodeOf(error) !== "SQLITE_READONLY") throw error;
    // A process was killed while it created the file: only a connection that writes undoes that.
    useConnection(file, {}, isEmpty);
    useConnection(file, { readOnly: true }, check);
  }
}
