import * as nodeSqlite from "../../../lib/durable/sqlite/node-sqlite";
import { openDatabase } from "../../../lib/durable/sqlite/database";
import { createFileOperations } from "../../../lib/durable/sqlite/operations";
import { createFile, removeFiles } from "../../support/sqlite";

jest.mock("../../../lib/durable/sqlite/node-sqlite", () => ({
  __esModule: true,
  ...jest.requireActual<typeof nodeSqlite>("../../../lib/durable/sqlite/node-sqlite"),
}));

afterEach(() => {
  jest.restoreAllMocks();
  removeFiles();
});

/** Runs an action once, just after a connection that only reads has read the application ID. */
function afterApplicationId(action: () => void): void {
  const { connect } = jest.requireActual<typeof nodeSqlite>(
    "../../../lib/durable/sqlite/node-sqlite",
  );
  let isDone = false;
  jest.spyOn(nodeSqlite, "connect").mockImplementation((file, options) => {
    const connection = connect(file, options);
    if (isDone || options?.readOnly !== true) return connection;
    return {
      exec: (sql) => connection.exec(sql),
      close: () => connection.close(),
      prepare(sql) {
        const statement = connection.prepare(sql);
        if (sql !== "PRAGMA application_id") return statement;
        return {
          run: (...values) => statement.run(...values),
          all: (...values) => statement.all(...values),
          get(...values) {
            const row = statement.get(...values);
            isDone = true;
            action();
            return row;
          },
        };
      },
    };
  });
}

it("opens a file that another process makes a queue while it is read", () => {
  const file = createFile();
  // The file of a process that has set the journal mode, and not created the tables yet.
  const other = nodeSqlite.connect(file);
  other.exec("PRAGMA journal_mode = WAL");
  other.close();
  const connections: { close(): void }[] = [];
  afterApplicationId(() => connections.push(openDatabase(file, "q").connection));
  expect(() => connections.push(openDatabase(file, "q").connection)).not.toThrow();
  for (const connection of connections) connection.close();
  expect(connections).toHaveLength(2);
});

it("throws SQLITE_BUSY for a file that another process is creating", () => {
  const file = createFile();
  const other = nodeSqlite.connect(file);
  other.exec("BEGIN EXCLUSIVE");
  expect(() => openDatabase(file, "q", 100)).toThrow(expect.objectContaining({ errcode: 5 }));
  other.close();
});

it("gives the space of removed rows back to the disk, and keeps 4 MiB", () => {
  const { connection, close } = openDatabase(createFile(), "q");
  const countPages = () => Number(connection.prepare("PRAGMA page_count").get()?.page_count);
  connection.exec("CREATE TABLE old AS SELECT randomblob(12000000)");
  connection.exec("DROP TABLE old");
  const pages = countPages();
  const { purge } = createFileOperations(connection, { dedupeTtlMs: 1, outcomeTtlMs: 1 });
  for (let count = 0; count < 3; count++) purge();
  const givenBack = pages - countPages();
  expect(givenBack).toBeGreaterThanOrEqual(2_000);
  expect(givenBack).toBeLessThan(2_100);
  close();
});
