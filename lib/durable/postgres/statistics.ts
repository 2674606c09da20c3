import type { QueueStats } from "../durable-queue";
import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import type { Statement } from "./server";

/** Writes the statement that counts the events of a queue; its one row is a `QueueStats`. */
export function writeStatistics(settings: PostgresSettings): Statement {
  const { schema, lockClass } = namesOf(settings);
  // Without a key: a job that was replaced or set aside, about to be removed.
  const text = `
    select
      count(*) filter (where locked_at is null and run_at <= now())::int as waiting,
      count(*) filter (where locked_at is not null)::int as active,
      count(*) filter (where locked_at is null and run_at > now())::int as delayed,
      (select count(*)::int from ${schema}.push_letter where queue = $1) as "deadLetters",
      coalesce(round(extract(epoch from now() - min(run_at)
        filter (where locked_at is null and run_at <= now())) * 1000), 0)::int as "oldestWaitingMs",
      (select count(*)::int from pg_locks where locktype = 'advisory' and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())
        and classid = $2::bigint::oid) as workers
    from ${schema}.jobs where task_identifier = $1 and key is not null`;
  return { text, values: [settings.name, lockClass] };
}

/** The row of {@link writeStatistics}. */
export type StatisticsRow = Required<QueueStats>;
