import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { createHandlers, type Logger } from "express-push-verification";
import { sqliteQueue, type DurableQueue, type QueueError } from "express-push-verification/durable";
import { ROW_INVALID } from "../../../lib/durable/storage";
import { canShare, connect } from "../../../lib/durable/sqlite/node-sqlite";
import {
  closeLater,
  closeOpened,
  patient,
  responseOf,
  silent,
  storeFactor,
  waitForOutcome,
} from "../../support/durable";
import { itNeeds } from "../../support/platform";
import { mountSmallDisk } from "../../support/small-disk";
import { createFile, damagePages, execute, removeFiles } from "../../support/sqlite";
import { collect, createGate, until } from "../../support/waiting";

const disk = mountSmallDisk("size=2m");

const open = (file: string, logger: Partial<Logger> = {}) =>
  closeLater(sqliteQueue({ file, name: "q", ...patient, logger: { ...silent, ...logger } }));
async function openReady(file: string, logger?: Partial<Logger>): Promise<DurableQueue> {
  const queue = open(file, logger);
  await queue.ready();
  return queue;
}
const codeOf = (code: string) => expect.objectContaining({ code }) as unknown;
const expectUnavailable = (queue: DurableQueue, code: string) =>
  expect(storeFactor(queue, "a", performance.now() + 200)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    cause: codeOf(code),
  });

async function createQueueFile(count = 1): Promise<string> {
  const file = createFile();
  const queue = await openReady(file);
  const stored = Array.from({ length: count }, (_, index) => storeFactor(queue, `u${index}`));
  await Promise.all(stored);
  await queue.close();
  return file;
}

afterEach(() => closeOpened().then(removeFiles));

it("does not write the -wal of a killed process into a damaged file", async () => {
  const file = await createQueueFile(200);
  const connection = connect(file);
  connection.exec("PRAGMA wal_autocheckpoint = 0; UPDATE event SET started = 1 WHERE id = 1");
  const wal = fs.readFileSync(`${file}-wal`);
  connection.close();
  damagePages(file, 10, 12);
  fs.writeFileSync(`${file}-wal`, wal);
  const damaged = fs.readFileSync(file);
  const queue = open(file);
  await expect(queue.ready()).rejects.toMatchObject({ name: "QueueError", code: "FILE_DAMAGED" });
  await expectUnavailable(queue, "FILE_DAMAGED");
  await queue.close();
  expect(fs.readFileSync(file).equals(damaged)).toBe(true);
  expect(fs.readFileSync(`${file}-wal`).equals(wal)).toBe(true);
});

it("finds the damage of a file of more than 512 MiB when a worker meets it", async () => {
  const file = await createQueueFile(200);
  // The root pages of the tables stay intact: storing an event reads none of the damaged pages.
  damagePages(file, 21, 23);
  // SQLite ignores bytes after the last page; the file is sparse.
  fs.truncateSync(file, 600 * 1024 * 1024);
  const error = jest.fn();
  const queue = await openReady(file, { error });
  const { opened, open: finish } = createGate();
  queue.work(createHandlers().onAny(({ uuid }) => (uuid === "u0" ? opened : undefined)));
  await until(async () => (await queue.ready().catch(() => "rejected")) === "rejected");
  await expect(queue.ready()).rejects.toEqual(codeOf("FILE_DAMAGED"));
  await expectUnavailable(queue, "FILE_DAMAGED");
  expect(error).toHaveBeenCalledTimes(1);
  finish();
  // The run whose end it cannot store does not delay this.
  await queue.close({ deadlineMs: 600_000 });
});

