import { statSync } from "node:fs";
import { connect, sqliteCodeOf, type Connection } from "./node-sqlite";
import { QueueError } from "../queue-error";
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from "./schema";

/** A queue's open file. */
export interface Database {
  connection: Connection;
  /**
   * Runs statements in one transaction, which is rolled back when they throw.
   *
   * @param isDurable whether a power cut after it returns must not undo it.
   */
  transact<Value>(isDurable: boolean, run: () => Value): Value;
  /**
   * Asserts that the file was neither removed nor replaced: SQLite would go on writing to the
   * former one.
   */
  assertInPlace(): void;
}

/** From this version on, SQLite has no WAL-reset bug: it loses commits of concurrent processes. */
const FIRST_SHARING = [3, 51, 3] as const;
const BUSY_MS = 5_000;
/** A read waits while another process opens or closes the file. */
const READS_WAIT = "PRAGMA busy_timeout = 500";
/** The whole file is read up to this size; a larger one would delay the start for too long. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024;

const sleepCell = new Int32Array(new SharedArrayBuffer(4));

/**
 * Opens the file of a queue, or creates it. A file of anything else is not changed.
 *
 * @throws QueueError; what SQLite throws.
 */
export function openDatabase(file: string, name: string): Database {
  assertOwn(file, name);
  const connection = connect(file);
  try {
    return prepareDatabase(connection, file, name);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Reads what is there through a connection that cannot write. */
function assertOwn(file: string, name: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  explainErrors(file, () => {
    const connection = connect(file, { readOnly: true });
    try {
      connection.exec(READS_WAIT);
      // One snapshot: another process may create the tables between two reads.
      connection.exec("BEGIN");
      assertSchema(connection, file, name);
    } finally {
      connection.close();
    }
  });
}

function assertSchema(connection: Connection, file: string, name: string): void {
  const applicationId = readNumber(connection, "PRAGMA application_id");
  if (applicationId === 0 && isEmpty(connection)) return;
  if (applicationId !== APPLICATION_ID) {
    throw new QueueError(
      "FILE_FOREIGN",
      `sqliteQueue: ${file} is a database of another program. Pass the path of a file of its own.`,
    );
  }
  const version = readNumber(connection, "PRAGMA user_version");
  if (version > SCHEMA_VERSION) {
    throw new QueueError(
      "FILE_NEWER",
      `sqliteQueue: ${file} has schema version ${version}; this version of the package reads up to ${SCHEMA_VERSION}. Update the package.`,
    );
  }
  const owner = String(connection.prepare("SELECT name FROM queue").get()?.name);
  if (owner === name) return;
  throw new QueueError(
    "FILE_FOREIGN",
    `sqliteQueue: ${file} holds the queue ${JSON.stringify(owner)}; received the name ${JSON.stringify(name)}. Pass a file for each queue.`,
  );
}

function prepareDatabase(connection: Connection, file: string, name: string): Database {
  explainErrors(file, () => {
    connection.exec(READS_WAIT);
    // Reads the file, too: SQLite reads the schema before the first statement.
    const version = String(connection.prepare("SELECT sqlite_version() AS version").get()?.version);
    if (!canShare(version)) connection.exec("PRAGMA locking_mode = EXCLUSIVE");
    // SQLite does not wait for the lock here when another process opens the file, too.
    const mode = retryWhileLocked(
      () => connection.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode,
    );
    if (mode !== "wal") throw new Error(`SQLite uses the journal mode ${String(mode)} here.`);
    // fsync of macOS does not wait for the disk.
    connection.exec("PRAGMA fullfsync = ON; PRAGMA synchronous = FULL");
    connection.exec("BEGIN IMMEDIATE");
    if (isEmpty(connection)) create(connection, name);
    connection.exec("COMMIT");
    assertSchema(connection, file, name);
    assertIntact(connection, file);
  });
  const { ino } = statSync(file);
  let isFull = true;
  return {
    connection,
    transact(isDurable, run) {
      if (isFull !== isDurable) {
        connection.exec(`PRAGMA synchronous = ${isDurable ? "FULL" : "NORMAL"}`);
        isFull = isDurable;
      }
      begin(connection);
      try {
        const value = run();
        connection.exec("COMMIT");
        return value;
      } catch (error) {
        rollBack(connection);
        throw error;
      }
    },
    assertInPlace() {
      if (statSync(file, { throwIfNoEntry: false })?.ino === ino) return;
      throw new Error(`The file of the queue was removed or replaced: ${file}`);
    },
  };
}

/** Begins a transaction that writes. */
function begin(connection: Connection): void {
  connection.exec("PRAGMA busy_timeout = 0");
  try {
    retryWhileLocked(() => connection.exec("BEGIN IMMEDIATE"));
  } finally {
    connection.exec(READS_WAIT);
  }
}

/**
 * Repeats a step while another process holds the lock, in pauses below 1 ms: those of SQLite grow to
 * 100 ms, while a transaction of another process takes one fsync.
 */
function retryWhileLocked<Value>(run: () => Value): Value {
  const deadlineMs = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return run();
    } catch (error) {
      if (sqliteCodeOf(error) !== "SQLITE_BUSY" || performance.now() > deadlineMs) throw error;
    }
    Atomics.wait(sleepCell, 0, 0, 0.2 + Math.random() * 0.6);
  }
}

