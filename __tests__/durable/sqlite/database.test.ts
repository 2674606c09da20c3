import { openDatabase } from "../../../lib/durable/sqlite/database";
import { explainOpening } from "../../../lib/durable/sqlite/file-error";
import {
  canShare,
  connect,
  retryWhileLocked,
  sqliteCodeOf,
  type SqliteConnection,
} from "../../../lib/durable/sqlite/node-sqlite";
import { assertAlone, assertNoLock, lockWriters } from "../../../lib/durable/sqlite/writer-lock";
import { FileOperations } from "../../../lib/durable/sqlite/operations";
import { createFile, execute, removeFiles } from "../../support/sqlite";

afterEach(removeFiles);

it("opens a file that another process makes a queue while it is read", () => {
  const file = createFile();
  // The file of a process that has set the journal mode, and not created the tables yet.
  execute(file, "PRAGMA journal_mode = WAL");
  const connections: SqliteConnection[] = [];
  const prototype = Object.getPrototypeOf(connect(":memory:")) as SqliteConnection;
  const { prepare } = prototype;
  const reading = jest.spyOn(prototype, "prepare").mockImplementation(function (
    this: SqliteConnection,
    sql,
  ) {
    const statement = prepare.call(this, sql);
    if (sql !== "PRAGMA application_id") return statement;
    reading.mockRestore();
    const row = statement.get();
    connections.push(openDatabase(file, "q").connection);
    return { ...statement, get: () => row };
  });
  expect(() => connections.push(openDatabase(file, "q").connection)).not.toThrow();
  for (const connection of connections) connection.close();
  expect(connections).toHaveLength(2);
});

it("waits for a process that creates the file", () => {
  const file = createFile();
  const creating = connect(file);
  creating.exec("BEGIN EXCLUSIVE");
  const startMs = performance.now();
  const clock = jest.spyOn(performance, "now").mockReturnValue(startMs);
  const pause = jest.spyOn(Atomics, "wait").mockImplementation(() => {
    clock.mockReturnValue(startMs + 11_900);
    if (pause.mock.calls.length === 2) creating.close();
    return "timed-out";
  });
  openDatabase(file, "q").close();
  expect(pause).toHaveBeenCalledTimes(2);
  jest.restoreAllMocks();
});

it("gives back to the disk all but 4 MiB of removed rows", () => {
  const { connection, close } = openDatabase(createFile(), "q");
  const countPages = () => Number(connection.prepare("PRAGMA page_count").get()?.page_count);
  connection.exec("CREATE TABLE old AS SELECT randomblob(12000000)");
  connection.exec("DROP TABLE old");
  const pages = countPages();
  const operations = new FileOperations(connection, { dedupeTtlMs: 1, outcomeTtlMs: 2 });
  while (operations.purge());
  const givenBack = pages - countPages();
  expect(givenBack).toBeGreaterThanOrEqual(1_900);
  expect(givenBack).toBeLessThan(2_100);
  close();
});

it.each(["delivery", "outcome"])(
  "removes what is over of %s in slices of counted time",
  (table) => {
    const { connection, close } = openDatabase(createFile(), "q");
    // The oldest end late: a lowered option. Every second one of the others is over.
    connection.exec(`WITH RECURSIVE row (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < 6000)
    INSERT INTO ${table} (key, ${table === "delivery" ? "content" : "value"}, expires_at)
    SELECT randomblob(16), ${table === "delivery" ? "x''" : "''"},
      CASE WHEN n <= 1200 THEN ${Date.now()} + 31000000000 WHEN n <= 1400 THEN ${Date.now()} * 2
        WHEN n % 2 THEN 5 ELSE ${Date.now()} + 900000 END FROM row`);
    const count = (condition: string) =>
      Number(
        connection.prepare(`SELECT count(*) AS count FROM ${table} WHERE ${condition}`).get()
          ?.count,
      );
    let readings = 0;
    const ttls = { dedupeTtlMs: 1_000, outcomeTtlMs: 2_000 };
    const operations = new FileOperations(connection, ttls, () => readings++);
    let slices = 0;
    for (let isMore = true; isMore; slices++) {
      const before = count("1");
      isMore = operations.purge();
      expect(before - count("1")).toBeLessThanOrEqual(600);
    }
    expect(slices).toBeGreaterThan(4);
    expect(count(`expires_at <= ${Date.now()}`)).toBe(0);
    expect(count(`expires_at > ${Date.now() + 31_000_000_000}`)).toBe(0);
    expect(count("1")).toBe(3_700);
    close();
  },
);

