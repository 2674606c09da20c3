import { statSync } from "node:fs";
import { QueueError } from "../queue-error";
import { createDamageError, createNoDatabaseError } from "./file-error";
import { connect, sqliteCodeOf, type SqliteConnection } from "./node-sqlite";
import { APPLICATION_ID, SCHEMA_VERSION } from "./schema";

/** Checking this much takes 1 to 2 s from a local SSD, and 4 s from a disk that reads 125 MB/s. */
const MAX_CHECKED_BYTES = 512 * 1024 * 1024;
/** The size of the smallest page of SQLite. It takes some shorter files for empty databases. */
const MIN_DATABASE_BYTES = 512;

/**
 * Asserts that a file is a queue of this name, or empty, or not there, and that SQLite finds no
 * damage in it, up to 512 MiB. Reads it through a connection that cannot write: closing another one
 * would write the -wal of a killed process into a damaged file.
 *
 * @throws QueueError; the errors of SQLite.
 */
export function assertOwn(file: string, name: string): void {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0) return;
  if (bytes < MIN_DATABASE_BYTES) throw createNoDatabaseError(file);

  function check(connection: SqliteConnection): void {
    // One snapshot: another process may create the tables between two reads.
    connection.exec("BEGIN");
    assertSchema(connection, file, name);
    // Checking a larger one would keep stores waiting for too long.
    if (bytes > MAX_CHECKED_BYTES) return;
    const result = String(connection.prepare("PRAGMA quick_check(1)").get()?.quick_check);
    if (result !== "ok") throw createDamageError(file, result);
  }

  try {
    useConnection(file, { readOnly: true }, check);
  } catch (error) {
    if (sqliteCodeOf(error) !== "SQLITE_READONLY") throw error;
    // A process was killed while it created the file: only a connection that may write undoes that.
    useConnection(file, {}, isEmpty);
    useConnection(file, { readOnly: true }, check);
  }
}

function useConnection(
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

/**
 * Asserts that an open file is a queue of this name, or empty.
 *
 * @throws QueueError; the errors of SQLite.
 */
export function assertSchema(connection: SqliteConnection, file: string, name: string): void {
  const applicationId = readNumber(connection, "PRAGMA application_id");
  const version = readNumber(connection, "PRAGMA user_version");
  const isOwn = applicationId === APPLICATION_ID;
  if ((isOwn || applicationId === 0) && version === 0 && isEmpty(connection)) return;
  if (!isOwn) {
    throw new QueueError(
      "FILE_FOREIGN",
      `sqliteQueue: ${file} is a database of another program. Pass the path of a file of its own.`,
    );
  }
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

/** Returns whether an open file has no tables. */
export function isEmpty(connection: SqliteConnection): boolean {
  return readNumber(connection, "SELECT count(*) FROM sqlite_schema") === 0;
}

function readNumber(connection: SqliteConnection, sql: string): number {
  const [value] = Object.values(connection.prepare(sql).get() ?? {});
  return Number(value);
}