function rollBack(connection: Connection): void {
  try {
    connection.exec("ROLLBACK");
  } catch (error) {
    // SQLite itself rolls back when the disk is full or fails.
    if (!/no transaction is active/.test((error as Error).message)) throw error;
  }
}

function create(connection: Connection, name: string): void {
  connection.exec(SCHEMA);
  connection.prepare("INSERT INTO queue (name) VALUES (?)").run(name);
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}

function assertIntact(connection: Connection, file: string): void {
  if (statSync(file).size > MAX_CHECKED_BYTES) return;
  const result = String(connection.prepare("PRAGMA quick_check(1)").get()?.quick_check);
  if (result !== "ok") throw damagedError(file, result);
}

function isEmpty(connection: Connection): boolean {
  return readNumber(connection, "SELECT count(*) FROM sqlite_schema") === 0;
}

function readNumber(connection: Connection, sql: string): number {
  const [value] = Object.values(connection.prepare(sql).get() ?? {});
  return Number(value);
}

/** Replaces what SQLite throws for a file that it cannot read by an error that names the file. */
function explainErrors(file: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    const code = sqliteCodeOf(error);
    if (code === "SQLITE_NOTADB") {
      const message = `sqliteQueue: ${file} is not a SQLite database, or its header is damaged. Pass the path of a file of its own.`;
      throw new QueueError("FILE_FOREIGN", message);
    }
    if (code === "SQLITE_CORRUPT") throw damagedError(file, (error as Error).message);
    if (code === "SQLITE_BUSY") {
      const version = process.versions.sqlite ?? "";
      const hint = canShare(version)
        ? "It runs on an older Node.js, or is no queue."
        : `SQLite ${version} of this Node.js cannot share a file: its WAL-reset bug would lose events. Run one process, or Node.js with SQLite ${FIRST_SHARING.join(".")} or newer.`;
      const message = `sqliteQueue: another process has ${file} open and does not share it. ${hint}`;
      throw new QueueError("FILE_IN_USE", message);
    }
    throw error;
  }
}

function damagedError(file: string, detail: string): QueueError {
  return new QueueError(
    "FILE_DAMAGED",
    `sqliteQueue: ${file} is damaged (${detail.split("\n", 1)[0]}). Restore a backup, or move it and its -wal away to start with an empty queue.`,
  );
}

function canShare(version: string): boolean {
  const parts = version.split(".").map(Number);
  for (const [index, wanted] of FIRST_SHARING.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}
