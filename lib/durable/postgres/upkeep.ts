import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import {
  LONGEST_ABSENCE_MS,
  LONGEST_SILENCE_MS,
  writeIsRecent,
  writeLocks,
  writeSign,
} from "./process-table";
import { writeRelease } from "./registration";
import type { Server } from "./server";
import type { Session } from "./session";

/** What a queue does at intervals. */
export interface Upkeep {
  stop(): void;
}

/** The workers of a queue in this process. */
export interface OwnWorkers {
  poll(): void;
  /** Lists the ids of their lanes. */
  listLanes(): readonly string[];
}

const POLL_MS = 500;
const SWEEP_MS = 1_000;
/** After a longer time without a sweep, absences count anew. */
const LONGEST_GAP_MS = 2 * SWEEP_MS;
const PURGE_MS = 15_000;
const PURGED_AT_ONCE = 2_000;

/**
 * Starts the upkeep of a queue: polls, as notifications are hints; releases the jobs of workers that
 * are dead or hang; forgets expired uuids and outcomes.
 */
export function startUpkeep(
  server: Server,
  session: Session,
  settings: PostgresSettings,
  { poll, listLanes }: OwnWorkers,
): Upkeep {
  const { schema, lockClass, schemaLockClass } = namesOf(settings);
  const { name } = settings;
  /** Since when lanes are not those of a live worker, as `performance.now()` counts. */
  const absentSinceMs = new Map<string, number>();
  let sweptAtMs = Number.NEGATIVE_INFINITY;
  // An outage ends the locks of all processes, and each needs time to connect again.
  const forgetAbsences = () => absentSinceMs.clear();
  session.events.on("open", forgetAbsences);

  async function sweep(): Promise<void> {
    session.ping();
    const startMs = performance.now();
    if (startMs - sweptAtMs > LONGEST_GAP_MS) forgetAbsences();
    // While Postgres takes no writes, live processes cannot register. This one then fails, too.
    const isAnyAbsent = absentSinceMs.size > 0;
    const rows = await server.query<{ id: string }>({
      text: `with sign as (${writeSign(schema, "select $3::int, $1::text, now() where $5")})
        select id from ${schema}.push_lane as lane
        where queue = $1 and (
          owner = $3 and id <> all($4)
          or not exists (select from ${writeLocks("$2")} and objid = lane.owner::bigint::oid)
          or not exists (
            select from ${schema}.push_process as process
            where process.owner = lane.owner and ${writeIsRecent(LONGEST_SILENCE_MS)}
          )
        )
        union select locked_by from ${schema}._private_jobs where locked_by is not null
          and task_id = (select id from ${schema}._private_tasks where identifier = $1)
          and not exists (select from ${schema}.push_lane where id = locked_by)`,
      values: [name, lockClass, session.owner, listLanes(), isAnyAbsent],
      name: "push_sweep",
    });
    const absent = new Set(rows.map(({ id }) => id));
    for (const id of absentSinceMs.keys()) if (!absent.has(id)) absentSinceMs.delete(id);
    sweptAtMs = performance.now();
    for (const id of absent) absentSinceMs.set(id, absentSinceMs.get(id) ?? sweptAtMs);
    // Not the time after the query: a process that was suspended meanwhile saw no absence.
    const hasDied = (sinceMs: number) => startMs - sinceMs >= LONGEST_ABSENCE_MS;
    const dead = [...absentSinceMs].flatMap(([id, sinceMs]) => (hasDied(sinceMs) ? [id] : []));
    if (dead.length > 0) await release(dead);
  }

  async function release(lanes: readonly string[]): Promise<void> {
    await server.run(writeRelease(lanes, settings));
    // Jobs that were replaced or set aside by a process that died before it could remove them.
    await server.query({
      text: `select ${schema}.complete_jobs(array_agg(id)) from ${schema}.jobs
        where task_identifier = $1 and key is null and locked_at is null having count(*) > 0`,
      values: [name],
    });
    poll();
  }

  async function purge(): Promise<void> {
    // One that hangs keeps its lock, and must stay known as one that hangs.
    await server.query({
      text: `delete from ${schema}.push_process as process
        where queue = $1 and not ${writeIsRecent(60_000)}
        and not exists (select from ${writeLocks("$2")} and objid = process.owner::bigint::oid)`,
      values: [name, lockClass],
    });
    for (const table of ["push_uuid", "push_outcome"]) {
      for (;;) {
        // One process at a time: the others have nothing to do then.
        const rows = await server.query<{ count: number }>({
          text: `with expired as (
              select key from ${schema}.${table}
              where expires_at <= now() and (select pg_try_advisory_xact_lock($1, 1))
              order by expires_at limit ${PURGED_AT_ONCE} for update skip locked
            ), removed as (
              delete from ${schema}.${table} as stored using expired
              where stored.key = expired.key returning 1
            )
            select count(*)::int as count from removed`,
          values: [schemaLockClass],
        });
        if ((rows[0]?.count ?? 0) < PURGED_AT_ONCE) break;
      }
    }
  }

  /** Runs a task again and again, each time a pause after it ended. */
  function repeat(task: () => void | Promise<void>, pauseMs: number): () => void {
    let timer = setTimeout(() => void run(), pauseMs);
    let isStopped = false;
    async function run(): Promise<void> {
      try {
        session.assertOpen();
        await task();
      } catch {
        // The session reports the outage; the next run makes up for this one.
      }
      if (isStopped) return;
      timer = setTimeout(() => void run(), pauseMs);
      timer.unref();
    }
    timer.unref();
    return () => {
      isStopped = true;
      clearTimeout(timer);
    };
  }

  const stops = [repeat(poll, POLL_MS), repeat(sweep, SWEEP_MS), repeat(purge, PURGE_MS)];
  return {
    stop() {
      for (const stop of stops) stop();
      session.events.off("open", forgetAbsences);
    },
  };
}
