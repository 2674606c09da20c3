import type { QueueStats } from "../durable-queue";
import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import { LONGEST_ABSENCE_MS, LONGEST_SILENCE_MS, writeIsRecent, writeLocks } from "./process-table";
import type { Statement } from "./server";

/** Other processes release the events of a process that registered longer ago. */
const MAX_AGE_MS = LONGEST_SILENCE_MS + LONGEST_ABSENCE_MS;

/** Writes the statement that counts the events of a queue; its one row is a `QueueStats`. */
export function writeStatistics(settings: PostgresSettings): Statement {
  const { schema, lockClass } = namesOf(settings);
  // A job without a key was replaced or set aside, and is about to be removed. A process that is not
  // registered yet has just started its workers.
  const text = `
    select
      count(*) filter (where locked_at is null and run_at <= now())::int as waiting,
      count(*) filter (where locked_at is not null)::int as active,
      count(*) filter (where locked_at is null and run_at > now())::int as delayed,
      (select count(*)::int from ${schema}.push_letter where queue = $1) as "deadLetters",
      coalesce(round(extract(epoch from now() - min(run_at)
        filter (where locked_at is null and run_at <= now())) * 1000), 0)::int as "oldestWaitingMs",
      (select count(*)::int from ${writeLocks("$2")} and not exists (
        select from ${schema}.push_process
        where owner = objid::bigint and not ${writeIsRecent(MAX_AGE_MS)}
      )) as workers
    from ${schema}.jobs where task_identifier = $1 and key is not null`;
  return { text, values: [settings.name, lockClass] };
}

/** The row of {@link writeStatistics}. */
export type StatisticsRow = Required<QueueStats>;
