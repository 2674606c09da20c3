/**
 * What `pg` alone does with the rows that the queue in Postgres stores: all that arrives in a turn of
 * the event loop is one statement. No deadline, no retry, no conflict, no outcome.
 */
import { Pool } from "pg";
import type { QueuedEvent } from "express-push-verification";
import { postgresQueue } from "express-push-verification/durable";
import { toNewPostgresEvent, type NewPostgresEvent } from "../../lib/durable/postgres/job";
import { resolvePostgresOptions } from "../../lib/durable/postgres/options";

/** Stores rows in the schema of a queue of its own. */
export interface BareStore {
  toRow(event: QueuedEvent): NewPostgresEvent;
  store(row: NewPostgresEvent): Promise<void>;
  close(): Promise<void>;
}

const NAME = "bare";
const STATEMENT = `
  with input as (
    select * from unnest($1::bytea[], $2::bytea[], $3::uuid[], $4::text[])
      as row (key, content, token, payload)
  ), added as (
    insert into ${NAME}.push_uuid (key, content, token, expires_at)
    select key, content, token, now() + interval '1 day' from input
    on conflict do nothing returning token
  ), jobs as (
    select ${NAME}.add_jobs(array_agg((
      '${NAME}', payload::json, null, null, 25, token::text, null, null
    )::${NAME}.job_spec)) from input where (token in (select token from added)) is true
  )
  select token, (select count(*) from jobs) from added`;

/** Creates the schema and opens the store. */
export async function openBareStore(connection: string): Promise<BareStore> {
  const options = { name: NAME, schema: NAME, connection };
  const queue = postgresQueue(options);
  await queue.ready();
  await queue.close();
  const settings = resolvePostgresOptions(options);
  const pool = new Pool({ connectionString: connection, max: 10 });
  let turn: { rows: NewPostgresEvent[]; stored: Promise<void> } | undefined;

  async function storeTurn(rows: readonly NewPostgresEvent[]): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    turn = undefined;
    const values = [
      rows.map(({ key }) => key),
      rows.map(({ content }) => content),
      rows.map(({ token }) => token),
      rows.map(({ payload }) => payload),
    ];
    const { rowCount } = await pool.query({ text: STATEMENT, values, name: "store" });
    if (rowCount !== rows.length) throw new Error("A row was there before.");
  }

  return {
    toRow: (event) => toNewPostgresEvent(event, settings),
    store(row) {
      if (turn === undefined) {
        const rows: NewPostgresEvent[] = [];
        turn = { rows, stored: storeTurn(rows) };
      }
      turn.rows.push(row);
      return turn.stored;
    },
    close: () => pool.end(),
  };
}
