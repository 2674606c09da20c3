import { createDeadLetter, type DeadLetterOptions } from "../dead-letter";
import type { LetterOperations } from "../durable-queue";
import { parseJson } from "../../form/json";
import { chooseLetters, createAmbiguityError } from "../letter-choice";
import { MAX_CLAIMS } from "./job";
import { hashQueueKey, namesOf } from "./names";
import type { PostgresSettings } from "./options";
import type { Statement } from "./server";

/** Runs a statement, and again while Postgres does not. */
type Query = <Row extends object>(statement: Statement) => Promise<Row[]>;

interface SelectedLetter {
  id: string;
  event: string;
  error: string;
  started: number;
  failed_at: Date;
}

const PAGE = 100;

/** Creates the view of the dead letters of a queue. */
export function createPostgresLetters(query: Query, settings: PostgresSettings): LetterOperations {
  const { schema } = namesOf(settings);
  const { name } = settings;
  /** Turns the letters that a condition selects into jobs; returns their number. */
  const writeRetry = (condition: string) => `
    with removed as (
      delete from ${schema}.push_letter where id = any(array(${condition})) returning id, event
    ), jobs as (
      select ${schema}.add_jobs(array_agg((
        $1, ('{"event":' || event || ',"failures":0,"started":0}')::json, null, null,
        ${MAX_CLAIMS}, gen_random_uuid()::text, null, null
      )::${schema}.job_spec order by id)) from removed having count(*) > 0
    )
    select count(*)::int as count, (select count(*) from jobs) as jobs from removed`;

  async function findLetters(
    method: "retry" | "discard",
    uuid: string,
    options: DeadLetterOptions = {},
  ): Promise<string[]> {
    const rows = await query<Pick<SelectedLetter, "id" | "event">>({
      text: `select id, event from ${schema}.push_letter where key = $1`,
      values: [hashLetter(uuid, settings)],
    });
    const chosen = chooseLetters(rows, ({ event }) => parseJson(event), options);
    if (chosen === undefined) throw createAmbiguityError(method);
    return chosen.map(({ id }) => id);
  }

  return {
    async *deadLetters() {
      // What fails from now on is left out: a letter that is retried meanwhile is listed once.
      const [last] = await query<{ id: string | null }>({
        text: `select max(id) as id from ${schema}.push_letter where queue = $1`,
        values: [name],
      });
      const untilId = last?.id ?? "0";
      let after = { at: "-infinity", id: "0" };
      for (;;) {
        const rows = await query<SelectedLetter & { at: string }>({
          text: `select id, event, error, started, failed_at, failed_at::text as at
            from ${schema}.push_letter
            where queue = $1 and (failed_at, id) > ($2::timestamptz, $3::bigint) and id <= $4
            order by failed_at, id limit ${PAGE}`,
          values: [name, after.at, after.id, untilId],
        });
        for (const { event, error, started, failed_at } of rows) {
          const reason = JSON.parse(error) as string;
          const failure = { error: reason, attempts: started, failedAt: failed_at };
          yield createDeadLetter(parseJson(event), failure);
        }
        const end = rows.at(-1);
        if (end === undefined) return;
        after = end;
      }
    },
    async retry(uuid, options) {
      const ids = await findLetters("retry", uuid, options);
      if (ids.length === 0) return false;
      const text = writeRetry("select unnest($2::bigint[])");
      return countOf(await query<{ count: number }>({ text, values: [name, ids] })) > 0;
    },
    async retryAll() {
      const condition = `select id from ${schema}.push_letter
        where queue = $1 and failed_at <= $2 order by failed_at, id
        limit ${PAGE} for update skip locked`;
      const text = writeRetry(condition);
      const [clock] = await query<{ now: Date }>({
        text: "select clock_timestamp() + interval '1 millisecond' as now",
      });
      let total = 0;
      for (;;) {
        const rows = await query<{ count: number }>({ text, values: [name, clock?.now] });
        if (countOf(rows) === 0) return total;
        total += countOf(rows);
      }
    },
    async discard(uuid, options) {
      const ids = await findLetters("discard", uuid, options);
      const text = `with removed as (
          delete from ${schema}.push_letter where id = any($1::bigint[]) returning id
        ) select count(*)::int as count from removed`;
      return ids.length > 0 && countOf(await query<{ count: number }>({ text, values: [ids] })) > 0;
    },
  };
}

function countOf(rows: { count: number }[]): number {
  return rows[0]?.count ?? 0;
}

/** Returns the key that the dead letters of a uuid have. */
export function hashLetter(uuid: string, settings: PostgresSettings): Buffer {
  return hashQueueKey(settings, `letter:${uuid}`);
}
