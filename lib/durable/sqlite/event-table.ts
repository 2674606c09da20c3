import { MAX_STALLS } from "../handler-failure";
import { writeErrorText } from "./error-text";
import type { SqliteConnection } from "./node-sqlite";
import type { OutcomeTable } from "./outcome-table";
import { LEASE_MS, type ClaimedEvent, type EventRun, type NewFileEvent } from "./protocol";

/** The uuids and the events that are still to be handled. Its methods run in a transaction. */
export interface EventTable {
  /** Returns the content of the event that was stored before under its uuid; undefined: none was. */
  store(event: NewFileEvent): string | undefined;
  /** Gives due events to a worker of this process. */
  claim(worker: number, count: number): ClaimedEvent[];
  /** When the next event is due, or undefined; in the past when one is due already. */
  nextRunAt(): number | undefined;
  finish(run: EventRun): void;
  fail(failure: EventRun & { error: string; runAt: number | undefined }): void;
  /** Gives the events of processes without a heartbeat back. */
  takeOver(): void;
  /** Forgets some of the uuids and outcomes whose time is over; returns how many. */
  purge(): number;
}

const PURGED_AT_ONCE = 200;

/** Creates the view of the events; `owner` is this process. */
export function createEventTable(
  connection: SqliteConnection,
  outcomes: OutcomeTable,
  owner: number,
): EventTable {
  const findUuid = connection.prepare("SELECT content, expires_at FROM uuid WHERE key = ?");
  const insertUuid = connection.prepare(
    "INSERT OR REPLACE INTO uuid (key, content, expires_at) VALUES (?, ?, ?)",
  );
  const insertEvent = connection.prepare(
    "INSERT INTO event (id, uuid, body, stored_at, run_at) VALUES (?, ?, ?, ?, ?)",
  );
  const claimDue = connection.prepare(`
    UPDATE event SET owner = ?, started = started + 1 WHERE id IN (
      SELECT id FROM event WHERE owner IS NULL AND failed_at IS NULL AND run_at <= ?
      ORDER BY run_at, id LIMIT ?
    ) RETURNING id, body, started, failures`);
  const findNext = connection.prepare(`
    SELECT run_at FROM event WHERE owner IS NULL AND failed_at IS NULL
    ORDER BY run_at, id LIMIT 1`);
  // Not by owner: when the lease has lapsed, a run that finished all the same is the better end.
  const remove = connection.prepare("DELETE FROM event WHERE id = ? AND started = ?");
  const runAgain = connection.prepare(`
    UPDATE event SET owner = NULL, failures = failures + 1, run_at = ?, error = ?
    WHERE id = ? AND started = ? AND failed_at IS NULL`);
  const setAside = connection.prepare(`
    UPDATE event SET owner = NULL, failures = failures + 1, failed_at = ?, error = ?
    WHERE id = ? AND started = ? AND failed_at IS NULL`);
  const removeProcesses = connection.prepare("DELETE FROM process WHERE seen_at <= ? AND id <> ?");
  const releaseOrphans = connection.prepare(`
    UPDATE event SET owner = NULL, stalls = stalls + 1
    WHERE owner IS NOT NULL AND owner NOT IN (SELECT id FROM process)`);
  const setStalledAside = connection.prepare(`
    UPDATE event SET failed_at = ?, error = ?
    WHERE owner IS NULL AND failed_at IS NULL AND stalls > ${MAX_STALLS}`);
  // Identifiers grow with time, and so does expires_at unless an option was changed.
  const findExpired = connection.prepare(`
    SELECT max(id) AS id, count(*) AS count FROM (
      SELECT id, expires_at FROM uuid ORDER BY id LIMIT ${PURGED_AT_ONCE}
    ) WHERE expires_at <= ?`);
  const removeUuids = connection.prepare("DELETE FROM uuid WHERE id <= ? AND expires_at <= ?");

  return {
    store({ key, content, uuid, body, expiresAt, outcome }) {
      const nowMs = Date.now();
      const keyBytes = Buffer.from(key, "hex");
      const found = findUuid.get(keyBytes);
      if (found !== undefined && Number(found.expires_at) > nowMs) {
        return Buffer.from(found.content as Uint8Array).toString("hex");
      }
      const { lastInsertRowid } = insertUuid.run(keyBytes, Buffer.from(content, "hex"), expiresAt);
      insertEvent.run(Number(lastInsertRowid), uuid, body, nowMs, nowMs);
      if (outcome !== undefined) outcomes.record(outcome);
      return undefined;
    },
    claim(worker, count) {
      const rows = claimDue.all(owner, Date.now(), count);
      const claimed = rows.map((row) => ({
        worker,
        id: Number(row.id),
        body: String(row.body),
        started: Number(row.started),
        failures: Number(row.failures),
      }));
      // RETURNING has no order.
      return claimed.toSorted((a, b) => a.id - b.id);
    },
    nextRunAt() {
      const row = findNext.get();
      return row === undefined ? undefined : Number(row.run_at);
    },
    finish: ({ id, started }) => void remove.run(id, started),
    fail({ id, started, error, runAt }) {
      const text = writeErrorText(error);
      if (runAt === undefined) setAside.run(Date.now(), text, id, started);
      else runAgain.run(runAt, text, id, started);
    },
    takeOver() {
      const nowMs = Date.now();
      removeProcesses.run(nowMs - LEASE_MS, owner);
      if (Number(releaseOrphans.run().changes) === 0) return;
      setStalledAside.run(
        nowMs,
        `INTERNAL_ERROR: ${MAX_STALLS + 1} processes died in its handlers.`,
      );
    },
    purge() {
      const nowMs = Date.now();
      const { id, count } = findExpired.get(nowMs) ?? {};
      if (Number(count) > 0) removeUuids.run(Number(id), nowMs);
      return Number(count) + outcomes.purge(PURGED_AT_ONCE);
    },
  };
}
