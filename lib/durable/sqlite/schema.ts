import type { Migrations } from "../event-migration";
import { QueueError } from "../queue-error";
import {
  createFormat,
  planMigration,
  readFormat,
  type MigrationPlan,
  type StoreFormat,
} from "../store-migration";
import type { SqliteConnection } from "./node-sqlite";
import { NO_FAILURE } from "../storage";

/** Marks a file as a queue of this package: "push" in ASCII. */
const APPLICATION_ID = 0x70757368;

/** The changes of the tables since the first format; the number is the `user_version` of the file. */
export const MIGRATIONS: Migrations<string> = {};

/**
 * The tables of a queue. Ids are never reused (AUTOINCREMENT): a late report cannot meet another event,
 * and an outcome is newer if its id is greater.
 *
 * - queue: its name, the key of its pseudonyms, and a part of its `StoreFormat`.
 * - delivery: the uuids. `key` is a hash of account and uuid.
 * - event: events to be handled, and dead letters, which have `failed_at`, `failure` and `person`. `id` is
 *   also the id of its delivery, `owner` the member that runs its handlers, `pause` a part of `run_at`.
 * - member: workers and processes, with their last beat, and since when they beat without a gap.
 * - entry: the journal. Each `kind` has a bound, which its shares divide.
 * - minute: its counters, of the minute that begins `at`.
 */
export const SCHEMA = `
  CREATE TABLE queue (
    name TEXT NOT NULL,
    events INTEGER NOT NULL,
    written_by TEXT NOT NULL,
    secret TEXT
  ) STRICT;
  CREATE TABLE delivery (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL UNIQUE,
    content BLOB NOT NULL,
    is_discarded INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX delivery_expires_at ON delivery (expires_at);
  CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    uuid_hash BLOB NOT NULL,
    body TEXT NOT NULL,
    run_at INTEGER NOT NULL,
    pause INTEGER NOT NULL DEFAULT 0,
    owner INTEGER,
    started INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    stalls INTEGER NOT NULL DEFAULT 0,
    failed_at INTEGER,
    errors TEXT,
    failure TEXT NOT NULL DEFAULT '${NO_FAILURE}',
    person TEXT
  ) STRICT;
  CREATE INDEX event_due ON event (run_at, id) WHERE owner IS NULL AND failed_at IS NULL;
  CREATE INDEX event_owner ON event (owner) WHERE owner IS NOT NULL;
  CREATE INDEX event_failed ON event (failed_at, id) WHERE failed_at IS NOT NULL;
  CREATE INDEX event_failure ON event (failure, failed_at, id, person) WHERE failed_at IS NOT NULL;
  CREATE INDEX event_failed_uuid ON event (uuid_hash) WHERE failed_at IS NOT NULL;
  CREATE TABLE outcome (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL UNIQUE,
    value TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX outcome_expires_at ON outcome (expires_at);
  CREATE TABLE member (
    id INTEGER PRIMARY KEY,
    is_worker INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    since INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE entry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    share TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX entry_share ON entry (kind, share, id);
  CREATE TABLE minute (
    at INTEGER NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (at, name)
  ) STRICT, WITHOUT ROWID;
`;

/** Creates the tables of an empty file, and migrates the tables of a former version. */
export function prepareSchema(
  connection: SqliteConnection,
  file: string,
  name: string,
  migrations: Migrations<string>,
): void {
  if (isEmpty(connection)) {
    connection.exec(SCHEMA);
    connection.prepare("INSERT INTO queue (name, events, written_by) VALUES (?, 0, '')").run(name);
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    writeFormat(connection, createFormat(migrations));
  }
  const { steps, format } = assertSchema(connection, file, name, migrations);
  for (const step of steps) connection.exec(step);
  if (format !== undefined) writeFormat(connection, format);
}

/** Asserts that an open file is a queue of this name; returns how to migrate it. */
export function assertSchema(
  connection: SqliteConnection,
  file: string,
  name: string,
  migrations: Migrations<string>,
): MigrationPlan<string> {
  if (readNumber(connection, "PRAGMA application_id") !== APPLICATION_ID) {
    throw new QueueError(
      "FILE_FOREIGN",
      `sqliteQueue: ${file} is a database of another program. Pass the path of a file of its own.`,
    );
  }
  // Before the first format, its columns are missing.
  const { name: owner, ...row } = connection.prepare("SELECT * FROM queue").get() ?? {};
  const store = { engine: "FILE", what: `sqliteQueue: ${file}` } as const;
  const schema = readNumber(connection, "PRAGMA user_version");
  const format = readFormat(schema, row.events, row.written_by);
  const plan = planMigration(store, format, migrations);
  if (owner === name) return plan;
  throw new QueueError(
    "FILE_FOREIGN",
    `sqliteQueue: ${file} holds the queue ${JSON.stringify(owner)}; received the name ${JSON.stringify(name)}. Pass a file for each queue.`,
  );
}

/** Returns whether nothing was stored in a file. */
export function isNew(connection: SqliteConnection): boolean {
  const applicationId = readNumber(connection, "PRAGMA application_id");
  if (applicationId !== APPLICATION_ID && applicationId !== 0) return false;
  return readNumber(connection, "PRAGMA user_version") === 0 && isEmpty(connection);
}

function writeFormat(connection: SqliteConnection, { schema, events, writtenBy }: StoreFormat) {
  connection.exec(`PRAGMA user_version = ${schema}`);
  connection.prepare("UPDATE queue SET events = ?, written_by = ?").run(events, writtenBy);
}

/** Returns whether a file has no tables. */
export function isEmpty(connection: SqliteConnection): boolean {
  return readNumber(connection, "SELECT count(*) FROM sqlite_schema") === 0;
}

function readNumber(connection: SqliteConnection, sql: string): number {
  const [value] = Object.values(connection.prepare(sql).get() ?? {});
  return Number(value);
}
