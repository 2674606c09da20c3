import fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  sqliteQueue,
  type DurableQueue,
  type SqliteQueueOptions,
} from "express-push-verification/durable";
import { findDiskRisk } from "../../../lib/durable/sqlite/disk";
import { silent } from "../../support/durable";
import { itNeeds } from "../../support/platform";

const folder = fs.mkdtempSync(join(tmpdir(), "push options-"));
const file = join(folder, "push.db");
const options: SqliteQueueOptions = { name: "q", file };

afterAll(() => fs.rmSync(folder, { recursive: true }));

it.each<[name: string, ...wrong: unknown[]]>([
  ["file", undefined, "", ":memory:", "file:push.db?mode=memory"],
  ["name", "two words"],
  ["connection", "redis://127.0.0.1"],
])("rejects a wrong %s", (name, ...values) => {
  for (const value of values) {
    const create = () => sqliteQueue({ ...options, [name]: value });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(name);
  }
});

it("rejects Deno by name", () => {
  const own = Object.getOwnPropertyDescriptor(process, "versions")!;
  const versions = { ...process.versions, deno: "2.9.6" };
  Object.defineProperty(process, "versions", { ...own, value: versions });
  expect(() => sqliteQueue(options)).toThrow("this is Deno 2.9.6");
  Object.defineProperty(process, "versions", own);
});

it("leaves a file that it may not look at to the one who opens it", async () => {
  const deny = () => {
    throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
  };
  const stat = jest.spyOn(fs, "statSync").mockImplementation(deny);
  const queue = sqliteQueue(options);
  stat.mockRestore();
  await queue.close({ deadlineMs: 0 });
});

const SHARED =
  "nfs,smbfs,smb3,ceph,lustre,gpfs,afs,ocfs2,gfs2,beegfs,vboxsf,vmhgfs,prl_fs,fuse.s3fs,fuse.gcsfuse,fuse.rclone,fuse.cephfs,fuse.glusterfs,fuse.juicefs,fuse.vmhgfs-fuse";

itNeeds("/proc").each<[type: string, place: string, words: RegExp]>([
  ...SHARED.split(",").map((type) => [type, folder, /^TypeError: /] as [string, string, RegExp]),
  ...["ramfs", "aufs", "fakeowner", "grpcfuse", "osxfs"].map(
    (type) => [type, folder, /^Warning: /] as [string, string, RegExp],
  ),
  ["nfs4", folder, /^TypeError: .* is on nfs4/],
  ["cifs", folder, /^TypeError: .* is on cifs/],
  ["9p", folder, /^TypeError: .* is on 9p/],
  ["fuse.sshfs", dirname(folder), /^TypeError: .* is on fuse.sshfs/],
  ["ext4", file, /^TypeError: .*Mount the folder/],
  ["tmpfs", folder, /^Warning: .*restart of the machine/],
  ["overlay", "/", /^Warning: .*container/],
  ["virtiofs", folder, /^Warning: .*power cut/],
  ["fuse.mergerfs", folder, /^Warning: .*power cut/],
  ["ext4", folder, /^$/],
])("says what a disk of the type %s loses that is mounted at %s", async (type, place, words) => {
  // The last mount of a place is in use.
  const lines = ["nfs", type].map(
    (one) => `1 1 0:1 / ${place.replaceAll(" ", "\\040")} rw shared:1 - ${one} x rw`,
  );
  const read = jest.spyOn(fs, "readFileSync").mockReturnValue(lines.join("\n"));
  const said: string[] = [];
  const warn = (_fields: object, text: string) => void said.push(`Warning: ${text}`);
  let queue: DurableQueue | undefined;
  try {
    queue = sqliteQueue({ ...options, logger: { ...silent, warn } });
  } catch (error) {
    said.push(String(error));
  }
  read.mockRestore();
  await queue?.close({ deadlineMs: 0 });
  expect(said.join("\n")).toMatch(words);
});

it.each([
  "\\\\server\\share\\push.db",
  "\\\\?\\UNC\\server\\share\\push.db",
  "\\\\wsl$\\home\\push.db",
])("rejects a share of Windows: %s", (share) =>
  expect(() => findDiskRisk(share)).toThrow(TypeError),
);

itNeeds("/proc")("warns when it cannot see the disk", async () => {
  const read = jest.spyOn(fs, "readFileSync").mockImplementation(() => {
    throw Object.assign(new Error("none"), { code: "ENOENT" });
  });
  const warn = jest.fn();
  const queue = sqliteQueue({ ...options, logger: { ...silent, warn } });
  read.mockRestore();
  await queue.close({ deadlineMs: 0 });
  const words = expect.stringContaining("cannot be checked") as unknown;
  expect(warn.mock.calls).toEqual([[expect.anything(), words]]);
});
