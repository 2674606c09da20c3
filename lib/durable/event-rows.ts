/** What the statements of all engines with SQL tables say of the rows of events. */

/** How many rows a page has. */
export const PAGE = 100;

/** Above it are the rows of other programs: the queue gets there in some thousand years. */
export const MAX_ID = 2 ** 52;

/** The condition of a row whose handlers a worker is to run. */
export const DUE = "owner is null and failed_at is null";

/** Writes where an event is whose row exists, at a time. */
export const writeState = (now: string) =>
  `case when failed_at is not null then 'dead' when owner is not null then 'active'
    when run_at > ${now} then 'delayed' else 'waiting' end`;
