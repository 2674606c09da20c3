import { readFileSync, writeFileSync } from "node:fs";
import { openDatabase } from "../../../lib/durable/sqlite/database";
import { createFileScan } from "../../../lib/durable/sqlite/file-scan";
import { connect, type SqliteConnection } from "../../../lib/durable/sqlite/node-sqlite";
import { createFile, damagePages, removeFiles } from "../../support/sqlite";

afterEach(removeFiles);

/** Creates a file whose tables and indexes have several pages each. */
function createFullFile(): string {
  const file = createFile();
  const { connection } = openDatabase(file, "q");
  connection.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
    INSERT INTO event (id, uuid_hash, body, run_at, owner, failed_at, error)
    SELECT i, randomblob(40), printf('%0*d', 100 + i % 7 * 500, i), i,
      iif(i % 3 = 1, i, NULL), iif(i % 3 = 2, i, NULL), iif(i % 3 = 2, 'failed', NULL) FROM n;
    INSERT INTO delivery (key, content, expires_at) SELECT randomblob(32), randomblob(32), 1 FROM event;
    INSERT INTO outcome (key, params, expires_at) SELECT randomblob(32), body, 1 FROM event`);
  connection.close();
  return file;
}

function scan(connection: SqliteConnection): void {
  const { readOn } = createFileScan(connection);
  while (readOn());
}

it("reads a file without damage to its end", () => {
  const connection = connect(createFullFile());
  expect(() => scan(connection)).not.toThrow();
  connection.close();
});

it("finds each damaged page of the tables and indexes of events", () => {
  const file = createFullFile();
  const whole = connect(file);
  const pages = whole
    .prepare(
      `SELECT name, pageno FROM dbstat WHERE pagetype <> 'overflow'
       AND (name LIKE '%event%' OR name LIKE '%delivery%' OR name LIKE '%outcome%')`,
    )
    .all();
  whole.close();
  const bytes = readFileSync(file);
  expect(new Set(pages.map(({ name }) => name)).size).toBe(9);
  const missed = pages.filter(({ pageno }) => {
    damagePages(file, [Number(pageno)]);
    const connection = connect(file, { readOnly: true });
    try {
      scan(connection);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ errcode: expect.any(Number) as number });
      return false;
    } finally {
      connection.close();
      writeFileSync(file, bytes);
    }
  });
  expect(missed).toEqual([]);
});
