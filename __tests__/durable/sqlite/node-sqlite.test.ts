import {
  canShare,
  connect,
  retryWhileLocked,
  sqliteCodeOf,
} from "../../../lib/durable/sqlite/node-sqlite";
import { createFile, removeFiles } from "../../support/sqlite";

afterEach(removeFiles);

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
  expect(sqliteCodeOf(Object.assign(new Error("other"), { errcode: 24 }))).toBe("SQLITE_24");
  expect(sqliteCodeOf(new Error("no error of SQLite"))).toBeUndefined();
});

it("repeats a step until the lock is released", () => {
  const file = createFile();
  const [owner, other] = [connect(file), connect(file)];
  owner.exec("BEGIN IMMEDIATE");
  let attempts = 0;
  retryWhileLocked(() => {
    if (++attempts === 5) owner.exec("COMMIT");
    other.exec("BEGIN IMMEDIATE");
  });
  expect(attempts).toBe(5);
  owner.close();
  other.close();
});

it("throws other errors of the step at once", () => {
  const step = jest.fn(() => {
    throw new Error("no lock");
  });
  expect(() => retryWhileLocked(step)).toThrow("no lock");
  expect(step).toHaveBeenCalledTimes(1);
});
