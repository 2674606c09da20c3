import { DUE, MAX_ID, PAGE, writeShared } from "../event-rows";
import { LEASE_MS, MAX_CLOCK_SKEW_MS } from "../lease";
import {
  JOURNAL_MS,
  MAX_AHEAD_MS,
  MAX_KEPT_ENTRIES,
  MAX_SLICE_ENTRIES,
  ROW_IS_VALID,
} from "../storage";

/** How many rows a statement of a purge changes: 1 ms from memory, 10 ms from a disk. */
export const PURGED_ROWS = 100;

const SHARED = writeShared("now_ms()");
const IN_LIST = "id IN (SELECT value FROM json_each(?))";
const LISTED = `${IN_LIST} AND failed_at IS NOT NULL`;
const DEAD = `seen_at < now_ms() - ${LEASE_MS}`;
/** Also of a clock that was far ahead. */
const OUTDATED = `at NOT BETWEEN now_ms() - ${JOURNAL_MS} AND now_ms() + ${JOURNAL_MS}`;
const NOT_HELD = "id NOT IN (SELECT value FROM json_each(?))";

/** Which dead letters are listed. */
const ALL = { position: "(?, ?)" };
const OF_FAILURE = { ...ALL, condition: "failure = ? AND" };

/**
 * The statements of a queue in a file, with the names and in the order of those for Postgres. Parameters
 * have no numbers: Node.js 22.13 binds no value to `?1`.
 */
