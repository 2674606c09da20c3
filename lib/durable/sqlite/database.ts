import { statSync } from "node:fs";
import { assertOwn, assertSchema, isEmpty } from "./file-check";
import { canShare, connect, retryWhileLocked, type SqliteConnection } from "./node-sqlite";
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from "./schema";

/** As long as a former process may take to close. */
const OPEN_MS = 12_000;
const OPEN_PAUSE_MS = 50;

/** A queue's open file. */
export type Database = ReturnType<typeof createDatabase>;

/**
 * Opens the file of a queue, or creates it. A file of anything else is not changed.
 *
 * @param busyMs how long to wait for a file that another process has locked.
 * @throws QueueError; the errors of SQLite.
 */
export function openDatabase(file: string, name: string, busyMs = OPEN_MS): Database {
  function open(): Database {
    assertOwn(file, name);
    const connection = connect(file);
    try {
      prepareFile(connection, file, name);
      return createDatabase(connection, file);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  return retryWhileLocked(open, busyMs, OPEN_PAUSE_MS);
}

function prepareFile(connection: SqliteConnection, file: string, name: string): void {
  // Reads the file, too: SQLite reads the schema before the first statement.
  const version = String(connection.prepare("SELECT sqlite_version() AS version").get()?.version);
  if (!canShare(version)) connection.exec("PRAGMA locking_mode = EXCLUSIVE");
  const mode = connection.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
  if (mode !== "wal") throw new Error(`SQLite uses the journal mode ${String(mode)} here.`);
  // fsync of macOS does not wait for the disk.
  connection.exec("PRAGMA fullfsync = ON; PRAGMA synchronous = FULL");
  connection.exec("BEGIN IMMEDIATE");
  if (isEmpty(connection)) create(connection, name);
  connection.exec("COMMIT");
  assertSchema(connection, file, name);
}

function createDatabase(connection: SqliteConnection, file: string) {
  const { ino } = statSync(file);
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
    /** Runs statements that write nothing; again while another process opens or closes the file. */
    read: retryWhileLocked,
    /**
     * Asserts that the file was neither removed nor replaced: SQLite would go on writing to the
     * former one.
     */
    assertInPlace(): void {
      if (statSync(file, { throwIfNoEntry: false })?.ino === ino) return;
      throw new Error(`The file was removed or replaced: ${file}`);
    },
    isOpen: () => isOpen,
    close(): void {
      isOpen = false;
      connection.close();
    },
  };
}

function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec("ROLLBACK");
  } catch (error) {
    // SQLite itself rolls back when the disk is full or fails.
    if (!/no transaction is active/.test((error as Error).message)) throw error;
  }
}

function create(connection: SqliteConnection, name: string): void {
  connection.exec(SCHEMA);
  connection.prepare("INSERT INTO queue (name) VALUES (?)").run(name);
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}
