/** Where the next claim of a member begins to read. */
export interface ClaimMark {
  /** Whether events may be claimed that the member does not know. */
  isReplyLost: boolean;
  /** When the last claimed event was due, by the clock of Postgres. */
  lastRunAtMs: number;
  /** When all due events were read last, as `performance.now()` counts. */
  readAllAtMs: number;
}

/** Statements that store events take less: a later commit of an earlier time is read all the same. */
const MARGIN_MS = 1_000;
/** What became due at an earlier time, as by a release, is found within this time. */
const READ_ALL_MS = 1_000;

/** Creates the mark of a member that has claimed nothing. */
export function createClaimMark(): ClaimMark {
  return { isReplyLost: false, lastRunAtMs: 0, readAllAtMs: Number.NEGATIVE_INFINITY };
}

/**
 * Returns the time from which the next claim reads. While a transaction of another program is open,
 * Postgres keeps the rows of all events that were claimed since, and a claim from the beginning
 * would read them all.
 */
export function claimFrom(mark: ClaimMark): number {
  const nowMs = performance.now();
  if (nowMs - mark.readAllAtMs < READ_ALL_MS) return mark.lastRunAtMs - MARGIN_MS;
  mark.readAllAtMs = nowMs;
  return 0;
}