export const STATEMENTS = {
  findDelivery: "SELECT content FROM delivery WHERE key = ? AND expires_at > now_ms()",
  store: "INSERT OR REPLACE INTO delivery (key, content, expires_at) VALUES (?, ?, now_ms() + ?)",
  storeEvent: "INSERT INTO event (id, uuid_hash, body, run_at) VALUES (?, ?, ?, now_ms())",

  record: `INSERT INTO outcome (key, value, expires_at) VALUES (?, ?, now_ms() + ?)
    ON CONFLICT DO NOTHING`,
  forgetExpired: "DELETE FROM outcome WHERE key = ? AND expires_at <= now_ms()",
  outcomes: "SELECT value FROM outcome WHERE key = ? AND expires_at > now_ms()",
  // node:sqlite cannot read larger numbers.
  newOutcomes: `SELECT id, key FROM outcome WHERE id > ? AND id <= ${Number.MAX_SAFE_INTEGER} ORDER BY id`,
  // Not MAX(id): a purge may have emptied the table.
  lastOutcome: `SELECT min(seq, ${Number.MAX_SAFE_INTEGER}) AS seq FROM sqlite_sequence WHERE name = 'outcome'`,

  isMember: "SELECT 1 FROM member WHERE id = ?",
  findOwned: `SELECT started, ${SHARED.claimed} FROM event WHERE owner = ? AND ${NOT_HELD} ORDER BY id`,
  isAnyDue: `SELECT 1 FROM event WHERE ${DUE} AND run_at <= now_ms() LIMIT 1`,
  findDue: `SELECT started + 1 AS started, ${SHARED.claimed} FROM event
    WHERE ${DUE} AND run_at <= now_ms() AND ${NOT_HELD} ORDER BY run_at, id LIMIT ?`,
  claim: "UPDATE event SET owner = ?, started = started + 1 WHERE id = ?",

  // Ignore the owner: keep the result of a run that finished after its lease.
  finish: "DELETE FROM event WHERE id = ? AND started = ? AND failed_at IS NULL",

  fail: `UPDATE event SET owner = NULL, failures = ?, errors = ?, failure = ?, person = ?,
    failed_at = CASE WHEN ? IS NULL THEN now_ms() END,
    run_at = coalesce(now_ms() + ?, run_at), pause = coalesce(?, pause)
    WHERE id = ? AND started = ? AND failed_at IS NULL`,
  forgetDelivery: "DELETE FROM delivery WHERE id = ?",
  isDead: "SELECT 1 FROM event WHERE id = ? AND started = ? AND failed_at IS NOT NULL",

  isClockSetBack: `SELECT 1 FROM (SELECT now_ms() + ${MAX_CLOCK_SKEW_MS} AS latest)
    WHERE (SELECT max(seen_at) FROM member) > latest
    OR (SELECT run_at - pause FROM event WHERE ${DUE} ORDER BY run_at DESC, id DESC LIMIT 1) > latest
    OR (SELECT max(failed_at) FROM event WHERE failed_at IS NOT NULL) > latest`,
  endPauses: `UPDATE event SET run_at = now_ms() WHERE ${DUE} AND run_at > now_ms()`,
  failNow:
    "UPDATE event SET failed_at = now_ms() WHERE failed_at IS NOT NULL AND failed_at > now_ms()",
  beat: `INSERT INTO member AS stored (id, is_worker, seen_at, since)
    VALUES (?, ?, now_ms(), now_ms()) ON CONFLICT (id) DO UPDATE SET ${SHARED.beat}`,
  isOld: `SELECT 1 FROM member WHERE id = ? AND since <= now_ms() - ${LEASE_MS}`,
  release: `UPDATE event SET ${SHARED.stall} WHERE owner IN (SELECT id FROM member WHERE ${DEAD})`,
  forgetDead: `DELETE FROM member
    WHERE ${DEAD} AND id NOT IN (SELECT owner FROM event WHERE owner IS NOT NULL)`,
  expireFuture: `UPDATE member SET seen_at = now_ms() - ${LEASE_MS + 1}
    WHERE seen_at > now_ms() + ${MAX_CLOCK_SKEW_MS}`,

  forgetMember: "DELETE FROM member WHERE id = ?",
  giveBack: "UPDATE event SET owner = NULL WHERE owner = ?",

  deadLetters: SHARED.listDead(ALL),
  newestDeadLetters: SHARED.listDead({ ...ALL, newestFirst: true }),
  deadLettersOf: SHARED.listDead(OF_FAILURE),
  newestDeadLettersOf: SHARED.listDead({ ...OF_FAILURE, newestFirst: true }),
  deadGroups: SHARED.deadGroups(),
  retry: `UPDATE event SET ${SHARED.retry} WHERE ${LISTED}`,
  noteDiscarded: `UPDATE delivery SET is_discarded = 1
    WHERE id IN (SELECT id FROM event WHERE ${LISTED})`,
  discard: `DELETE FROM event WHERE ${LISTED}`,

  scanEvents: `SELECT CAST(id AS TEXT) AS id, body AS text, ${SHARED.state} AS state
    FROM event WHERE event.id > ? ORDER BY event.id LIMIT ${PAGE}`,
  scanOutcomes: `SELECT CAST(id AS TEXT) AS id, value AS text, 'outcome' AS state
    FROM outcome WHERE outcome.id > ? ORDER BY outcome.id LIMIT ${PAGE}`,
  scanEntries: `SELECT CAST(id AS TEXT) AS id, text, 'entry' AS state
    FROM entry WHERE entry.id > ? ORDER BY entry.id LIMIT ${MAX_SLICE_ENTRIES}`,
  noteErased: `UPDATE delivery SET is_discarded = 1 WHERE ${IN_LIST}`,
  eraseEvents: `DELETE FROM event WHERE ${IN_LIST}`,
  eraseOutcomes: `DELETE FROM outcome WHERE ${IN_LIST}`,
  eraseEntries: `DELETE FROM entry WHERE ${IN_LIST}`,

  appendEntry: "INSERT INTO entry (kind, share, at, text) VALUES (?, ?, now_ms(), ?)",
  addCount: `INSERT INTO minute (at, name, count) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  readCounts: `SELECT at AS minuteMs, name, count FROM minute
    WHERE at >= max(?, now_ms() - ${JOURNAL_MS}) ORDER BY at, name`,
  // The oldest of a share have the last turns.
  trimEntries: `DELETE FROM entry WHERE ${OUTDATED} OR id IN (
    SELECT id FROM (
      SELECT id, row_number() OVER (PARTITION BY kind ORDER BY turn, id DESC) AS place FROM (
        SELECT id, kind, row_number() OVER (PARTITION BY kind, share ORDER BY id DESC) AS turn
        FROM entry
      )
    ) WHERE place > ${MAX_KEPT_ENTRIES})`,
  trimCounts: `DELETE FROM minute WHERE ${OUTDATED}`,
  keepSecret: "UPDATE queue SET secret = coalesce(secret, ?)",
  secret: "SELECT secret FROM queue",

  // The rows of other programs: node:sqlite reads no integer that is not safe.
  bury: `UPDATE event SET ${SHARED.bury} WHERE NOT (${ROW_IS_VALID})`,

  // After the greatest id of all, SQLite inserts nothing more.
  isIdTaken: `SELECT 1 FROM sqlite_sequence WHERE seq >= ${MAX_ID}`,

  find: SHARED.find(`
    SELECT id, 0 AS is_discarded FROM event WHERE uuid_hash = ? AND failed_at IS NOT NULL
    UNION SELECT id, is_discarded FROM delivery WHERE key BETWEEN ? AND ? AND expires_at > now_ms()`),
  stats: SHARED.stats(),

  purge: purge("delivery"),
  purgeOutcomes: purge("outcome"),
  endSooner: endSooner("delivery"),
  endOutcomesSooner: endSooner("outcome"),
  freePages: "PRAGMA freelist_count",
  releaseOrphans: `UPDATE event SET ${SHARED.release}
    WHERE owner IS NOT NULL AND owner NOT IN (SELECT id FROM member)`,
} as const;

/** Removes the rows of other programs with such an id, and goes on with the ids of the queue. */
export const RESET_IDS = `
  DELETE FROM delivery WHERE id >= ${MAX_ID};
  DELETE FROM outcome WHERE id >= ${MAX_ID};
  DELETE FROM entry WHERE id >= ${MAX_ID};
  UPDATE sqlite_sequence SET seq = CASE name
    WHEN 'outcome' THEN (SELECT coalesce(max(id), 0) FROM outcome)
    WHEN 'entry' THEN (SELECT coalesce(max(id), 0) FROM entry)
    ELSE (SELECT coalesce(max(id), 0) FROM
      (SELECT id FROM delivery UNION ALL SELECT id FROM event WHERE id < ${MAX_ID})) END
  WHERE seq >= ${MAX_ID}`;

function purge(table: string): string {
  return `DELETE FROM ${table} WHERE id IN (
    SELECT id FROM ${table} WHERE expires_at <= now_ms() ORDER BY expires_at LIMIT ${PURGED_ROWS})`;
}

/** Gives rows of a clock that was far ahead the end that new ones have. */
function endSooner(table: string): string {
  return `UPDATE ${table} SET expires_at = now_ms() + ? WHERE id IN (
    SELECT id FROM ${table} WHERE expires_at > now_ms() + ? + ${MAX_AHEAD_MS} LIMIT ${PURGED_ROWS})`;
}
