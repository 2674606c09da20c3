import { readFileSync, writeFileSync } from "node:fs";
import { openDatabase } from "../../lib/durable/sqlite/database";
import { createFileStorage } from "../../lib/durable/sqlite/file-storage";
import { resolveSqliteOptions } from "../../lib/durable/sqlite/options";
import { connect, type SqliteConnection } from "../../lib/durable/sqlite/node-sqlite";
import { QUEUE_NAME as name, silent } from "./durable";
import { runSuite, type EngineSuite } from "./engine";
import { createFile, execute, query, removeFiles } from "./sqlite";
import { ageMembers, ageRows, listRows } from "./sql-tables";

export function describeOnSqlite(title: string, suite: EngineSuite): void {
  describe(`sqliteQueue: ${title}`, () => {
    let file: string;
    let locker: SqliteConnection | undefined;
    const freeze = {
      name: "is locked by another process",
      begin() {
        locker = connect(file);
        // The queue may hold the lock.
        locker.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
      },
      end() {
        locker?.close();
        locker = undefined;
      },
    };

    runSuite(suite, {
      kind: "sqlite",
      start: () => void (file = createFile()),
      place: () => ({ name, file }),
      stop() {
        freeze.end();
        removeFiles();
      },
      freeze,
      keepsRuns: true,
      outages: [freeze],
      failures: [],
      passTime: (ms) => void execute(file, ageRows("", ms)),
      passLeases: () => void execute(file, ageMembers("")),
      createStorage: () => createFileStorage(resolveSqliteOptions({ name, file, logger: silent })),
      listKept(longestMs) {
        const tables = query(file, "select name from sqlite_master where name = 'member'");
        const rows = tables.length === 0 ? [] : query(file, listRows("", longestMs));
        return rows.map(({ kind }) => String(kind));
      },
      format: {
        codes: "FILE",
        set: ({ schema, events }) =>
          execute(file, `PRAGMA user_version = ${schema}; UPDATE queue SET events = ${events}`),
        forget: () => execute(file, "ALTER TABLE queue DROP COLUMN events"),
        async migrate() {
          const step = "ALTER TABLE event ADD COLUMN note TEXT DEFAULT 'new'";
          const { connection } = openDatabase(file, name, { 2: step });
          const [row] = connection.prepare("SELECT note FROM event").all();
          connection.close();
          return row?.note;
        },
        dump: async () => readFileSync(file),
        restore: (dump) => writeFileSync(file, dump),
      },
      change(assignment, index) {
        const id = `(SELECT id FROM event ORDER BY id LIMIT 1 OFFSET ${index})`;
        const sql = `UPDATE event SET ${assignment} WHERE id = ${id}`;
        execute(file, sql);
      },
    });
  });
}