it("keeps an older SQLite apart from others", () => {
  const file = createFile();
  const [older, newer] = ["3.51.2", "3.51.3"];
  const database = openDatabase(file, "q");
  expect(() => assertAlone(file)).toThrow("locked");
  database.close();
  assertAlone(file);
  const lock = lockWriters(file, older);
  expect(() => lockWriters(file, older)).toThrow("locked");
  expect(() => assertNoLock(file, newer)).toThrow("locked");
  lock?.close();
  lockWriters(file, older)?.close();
  assertNoLock(file, newer);
  expect(lockWriters(file, newer)).toBeUndefined();
});

it("an older SQLite leaves a file to the next process", () => {
  const file = createFile();
  const own = Object.getOwnPropertyDescriptor(process, "versions")!;
  const versions = { ...process.versions, sqlite: "3.51.2" };
  Object.defineProperty(process, "versions", { ...own, value: versions });
  const pause = jest.spyOn(Atomics, "wait");
  for (const name of ["q", "other", "q"]) {
    if (name === "q") openDatabase(file, name).close();
    else expect(() => openDatabase(file, name)).toThrow("holds the queue");
  }
  Object.defineProperty(process, "versions", own);
  expect(pause).not.toHaveBeenCalled();
  pause.mockRestore();
});

it("knows the versions of SQLite with which processes may share a file", () => {
  const versions = ["", "2.99.9", "3.51", "3.51.2", "3.51.3", "3.51.10", "3.52.0", "4.0.0"];
  expect(versions.filter(canShare)).toEqual(versions.slice(4));
});

it.each([
  [13, "SQLITE_FULL"], // the full disk of file.test.ts needs the right to mount one
  [517, "SQLITE_BUSY"], // an extended code
  [24, "SQLITE_24"],
  [undefined, undefined],
])("names the code %j of an error of SQLite: %s", (errcode, name) => {
  expect(sqliteCodeOf(Object.assign(new Error("an error"), { errcode }))).toBe(name);
});

describe("an error while the file is opened, although the system says that it may be written,", () => {
  const file = createFile();

  it.each([
    [{ errcode: 8 }, "FILE_READONLY"],
    [{ errcode: 14 }, "FILE_READONLY"],
    [{ errcode: 14 + 256 }, "FILE_READONLY"],
    [{ errcode: 3 }, "FILE_READONLY"],
    [{ code: "EPERM" }, "FILE_READONLY"],
    [{ code: "EACCES" }, "FILE_READONLY"],
    [{ code: "EROFS" }, "FILE_READONLY"],
    [{ code: "ENOTDIR" }, "FILE_READONLY"],
    [{ code: "ELOOP" }, "FILE_READONLY"],
    [{ code: "ENAMETOOLONG" }, "FILE_READONLY"],
    [{ errcode: 5 }, "FILE_IN_USE"],
    [{ errcode: 10 }, undefined],
    [{ code: "EMFILE" }, undefined],
  ])("%j becomes %s", (fields, code) => {
    const error = Object.assign(new Error("an error"), fields);
    const explained = explainOpening(file, error);
    if (code === undefined) expect(explained).toBe(error);
    else expect(explained).toHaveProperty("code", code);
  });

  it.each([
    ["linux", "chown"],
    ["win32", "icacls"],
  ])("has advice for %s: %s", (platform, command) => {
    const own = Object.getOwnPropertyDescriptor(process, "platform")!;
    Object.defineProperty(process, "platform", { ...own, value: platform });
    const explained = explainOpening(file, Object.assign(new Error("an error"), { errcode: 14 }));
    Object.defineProperty(process, "platform", own);
    expect((explained as Error).message).toContain(command);
  });
});

it("repeats a step only while the file is locked", () => {
  const step = jest.fn();
  for (const errcode of [5, 5, 1]) {
    step.mockImplementationOnce(() => {
      throw Object.assign(new Error(`code ${errcode}`), { errcode });
    });
  }
  expect(() => retryWhileLocked(step)).toThrow("code 1");
  expect(step).toHaveBeenCalledTimes(3);
  const clock = jest.spyOn(performance, "now");
  const busy = Object.assign(new Error("code 5"), { errcode: 5 });
  for (const ms of [0, 5_000, 5_001]) {
    clock.mockReturnValueOnce(ms);
    step.mockImplementationOnce(() => {
      throw busy;
    });
  }
  expect(() => retryWhileLocked(step)).toThrow(busy);
  expect(step).toHaveBeenCalledTimes(5);
  clock.mockRestore();
});