it("makes dead letters of events whose numbers node:sqlite cannot read", async () => {
  const file = await createQueueFile(4);
  const insertOutcome = (id: string) =>
    execute(file, `INSERT INTO outcome VALUES (${id}, randomblob(16), '[]', 1 << 50)`);
  insertOutcome("1 << 60");
  execute(file, "UPDATE event SET failures = 1 << 60 WHERE id = 1");
  execute(file, "UPDATE event SET failed_at = id, id = (1 << 60) + id WHERE id IN (2, 3)");
  const queue = await openReady(file);
  insertOutcome("(1 << 60) + 1");
  await queue.store(responseOf("u4", 1), Infinity);
  expect(await waitForOutcome(queue, 1)).toHaveProperty("type", "challenge.approved");
  const handled: string[] = [];
  queue.work(createHandlers().onAny(({ uuid }) => void handled.push(uuid)));
  await until(async () => handled.length === 2 && (await queue.stats()).deadLetters === 3);
  expect(handled.toSorted()).toEqual(["u3", "u4"]);
  const listed = await collect(queue.deadLetters());
  expect(listed.map(({ uuid }) => uuid)).toEqual(["u1", "u2", "u0"]);
  expect(await queue.find("u0")).toMatchObject({ state: "dead", attempts: 0 });
  expect((await queue.deadGroups()).map(({ error }) => error)).toContain(ROW_INVALID);
});

const MAX = "9223372036854775807";

it.each([
  ["delivery (id, key, content, expires_at)", "x'00'"],
  ["outcome (id, key, value, expires_at)", "'[]'"],
])(
  "stores events beside a row of another program with the greatest id in %s",
  async (columns, value) => {
    const insert = (file: string) =>
      execute(file, `INSERT INTO ${columns} VALUES (${MAX}, randomblob(16), ${value}, 1 << 50)`);
    const file = await createQueueFile();
    const queue = await openReady(file);
    insert(file);
    expect(await queue.store(responseOf("b", 1), Infinity)).toBe("new");
    expect(await waitForOutcome(queue, 1)).toHaveProperty("type", "challenge.approved");
    await queue.close();
    insert(file);
    expect(await storeFactor(await openReady(file), "c")).toBe("new");
  },
);

it("uses a file whose process was killed while it created the tables", async () => {
  const [file, former] = [createFile(), createFile()];
  const connection = connect(former);
  // With a cache of one page, SQLite writes to the file before the commit.
  connection.exec("PRAGMA cache_size = 1; BEGIN; CREATE TABLE event (a TEXT)");
  const insert = connection.prepare("INSERT INTO event VALUES (?)");
  for (let row = 0; row < 100; row++) insert.run("x".repeat(1_000));
  for (const ending of ["", "-journal"]) fs.copyFileSync(former + ending, file + ending);
  connection.close();
  expect(fs.statSync(file).size).toBeGreaterThan(0);
  expect(await storeFactor(await openReady(file), "a")).toBe("new");
});

it("waits for a file that another process does not share", async () => {
  const file = await createQueueFile();
  const connection = connect(file);
  connection.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  const error = jest.fn();
  const queue = open(file, { error });
  const reason = await queue.ready().catch((rejection: unknown) => rejection as QueueError);
  const words = expect.stringContaining("does not share it") as string;
  expect(reason).toMatchObject({ code: "FILE_IN_USE", message: words });
  const isSharing = canShare(process.versions.sqlite ?? "");
  expect(reason?.message.includes("3.51.3 or newer")).toBe(!isSharing);
  await expectUnavailable(queue, "FILE_IN_USE");
  expect(error).toHaveBeenCalledTimes(1);
  connection.exec("ROLLBACK");
  connection.close();
  expect(await storeFactor(queue, "a")).toBe("new");
});

itNeeds("removing open files")("creates a file again that was removed", async () => {
  const file = await createQueueFile();
  const warn = jest.fn();
  const queue = await openReady(file, { warn });
  const files = ["", "-wal", "-shm"].map((ending) => file + ending);
  for (const one of files) fs.rmSync(one, { force: true });
  await until(() => fs.existsSync(file));
  await until(async () => (await storeFactor(queue, "b")) === "new" || fs.existsSync(file));
  const words = expect.stringContaining("was removed or replaced");
  expect(warn.mock.calls).toEqual([[expect.anything(), words]]);
  const modes = files.map((one) => fs.statSync(one).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o600]);
});

const CLI = "/usr/bin/sqlite3";

function replaceWal(file: string): void {
  fs.rmSync(`${file}-wal`);
  fs.writeFileSync(`${file}-wal`, "");
}

