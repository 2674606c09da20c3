import { canShare, sqliteCodeOf } from "../../../lib/durable/sqlite/node-sqlite";

it.each([
  ["3.51.2", false],
  ["3.50.9", false],
  ["2.99.9", false],
  ["3.51", false],
  ["", false],
  ["3.51.3", true],
  ["3.51.10", true],
  ["3.52.0", true],
  ["4.0.0", true],
])("knows whether processes with SQLite %j may share a file: %j", (version, expected) => {
  expect(canShare(version)).toBe(expected);
});

it("names the code of an error of SQLite, also of an extended one", () => {
  expect(sqliteCodeOf(Object.assign(new Error("full"), { errcode: 13 }))).toBe("SQLITE_FULL");
  expect(sqliteCodeOf(Object.assign(new Error("busy"), { errcode: 517 }))).toBe("SQLITE_BUSY");
  expect(sqliteCodeOf(Object.assign(new Error("other"), { errcode: 19 }))).toBe("SQLITE_19");
  expect(sqliteCodeOf(new Error("no error of SQLite"))).toBeUndefined();
});
