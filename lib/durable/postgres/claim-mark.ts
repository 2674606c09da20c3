/** Where the next claim of a member begins to read. */
export interface ClaimMark {
  /** When the last claimed event was due, by the clock of Postgres. */
  lastRunAtMs: number;
  /** When everything was read last, as `performance.now()` counts. */
  readAllAtMs: number;
}

/** Statements that store events take less: a later commit of an earlier time is read all the same. */
const MARGIN_MS = 1_000;
/** What became due at an earlier time, or was claimed unknown to the member, is found within this time. */
const READ_ALL_MS = 1_000;

/** Creates the mark of a member that has claimed nothing. */
export function createClaimMark(): ClaimMark {
  return { lastRunAtMs: 0, readAllAtMs: Number.NEGATIVE_INFINITY };
}

/**
 * Returns the time from which the next claim reads; undefined: it reads all, also what the member
 * owns. While a transaction of another program is open, Postgres keeps the rows of all events that
 * were claimed since, and a claim from the beginning would read them all.
 */
export function claimFrom(mark: ClaimMark): number | undefined {
  const nowMs = performance.now();
  if (nowMs - mark.readAllAtMs < READ_ALL_MS) return mark.lastRunAtMs - MARGIN_MS;
  mark.readAllAtMs = nowMs;
  return undefined;
}