itNeeds("removing open files").each<
  [title: string, remove: (file: string) => void, isLink?: boolean]
>([
  ["was replaced", replaceWal],
  [
    "was removed by another program, after this process had read the file",
    (file) => {
      fs.readFileSync(file);
      if (fs.existsSync(CLI)) execFileSync(CLI, [file, "SELECT count(*) FROM event"]);
      fs.rmSync(`${file}-wal`, { force: true });
    },
  ],
  ["was replaced behind a link", replaceWal, true],
  [
    "was replaced while another process has the file open",
    (file) => {
      if (canShare(process.versions.sqlite ?? "")) {
        const other = closeLater(connect(file));
        other.prepare("SELECT count(*) FROM event").get();
      }
      replaceWal(file);
    },
  ],
])("keeps what it has acknowledged when its -wal %s", async (_title, remove, isLink = false) => {
  const [file, link] = [createFile(), createFile()];
  if (isLink) fs.symlinkSync(file, link);
  const warn = jest.fn();
  const queue = open(isLink ? link : file, { warn });
  for (let count = 0; count < 20; count++) {
    if (count === 10) remove(file);
    expect(await storeFactor(queue, `u${count}`)).toBe("new");
  }
  // As a process that is killed leaves them.
  const copy = createFile();
  for (const ending of ["", "-wal"]) fs.copyFileSync(file + ending, copy + ending);
  expect(await open(copy).stats()).toMatchObject({ waiting: 20 });
  expect(warn.mock.calls).toEqual([[expect.anything(), expect.stringContaining("-wal")]]);
});

disk.itOnDisk("rejects stores only while the disk is full", async () => {
  const file = join(disk.folder, "push.db");
  const logged: string[] = [];
  const log = (_fields: object, message: string) => void logged.push(message);
  const queue = open(file, { warn: log, info: log });
  const acknowledged: string[] = [];
  const store = (uuid: string, deadlineAtMs?: number) =>
    storeFactor(queue, uuid, deadlineAtMs).then(() => acknowledged.push(uuid));
  await store("before");

  disk.fill();
  let rejected: { cause?: { code?: string } } | undefined;
  // Store until the free space of the write-ahead log is used up; another store may be late.
  for (let index = 0; index < 3_000 && rejected?.cause?.code !== "SQLITE_FULL"; index++) {
    await store(`u${index}`, performance.now() + 1_000).catch((error) => (rejected = error));
  }
  const cause = codeOf("SQLITE_FULL");
  expect(rejected).toMatchObject({ code: "STORE_UNAVAILABLE", status: 503, cause });
  const words = ["is on tmpfs", "disk is full"].map((text) => expect.stringContaining(text));
  expect(logged).toEqual(words);

  disk.free();
  await store("after");
  expect(logged).toHaveLength(3);
  const handled = new Set<string>();
  queue.work(createHandlers().onUnhandled(({ uuid }) => void handled.add(uuid)));
  await until(() => acknowledged.every((uuid) => handled.has(uuid)));
  await queue.close();
  // This checks the whole file.
  await openReady(file);
});

/** A table whose rows take SQLite some seconds, in which nothing ends the thread, as in a fsync that hangs. */
const HANGING = `
  CREATE VIEW long AS WITH RECURSIVE row (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM row LIMIT 3e7)
    SELECT count(*) AS count FROM row;
  CREATE TRIGGER hang AFTER INSERT ON event BEGIN SELECT count FROM long; END`;

it("closes within its deadline while the disk hangs", async () => {
  const file = createFile();
  const queue = await openReady(file);
  execute(file, HANGING);
  const isHanging = () => {
    try {
      execute(file, "PRAGMA busy_timeout = 0; BEGIN IMMEDIATE");
      return false;
    } catch {
      return true;
    }
  };
  void storeFactor(queue, "a").catch(() => {});
  await until(isHanging);
  const startMs = performance.now();
  await queue.close({ deadlineMs: 200 });
  expect(performance.now() - startMs).toBeGreaterThan(190);
  expect(isHanging()).toBe(true);
  await until(() => !isHanging());
});
