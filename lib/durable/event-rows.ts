/** What the statements of all engines with SQL tables say of the rows of events. */
import { LEASE_MS, MAX_CLOCK_SKEW_MS, MAX_STALLS, STALLED } from "./lease";
import { MAX_DEAD_GROUPS, ROW_INVALID } from "./storage";

/** How many rows a page has. */
export const PAGE = 100;

/** Above it are the rows of other programs: the queue gets there in some thousand years. */
export const MAX_ID = 2 ** 52;

/** The condition of a row whose handlers a worker is to run. */
export const DUE = "owner is null and failed_at is null";

/** Which dead letters a statement lists: after or before a position, of one failure or of all. */
interface DeadList {
  position: string;
  condition?: string;
  newestFirst?: boolean;
}

/**
 * Writes the parts of statements that the engines share: first expressions, then assignments, then
 * queries, of which some take a condition that ends with `and`.
 *
 * @param now the time, in milliseconds.
 * @param names of the tables, and of the functions for the least and the greatest of two values.
 */
export function writeShared(
  now: string,
  { event = "event", member = "member", least = "min", greatest = "max" } = {},
) {
  const state = `case when failed_at is not null then 'dead' when owner is not null then 'active'
    when run_at > ${now} then 'delayed' else 'waiting' end`;
  const release = `owner = null, stalls = stalls + 1, run_at = ${least}(run_at, ${now})`;
  const failure = (error: string) => `{"at":' || ${now} || ',"error":"${error}"}`;

  return {
    state,
    claimed: "event.id, body, failures + stalls + 1 as attempt, failures, errors",
    /** A clock that was set back would leave it due in the future. */
    release,
    /** Of a member that beats, at a conflict with its row, which is `stored`. */
    beat: `is_worker = excluded.is_worker, seen_at = excluded.seen_at,
      since = case when stored.seen_at between excluded.seen_at - ${LEASE_MS}
        and excluded.seen_at + ${MAX_CLOCK_SKEW_MS} then stored.since else excluded.since end`,
    /** Of a member that is dead. */
    stall: `${release}, failed_at = case when stalls >= ${MAX_STALLS} then ${now} end,
      failure = '"${STALLED}"', errors = case when stalls < ${MAX_STALLS} then errors
        else coalesce(rtrim(errors, ']') || ',', '[') || '${failure(STALLED)}]' end`,
    /** Counts a run more, so that a late report on an earlier run changes nothing. */
    retry: `failed_at = null, started = started + 1, failures = 0, stalls = 0, run_at = ${now}, pause = 0`,
    /** Of a row of another program. */
    bury: `owner = null, started = 0, failures = 0, stalls = 0, pause = 0, run_at = ${now},
      failed_at = ${now}, failure = '"${ROW_INVALID}"', errors = '[${failure(ROW_INVALID)}]'`,

    listDead({ position, condition = "", newestFirst = false }: DeadList): string {
      const [after, order] = newestFirst ? ["<", "desc"] : [">", "asc"];
      return `select cast(id as text) as id, body, errors, failures + stalls as attempts,
          'dead' as state, failed_at as "atMs", ${now} as "listedAtMs" from ${event} as event
        where ${condition} failed_at is not null and (failed_at, event.id) ${after} ${position}
        order by failed_at ${order}, event.id ${order} limit ${PAGE}`;
    },
    deadGroups: (condition = "") => `
      select failure, count(*) as count, count(distinct person) as users,
        min(failed_at) as "firstAtMs", max(failed_at) as "lastAtMs" from ${event}
      where ${condition} failed_at is not null
      group by failure order by count(*) desc, max(failed_at) desc limit ${MAX_DEAD_GROUPS}`,
    /** Joins ids and whether they were discarded with their events. */
    find: (found: string) => `
      select cast(found.id as text) as id, body, errors, coalesce(failed_at, run_at) as "atMs",
        coalesce(failures + stalls + case when owner is null then 0 else 1 end, 0) as attempts,
        case when is_discarded then 'discarded' when event.id is null then 'handled'
          else ${state} end as state
      from (${found}) as found left join ${event} as event on event.id = found.id
      order by found.id`,
    stats(condition = ""): string {
      const read = (what: string, where: string, table = event) =>
        `(select ${what} from ${table} where ${condition} ${where})`;
      return `select
        ${read("count(*)", `${DUE} and run_at <= ${now}`)} as waiting,
        ${read("count(*)", "owner is not null")} as active,
        ${read("count(*)", `${DUE} and run_at > ${now}`)} as delayed,
        ${read("count(*)", "failed_at is not null")} as "deadLetters",
        ${read(`coalesce(${greatest}(0, ${now} - min(run_at)), 0)`, DUE)} as "oldestWaitingMs",
        ${read(
          "count(*)",
          `is_worker and seen_at between ${now} - ${LEASE_MS} and ${now} + ${MAX_CLOCK_SKEW_MS}`,
          member,
        )} as workers`;
    },
  };
}
