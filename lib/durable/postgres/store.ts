import { createBacklog } from "../backlog";
import { MAX_CLAIMS, type NewPostgresEvent } from "./job";
import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import type { PostgresOutcomeRow } from "./outcomes";
import type { Server } from "./server";

/**
 * Stores an event and the outcome of its challenge, together with those of other requests that
 * arrive while Postgres is busy: one statement, one commit.
 *
 * @returns the content of the event that was stored before under its uuid, in hexadecimal; undefined
 *   when there was none.
 * @param isWanted called until the event is sent. Once it returns false, the event is dropped, and
 *   the promise never settles.
 */
export type StoreEvent = (
  event: NewPostgresEvent,
  outcome: PostgresOutcomeRow | undefined,
  isWanted: () => boolean,
) => Promise<string | undefined>;

interface PendingEvent {
  event: NewPostgresEvent;
  outcome: PostgresOutcomeRow | undefined;
  isWanted: () => boolean;
  resolve: (stored: string | undefined) => void;
  reject: (error: unknown) => void;
}

interface StoredRow {
  key: Buffer;
  token: string;
  content: Buffer;
}

/** Bounded by the 8,000 bytes of a notification, which has 41 for each outcome. */
const MAX_BATCH = 128;
/** One is written while Postgres runs the other. More would make batches small: commits that notify wait for each other. */
const MAX_RUNNING = 2;
const TIMEOUT_MS = 2_000;

/** Creates the function that stores events. */
export function createStoreEvent(server: Server, settings: PostgresSettings): StoreEvent {
  const text = writeStatement(settings);
  const { name, dedupeTtlMs, outcomeTtlMs } = settings;
  const backlog = createBacklog<PendingEvent>();
  let running = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || running >= MAX_RUNNING || backlog.size() === 0) return;
    isScheduled = true;
    // After all callbacks of this turn: their events share a statement.
    setImmediate(() => void flush());
  }

  async function flush(): Promise<void> {
    isScheduled = false;
    running++;
    const batch = backlog.take(MAX_BATCH);
    try {
      if (batch.length > 0) await storeBatch(batch);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    running--;
    schedule();
  }

  async function storeBatch(batch: readonly PendingEvent[]): Promise<void> {
    const values = [
      batch.map(({ event }) => event.key),
      batch.map(({ event }) => event.content),
      batch.map(({ event }) => event.token),
      batch.map(({ event }) => event.payload),
      batch.map(({ outcome }) => outcome?.key ?? null),
      batch.map(({ outcome }) => outcome?.params ?? null),
      name,
      dedupeTtlMs,
      outcomeTtlMs,
    ];
    const statement = { text, values, name: "push_store" };
    const rows = await server.query<StoredRow>(statement, TIMEOUT_MS);
    const stored = new Map(rows.map((row) => [row.key.toString("hex"), row]));
    for (const pending of batch) {
      const { event, resolve } = pending;
      const row = stored.get(event.key.toString("hex"));
      // Another process stored the uuid after this statement began: the next one sees it.
      if (row === undefined) backlog.addFirst(pending);
      else if (row.token === event.token) resolve(undefined);
      else resolve(row.content.toString("hex"));
    }
  }

  return (event, outcome, isWanted) =>
    new Promise((resolve, reject) => {
      backlog.add({ event, outcome, isWanted, resolve, reject });
      schedule();
    });
}

/**
 * Inserts what is new in the order of the keys: two processes that store the same uuids then wait
 * for each other without a deadlock. An expired row counts as none. Returns the rows that were there,
 * then those that were added in their place.
 */
function writeStatement(settings: PostgresSettings): string {
  const { schema, channel } = namesOf(settings);
  // "is true": as a join, it would compare each row with each.
  const isAdded = "(token in (select token from added)) is true";
  return `
    with input as (
      select * from unnest($1::bytea[], $2::bytea[], $3::uuid[], $4::text[], $5::bytea[], $6::text[])
        with ordinality as row (key, content, token, payload, outcome_key, params, position)
    ), added as (
      insert into ${schema}.push_uuid as stored (key, content, token, expires_at)
      select distinct on (key) key, content, token, now() + $8::bigint * interval '1 millisecond'
      from input order by key, position
      on conflict (key) do update
        set content = excluded.content, token = excluded.token, expires_at = excluded.expires_at
        where stored.expires_at <= now()
      returning key, content, token
    ), jobs as (
      select ${schema}.add_jobs(array_agg(
        ($7, payload::json, null, null, ${MAX_CLAIMS}, token::text, null, null)::${schema}.job_spec
        order by position
      )) as job
      from input where ${isAdded} having count(*) > 0
    ), recorded as (
      insert into ${schema}.push_outcome as stored (key, params, expires_at)
      select distinct on (outcome_key) outcome_key, params, now() + $9::bigint * interval '1 millisecond'
      from input where outcome_key is not null and ${isAdded}
      order by outcome_key, position
      on conflict (key) do update set params = excluded.params, expires_at = excluded.expires_at
        where stored.expires_at <= now()
      returning key
    ), notified as (
      select pg_notify('${channel}', string_agg(encode(key, 'hex'), ',')) from recorded
      having count(*) > 0
    )
    select key, token, content, 0 as jobs, 0 as notified
    from ${schema}.push_uuid where key = any($1)
    union all
    select key, token, content, (select count(*) from jobs), (select count(*) from notified)
    from added`;
}
