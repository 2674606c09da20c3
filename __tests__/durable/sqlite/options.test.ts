import fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { sqliteQueue, type SqliteQueueOptions } from "express-push-verification/durable";
import { silent } from "../../support/durable";

const folder = fs.mkdtempSync(join(tmpdir(), "push options-"));
const file = join(folder, "push.db");
const options: SqliteQueueOptions = { name: "q", file };

afterAll(() => fs.rmSync(folder, { recursive: true }));

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

it("rejects Deno, and names it", () => {
  const own = Object.getOwnPropertyDescriptor(process, "versions")!;
  const versions = { ...process.versions, deno: "2.9.6" };
  Object.defineProperty(process, "versions", { ...own, value: versions });
  expect(() => sqliteQueue(options)).toThrow("this is Deno 2.9.6");
  Object.defineProperty(process, "versions", own);
});

/** Calls the function on a Linux with these mounts: places and types. */
function withMounts<Value>(
  mounts: readonly (readonly [string, string])[],
  run: () => Value,
): Value {
  const lines = mounts.map(
    ([place, type]) => `1 1 0:1 / ${place.replaceAll(" ", "\\040")} rw shared:1 - ${type} x rw`,
  );
  const read = jest.spyOn(fs, "readFileSync").mockReturnValue(lines.join("\n"));
  try {
    return run();
  } finally {
    read.mockRestore();
  }
}

const parent = dirname(folder);

it.each([
  ["nfs4", "is on nfs4"],
  ["cifs", "is on cifs"],
  ["9p", "is on 9p"],
  ["fuse.sshfs", "is on fuse.sshfs"],
])("rejects a file on a disk of the type %s", (type, words) => {
  const mounts = [
    ["/", "ext4"],
    [folder, type],
  ] as const;
  expect(() => withMounts(mounts, () => sqliteQueue(options))).toThrow(words);
});

it("rejects a file that is itself a mount, also in a folder whose name has a space", () => {
  const mounts = [
    ["/", "overlay"],
    [file, "ext4"],
  ] as const;
  const open = () => withMounts(mounts, () => sqliteQueue(options));
  expect(open).toThrow(TypeError);
  expect(open).toThrow("Mount the folder");
});

it.each([
  ["tmpfs", "restart of the machine"],
  ["overlay", "container"],
  ["virtiofs", "power cut"],
  ["fuse.mergerfs", "power cut"],
  ["ext4", undefined],
  ["zfs", undefined],
])("warns of what a disk of the type %s loses", async (type, risk) => {
  const warn = jest.fn();
  const logger = { ...silent, warn };
  const mounts = [
    ["/", "nfs"],
    [parent, "nfs"],
    [parent, type],
  ] as const;
  const queue = withMounts(mounts, () => sqliteQueue({ ...options, logger }));
  await queue.close({ deadlineMs: 0 });
  const expected = risk === undefined ? [] : [[{}, expect.stringContaining(risk)]];
  expect(warn.mock.calls).toEqual(expected);
});
