import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteQueue, type SqliteQueueOptions } from "express-push-verification/durable";

const file = join(tmpdir(), "push-options.db");
const options: SqliteQueueOptions = { name: "q", file };

it.each([
  ["file", undefined],
  ["file", ""],
  ["file", ":memory:"],
  ["file", "file:push.db?mode=memory"],
  ["file", tmpdir()],
  ["file", join(tmpdir(), "no-such-folder", "push.db")],
  ["name", "two words"],
  ["connection", "redis://127.0.0.1"],
])("rejects the option %s with the value %j", (name, value) => {
  const wrong = { ...options, [name]: value };
  expect(() => sqliteQueue(wrong)).toThrow(TypeError);
  expect(() => sqliteQueue(wrong)).toThrow(name);
});

it.each([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xff534d42 | 0, "CIFS"],
])("rejects a file on a network disk, whose number is %i", (type, disk) => {
  const statfs = jest.spyOn(fs, "statfsSync").mockReturnValue({ type } as fs.StatsFs);
  expect(() => sqliteQueue(options)).toThrow(`${file} is on ${disk}`);
  statfs.mockRestore();
});
