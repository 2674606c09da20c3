import type { Client } from "pg";
import { Logger, runMigrations } from "graphile-worker";
import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import { QueueError } from "../queue-error";
import type { Server } from "./server";

/** The version of the tables and indexes below. */
const SCHEMA_VERSION = 1;
/** How long the indexes of a new queue wait for other users of Graphile Worker, who then wait, too. */
const LOCK_TIMEOUT_MS = 1_000;

/** Graphile Worker logs the payloads of jobs, which hold identities. */
export const SILENT = new Logger(() => () => {});

/**
 * The tables of this package, beside those of Graphile Worker, whose jobs are the events to handle.
 *
 * - push_uuid: the dedupe memory. `key` is a hash of queue, account and uuid, `content` of the
 *   parameters, `token` of the request that stored it.
 * - push_letter: the dead letters.
 * - push_process: when a process with workers registered last. It is alive if that was lately, and it
 *   holds an advisory lock: a process that hangs keeps the lock, one that is killed loses it at once.
 * - push_lane: under which names a process takes jobs.
 */
const createTables = (schema: string) => `
  create table ${schema}.push_version (version int not null);
  insert into ${schema}.push_version values (${SCHEMA_VERSION});
  create table ${schema}.push_uuid (
    key bytea primary key,
    content bytea not null,
    token uuid not null,
    expires_at timestamptz not null
  );
  create index push_uuid_expires_at on ${schema}.push_uuid (expires_at);
  create table ${schema}.push_outcome (
    key bytea primary key,
    params text not null,
    expires_at timestamptz not null
  );
  create index push_outcome_expires_at on ${schema}.push_outcome (expires_at);
  create table ${schema}.push_letter (
    id bigint primary key generated always as identity,
    queue text not null,
    key bytea not null,
    event text not null,
    error text not null,
    started int not null,
    failed_at timestamptz not null
  );
  create index push_letter_failed_at on ${schema}.push_letter (queue, failed_at, id);
  create index push_letter_key on ${schema}.push_letter (key);
  create table ${schema}.push_process (
    owner int primary key,
    queue text not null,
    seen_at timestamptz not null
  );
  create table ${schema}.push_lane (
    id text primary key,
    queue text not null,
    owner int not null
  );
`;

/**
 * Indexes of the jobs of Graphile Worker, which it would read one by one: to find the next job of a
 * queue among those of all queues, and those that are locked among all.
 */
const createIndexes = (schema: string) => `
  create index push_job_task on ${schema}._private_jobs (task_id, priority, run_at)
    where is_available;
  create index push_job_locked_by on ${schema}._private_jobs (locked_by)
    where locked_by is not null;
  create index push_job_locked_at on ${schema}._private_jobs (locked_at)
    where locked_at is not null;
`;

/**
 * Creates the schema, or brings it up to date; needs no privilege for a schema that is.
 *
 * @throws QueueError when a newer version of this package wrote it; what pg throws.
 */
export async function prepareSchema(
  client: Client,
  { pool }: Server,
  settings: PostgresSettings,
): Promise<void> {
  const { schema, schemaLockClass } = namesOf(settings);
  await client.query("select pg_advisory_lock($1, 0)", [schemaLockClass]);
  try {
    const version = await readVersion(client, schema);
    if (version > SCHEMA_VERSION) {
      throw new QueueError(
        "POSTGRES_NEWER",
        `postgresQueue: the schema ${schema} has version ${version}; this version of the package reads up to ${SCHEMA_VERSION}. Update the package.`,
      );
    }
    await runMigrations({ pgPool: pool, schema: settings.schema, logger: SILENT, taskList: {} });
    if (version === 0) {
      await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS};
        ${createTables(schema)} ${createIndexes(schema)} commit`);
    }
  } finally {
    await client.query("select pg_advisory_unlock($1, 0)", [schemaLockClass]);
  }
}

/** Returns 0 for a schema that this package has not written to. */
async function readVersion(client: Client, schema: string): Promise<number> {
  const found = await client.query<{ name: string | null }>(
    "select to_regclass($1)::text as name",
    [`${schema}.push_version`],
  );
  if ((found.rows[0]?.name ?? null) === null) return 0;
  const { rows } = await client.query<{ version: number }>(
    `select max(version) as version from ${schema}.push_version`,
  );
  return rows[0]?.version ?? 0;
}
