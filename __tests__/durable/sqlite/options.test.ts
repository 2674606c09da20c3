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

/** Calls the function on a Linux with these mounts, the last of a place being in use. */
function withMounts<Value>(mounts: [place: string, type: string][], run: () => Value): Value {
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

it.each([
  ["folder", "nfs4", "is on nfs4"],
  ["folder", "cifs", "is on cifs"],
  ["folder", "9p", "is on 9p"],
  ["folder", "fuse.sshfs", "is on fuse.sshfs"],
  ["file", "ext4", "Mount the folder"],
])("rejects a %s that is a mount of the type %s", (place, type, words) => {
  const mount: [string, string] = [place === "file" ? file : folder, type];
  const open = () => withMounts([["/", "ext4"], mount], () => sqliteQueue(options));
  expect(open).toThrow(TypeError);
  expect(open).toThrow(words);
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
  const mounts = ["nfs", type].map((one): [string, string] => [dirname(folder), one]);
  const queue = withMounts(mounts, () => sqliteQueue({ ...options, logger }));
  await queue.close({ deadlineMs: 0 });
  const expected = risk === undefined ? [] : [[{}, expect.stringContaining(risk)]];
  expect(warn.mock.calls).toEqual(expected);
});
