import type { SqliteConnection, PreparedStatement, SqlValue } from "./node-sqlite";

/** Reads the tables and the indexes of a file in steps, between the transactions of the queue. */
export interface FileScan {
  /**
   * Reads on for up to 5 ms; returns whether there is more.
   *
   * @throws what SQLite throws for damage.
   */
  readOn(): boolean;
}

/** A table, or an index, in its order. */
interface Part {
  statement: PreparedStatement;
  key: readonly string[];
  after: readonly SqlValue[];
}

const STEP_MS = 5;
const ROWS = 64;
const BEFORE_NUMBERS = Number.MIN_SAFE_INTEGER;
const BEFORE_BYTES = new Uint8Array(0);

/** Creates the scan of an open file. The tables without events have a page or two, always in use. */
export function createFileScan(connection: SqliteConnection): FileScan {
  function createPart(
    table: string,
    start: Readonly<Record<string, SqlValue>>,
    { read = "0", where = "TRUE" } = {},
  ): Part {
    const key = Object.keys(start);
    const columns = key.join(", ");
    const statement = connection.prepare(`
      SELECT ${columns}, ${read} FROM ${table}
      WHERE ${where} AND (${columns}) > (${key.map(() => "?").join(", ")})
      ORDER BY ${columns} LIMIT ${ROWS}`);
    return { statement, key, after: Object.values(start) };
  }

  const id = BEFORE_NUMBERS;
  const parts = [
    // The length of a text is known when all of its pages were read.
    createPart("event", { id }, { read: "length(body) + length(error)" }),
    createPart("delivery", { id }, { read: "expires_at" }),
    createPart("outcome", { id }, { read: "length(params)" }),
    createPart("delivery", { key: BEFORE_BYTES }),
    createPart("outcome", { key: BEFORE_BYTES }),
    createPart("event", { run_at: id, id }, { where: "owner IS NULL AND failed_at IS NULL" }),
    createPart("event", { owner: id, id }, { where: "owner IS NOT NULL" }),
    createPart("event", { failed_at: id, id }, { where: "failed_at IS NOT NULL" }),
    createPart("event", { uuid_hash: BEFORE_BYTES, id }, { where: "failed_at IS NOT NULL" }),
  ];

  function readRows(part: Part): void {
    const rows = part.statement.all(...part.after);
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS) parts.shift();
    else part.after = part.key.map((column) => last[column] ?? null);
  }

  return {
    readOn() {
      const endMs = performance.now() + STEP_MS;
      for (;;) {
        const [part] = parts;
        if (part === undefined) return false;
        readRows(part);
        if (performance.now() > endMs) return parts.length > 0;
      }
    },
  };
}
