import type { SqliteConnection } from "./node-sqlite";
import type { FileOutcomeRow } from "./protocol";

/** The outcomes of challenges. */
export interface OutcomeTable {
  /** Keeps an outcome unless the challenge has one; in a transaction. */
  record(outcome: FileOutcomeRow): void;
  /** Returns the parameters of an outcome, or undefined. */
  read(key: string): string | undefined;
  /** Returns what was recorded, by this process and by others, since the last time. */
  readNew(): FileOutcomeRow[];
  /** Leaves out of `readNew` what was recorded until now. */
  skipOld(): void;
  /** Forgets some of those whose time is over, in a transaction; returns how many. */
  purge(limit: number): number;
}

/** Creates the view of the outcomes. */
export function createOutcomeTable(connection: SqliteConnection): OutcomeTable {
  const find = connection.prepare("SELECT params FROM outcome WHERE key = ? AND expires_at > ?");
  const insert = connection.prepare(
    "INSERT OR REPLACE INTO outcome (key, params, expires_at) VALUES (?, ?, ?)",
  );
  const findNew = connection.prepare(
    "SELECT id, key, params, expires_at FROM outcome WHERE id > ? ORDER BY id",
  );
  const findExpired = connection.prepare(`
    SELECT max(id) AS id, count(*) AS count FROM (
      SELECT id, expires_at FROM outcome ORDER BY id LIMIT ?
    ) WHERE expires_at <= ?`);
  const remove = connection.prepare("DELETE FROM outcome WHERE id <= ? AND expires_at <= ?");
  // Not the greatest identifier in the table, which a purge may have emptied.
  const findLast = connection.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'outcome'");
  let lastId = 0;

  return {
    record({ key, params, expiresAt }) {
      const keyBytes = Buffer.from(key, "hex");
      if (find.get(keyBytes, Date.now()) === undefined) insert.run(keyBytes, params, expiresAt);
    },
    read(key) {
      const row = find.get(Buffer.from(key, "hex"), Date.now());
      return row === undefined ? undefined : String(row.params);
    },
    readNew() {
      const rows = findNew.all(lastId);
      lastId = Number(rows.at(-1)?.id ?? lastId);
      return rows.map((row) => ({
        key: Buffer.from(row.key as Uint8Array).toString("hex"),
        params: String(row.params),
        expiresAt: Number(row.expires_at),
      }));
    },
    skipOld() {
      lastId = Number(findLast.get()?.seq ?? 0);
    },
    purge(limit) {
      const nowMs = Date.now();
      const { id, count } = findExpired.get(limit, nowMs) ?? {};
      if (Number(count) > 0) remove.run(Number(id), nowMs);
      return Number(count);
    },
  };
}
