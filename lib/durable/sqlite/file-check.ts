import { statSync } from "node:fs";
import { QueueError } from "../queue-error";
import { createDamageError, explainErrors } from "./file-error";
import { connect, type Connection } from "./node-sqlite";
import { APPLICATION_ID, SCHEMA_VERSION } from "./schema";

/** A read waits while another process opens or closes the file. */
export const READS_WAIT = "PRAGMA busy_timeout = 500";
/** The whole file is read up to this size; a larger one would delay the start for too long. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024;

/**
 * Asserts that a file is a queue of this name, or empty, or not there. Reads it through a connection
 * that cannot write.
 *
 * @throws QueueError; what SQLite throws.
 */
export function assertOwn(file: string, name: string): void {
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

/**
 * Asserts that an open file is a queue of this name, or empty.
 *
 * @throws QueueError; what SQLite throws.
 */
export function assertSchema(connection: Connection, file: string, name: string): void {
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

/**
 * Asserts that SQLite finds no damage; reads all of a file of up to 64 MiB.
 *
 * @throws QueueError `FILE_DAMAGED`.
 */
export function assertIntact(connection: Connection, file: string): void {
  if (statSync(file).size > MAX_CHECKED_BYTES) return;
  const result = String(connection.prepare("PRAGMA quick_check(1)").get()?.quick_check);
  if (result !== "ok") throw createDamageError(file, result);
}

/** Returns whether an open file has no tables. */
export function isEmpty(connection: Connection): boolean {
  return readNumber(connection, "SELECT count(*) FROM sqlite_schema") === 0;
}

function readNumber(connection: Connection, sql: string): number {
  const [value] = Object.values(connection.prepare(sql).get() ?? {});
  return Number(value);
}
