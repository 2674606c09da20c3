import type { Client } from "pg";
import { QueueError } from "../queue-error";
import type { PostgresSettings } from "./options";

/** The version of the tables below. */
const SCHEMA_VERSION = 2;

/**
 * The tables of the queues of a schema. Hashes are of type uuid, 16 bytes; times are milliseconds of
 * the clock of Postgres.
 *
 * - delivery: the dedupe memory. `key` is a hash of queue, account and uuid.
 * - event: what is still to be handled, and the dead letters, which have a `failed_at`. `owner` is
 *   the member that runs its handlers.
 * - member: the workers and processes that use a queue, with the time of their last beat, and since
 *   when they have beaten without a gap.
 */
const createTables = (schema: string) => `
  create table ${schema}.version (version int not null);
  insert into ${schema}.version values (${SCHEMA_VERSION});
  create table ${schema}.queue (
    id int primary key generated always as identity,
    name text not null unique
  );
  create table ${schema}.delivery (
    key uuid primary key,
    content uuid not null,
    expires_at bigint not null
  );
  create index delivery_expires_at on ${schema}.delivery (expires_at);
  create table ${schema}.event (
    id bigint primary key generated always as identity,
    queue int not null,
    started int not null default 0,
    failures int not null default 0,
    stalls int not null default 0,
    run_at bigint not null,
    owner bigint,
    failed_at bigint,
    uuid_hash uuid not null,
    body text not null,
    error text
  );
  create index event_due on ${schema}.event (queue, run_at, id)
    where owner is null and failed_at is null;
  create index event_owner on ${schema}.event (owner) where owner is not null;
  create index event_failed on ${schema}.event (queue, failed_at, id) where failed_at is not null;
  create index event_failed_uuid on ${schema}.event (uuid_hash) where failed_at is not null;
  create table ${schema}.outcome (
    key uuid primary key,
    params text not null,
    expires_at bigint not null
  );
  create index outcome_expires_at on ${schema}.outcome (expires_at);
  create table ${schema}.member (
    id bigint primary key,
    queue int not null,
    is_worker boolean not null,
    seen_at bigint not null,
    since bigint not null
  );
`;

/**
 * Creates the schema if it is missing; needs no privilege for one that is there.
 *
 * @returns the number of the queue in its schema.
 * @throws QueueError for a schema of another version or of the former engine; what pg throws.
 */
export async function prepareSchema(
  client: Client,
  { name, schema }: PostgresSettings,
): Promise<number> {
  await client.query("begin");
  try {
    // Processes that start at a time wait for the first one.
    await client.query("select pg_advisory_xact_lock(hashtext($1))", [`push ${schema}`]);
    if (await isFormerSchema(client, schema)) throw createFormerError(schema);
    const version = await readVersion(client, schema);
    if (version > SCHEMA_VERSION) throw createNewerError(schema, version);
    if (version === 0) await createSchema(client, schema);
    const number = await findQueue(client, schema, name);
    await client.query("commit");
    return number;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

async function createSchema(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query("select from pg_namespace where nspname = $1", [schema]);
  if (rows.length === 0) await client.query(`create schema "${schema}"`);
  await client.query(createTables(`"${schema}"`));
}

async function findQueue(client: Client, schema: string, name: string): Promise<number> {
  const table = `"${schema}".queue`;
  const select = `select id from ${table} where name = $1`;
  const found = await client.query<{ id: number }>(select, [name]);
  if (found.rows[0] !== undefined) return found.rows[0].id;
  const insert = `insert into ${table} (name) values ($1) returning id`;
  const added = await client.query<{ id: number }>(insert, [name]);
  return added.rows[0]?.id ?? 0;
}

async function isFormerSchema(client: Client, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ name: string | null }>(
    "select to_regclass($1)::text as name",
    [`"${schema}".push_version`],
  );
  return (rows[0]?.name ?? null) !== null;
}

/** Returns 0 for a schema that this package has not written to. */
async function readVersion(client: Client, schema: string): Promise<number> {
  const table = `"${schema}".version`;
  const found = await client.query<{ name: string | null }>(
    "select to_regclass($1)::text as name",
    [table],
  );
  if ((found.rows[0]?.name ?? null) === null) return 0;
  const { rows } = await client.query<{ version: number }>(
    `select max(version) as version from ${table}`,
  );
  return rows[0]?.version ?? 0;
}

function createFormerError(schema: string): QueueError {
  return new QueueError(
    "POSTGRES_REJECTED",
    `postgresQueue: the schema ${schema} holds a queue of the former engine, which used Graphile Worker. Let the version that wrote it handle its events; then drop the schema (drop schema ${schema} cascade), or pass another one with the option schema.`,
  );
}

function createNewerError(schema: string, version: number): QueueError {
  return new QueueError(
    "POSTGRES_NEWER",
    `postgresQueue: the schema ${schema} has version ${version}; this version of the package reads up to ${SCHEMA_VERSION}. Update the package.`,
  );
}
