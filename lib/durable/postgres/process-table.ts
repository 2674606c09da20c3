/** Parts of statements that tell which processes of a queue have workers that are alive. */
import { STATEMENT_TIMEOUT_MS } from "./server";

/** How often a process with workers registers. */
export const REGISTRATION_MS = 2_000;
/** A process that registered longer ago is absent. */
export const LONGEST_SILENCE_MS = 3_000;
/**
 * How long a process may be absent, or without its lock: as long as it takes to connect again. Most
 * claims that it sent before have ended by then; what a later one locks is found by the next sweep.
 */
export const LONGEST_ABSENCE_MS = STATEMENT_TIMEOUT_MS;

/**
 * Writes the statement that notes that processes are alive.
 *
 * @param rows selects `owner`, `queue` and `seen_at` of each.
 */
export function writeSign(schema: string, rows: string): string {
  return `insert into ${schema}.push_process (owner, queue, seen_at) ${rows}
    on conflict (owner) do update set seen_at = excluded.seen_at`;
}

/** Writes the condition that a row of `push_process` is at most this old, in milliseconds. */
export function writeIsRecent(ageMs: number): string {
  const age = `interval '${ageMs} milliseconds'`;
  // A time in the future is that of a clock that was set back since.
  return `seen_at between now() - ${age} and now() + ${age}`;
}

/**
 * Writes the rows of pg_locks that show which processes have workers and are connected: `objid` is
 * the owner.
 *
 * @param lockClass an expression for the class of the locks.
 */
export function writeLocks(lockClass: string): string {
  return `pg_locks where locktype = 'advisory' and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())
    and classid = ${lockClass}::bigint::oid`;
}
