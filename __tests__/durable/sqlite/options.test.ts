import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteQueue, type SqliteQueueOptions } from "express-push-verification/durable";
import { resolveSqliteOptions } from "../../../lib/durable/sqlite/options";

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

it("fills in the defaults", () => {
  expect(resolveSqliteOptions({ ...options, logger: undefined })).toEqual({
    file,
    name: "q",
    dedupeTtlMs: 86_400_000,
    outcomeTtlMs: 86_400_000,
    attempts: 8,
    backoff: { type: "exponential", delayMs: 500, jitter: 0.5 },
    storeTimeoutMs: 8_000,
    maxPending: 5_000,
    maxWaiting: 10_000,
    logger: undefined,
  });
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
