import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createHandlers, type ChallengeEvent } from "express-push-verification";
import type { Logger } from "express-push-verification";
import { sqliteQueue, type DurableQueue, type QueueError } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { canShare, connect } from "../../../lib/durable/sqlite/node-sqlite";
import {
  closeLater,
  closeOpened,
  createSlowHandlers,
  queuedEvent,
  silent,
  storeFactor,
} from "../../support/durable";
import { createFile, damagePages, execute, removeFiles } from "../../support/sqlite";
import { collect, until } from "../../support/waiting";

const open = (file: string, logger: Partial<Logger> = {}) =>
  closeLater(
    sqliteQueue({ file, name: "q", logger: { ...silent, ...logger }, storeTimeoutMs: 5_000 }),
  );
async function openReady(file: string, logger?: Partial<Logger>): Promise<DurableQueue> {
  const queue = open(file, logger);
  await queue.ready();
  return queue;
}
const codeOf = (code: string) => expect.objectContaining({ code }) as unknown;
const expectUnavailable = (queue: DurableQueue, code: string) =>
  expect(storeFactor(queue, "a")).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    cause: codeOf(code),
  });

/** The file of a queue with so many events. */
async function createQueueFile(count = 1, first = "u0"): Promise<string> {
  const file = createFile();
  const queue = await openReady(file);
  const uuids = [first, ...Array.from({ length: count - 1 }, (_, index) => `u${index + 1}`)];
  await Promise.all(uuids.map((uuid) => storeFactor(queue, uuid)));
  await queue.close();
  return file;
}

afterEach(() => closeOpened().then(removeFiles));

it("creates files that other users cannot read", async () => {
  const file = createFile();
  await storeFactor(open(file), "a");
  const modes = ["", "-wal", "-shm"].map((end) => fs.statSync(file + end).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o600]);
});

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

it("finds the damage of a file of more than 512 MiB when a worker meets it, and does not open it again", async () => {
  const file = await createQueueFile(200);
  // The root pages of the tables stay intact: storing an event reads none of the damaged pages.
  damagePages(file, 21, 23);
  // SQLite ignores bytes after the last page; the file is sparse.
  fs.truncateSync(file, 600 * 1024 * 1024);
  const error = jest.fn();
  const queue = await openReady(file, { error });
  queue.work(createHandlers().onAny(() => {}));
  await until(async () => (await queue.ready().catch(() => "rejected")) === "rejected");
  await expect(queue.ready()).rejects.toEqual(codeOf("FILE_DAMAGED"));
  await expectUnavailable(queue, "FILE_DAMAGED");
  expect(error).toHaveBeenCalledTimes(1);
});

it("goes on beside outcomes whose numbers node:sqlite cannot read", async () => {
  const file = await createQueueFile();
  const insert = (id: string) =>
    execute(file, `INSERT INTO outcome VALUES (${id}, randomblob(16), '[]', 1 << 50)`);
  insert("1 << 60");
  const queue = await openReady(file);
  insert("(1 << 60) + 1");
  const approval = queuedEvent(eventFixture("challenge.approved"));
  await queue.store(approval, Infinity);
  const { challenge_sid: challengeSid } = approval.event as ChallengeEvent;
  const outcome = { account: approval.account, challengeSid, timeoutMs: 10_000 };
  expect(await queue.outcomes.wait(outcome)).toHaveProperty("type", "challenge.approved");
  queue.work(createHandlers().onAny(() => {}));
  await until(async () => (await queue.stats()).waiting === 0);
});

it("makes a dead letter of a row whose number node:sqlite cannot read, and lists each once", async () => {
  const file = await createQueueFile(4);
  execute(file, "UPDATE event SET failures = 1 << 60 WHERE id = 1");
  execute(file, "UPDATE event SET failed_at = id, id = (1 << 60) + id WHERE id IN (2, 3)");
  const queue = open(file);
  const handled: string[] = [];
  queue.work(createHandlers().onAny(({ uuid }) => void handled.push(uuid)));
  await until(async () => handled.length === 1 && (await queue.stats()).deadLetters === 3);
  expect(handled).toEqual(["u3"]);
  const listed = await collect(queue.deadLetters());
  expect(listed.map(({ uuid }) => uuid)).toEqual(["u1", "u2", "u0"]);
  expect(await queue.find("u0")).toMatchObject({ state: "dead", attempts: 0 });
});

it("closes without delay after damage while a handler runs", async () => {
  const file = await createQueueFile(200, "slow");
  const queue = await openReady(file);
  const { handlers, handled, finish } = createSlowHandlers();
  queue.work(handlers, { concurrency: 1 });
  await until(() => handled.length === 1);
  damagePages(file, 2, fs.statSync(file).size / 4096);
  // Another connection changes the file, so that the queue reads its pages again.
  execute(file, "PRAGMA user_version = 1");
  await until(async () => {
    const reason = await storeFactor(queue, "b").catch((error: Error) => error.cause);
    return (reason as QueueError).code === "FILE_DAMAGED";
  });
  finish();
  await queue.close();
});

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
  expect(reason).toMatchObject({ code: "FILE_IN_USE" });
  const isSharing = canShare(process.versions.sqlite ?? "");
  expect(reason?.message.includes("3.51.3 or newer")).toBe(!isSharing);
  await expectUnavailable(queue, "FILE_IN_USE");
  expect(error).toHaveBeenCalledTimes(1);
  connection.exec("ROLLBACK");
  connection.close();
  expect(await storeFactor(queue, "a")).toBe("new");
});

it("logs nothing while another process creates the file", async () => {
  const file = createFile();
  const connection = connect(file);
  connection.exec("BEGIN EXCLUSIVE");
  const error = jest.fn();
  const queue = open(file, { error });
  await sleep(200);
  connection.exec("ROLLBACK");
  connection.close();
  await queue.ready();
  expect(error).not.toHaveBeenCalled();
});

it("creates the file again when it was removed, and logs that", async () => {
  const file = await createQueueFile();
  const warn = jest.fn();
  const queue = await openReady(file, { warn });
  for (const ending of ["", "-wal", "-shm"]) fs.rmSync(file + ending, { force: true });
  await until(() => fs.existsSync(file));
  await until(async () => (await storeFactor(queue, "b")) === "new" || fs.existsSync(file));
  const words = expect.stringContaining("was removed or replaced");
  expect(warn.mock.calls).toEqual([[expect.anything(), words]]);
});

const REMOVALS: [title: string, remove: (file: string) => void][] = [
  ["was removed", (file) => fs.rmSync(`${file}-wal`)],
  [
    "was replaced",
    (file) => {
      fs.rmSync(`${file}-wal`);
      fs.writeFileSync(`${file}-wal`, "");
    },
  ],
  [
    "was removed by another program, after this process had read the file",
    (file) => {
      fs.readFileSync(file);
      execFileSync("/usr/bin/sqlite3", [file, "SELECT count(*) FROM event"]);
    },
  ],
];

it.each(fs.existsSync("/usr/bin/sqlite3") ? REMOVALS : REMOVALS.slice(0, 2))(
  "keeps what it has acknowledged when its -wal %s",
  async (_title, remove) => {
    const file = createFile();
    const warn = jest.fn();
    const queue = open(file, { warn });
    for (let count = 0; count < 20; count++) {
      if (count === 10) remove(file);
      expect(await storeFactor(queue, `u${count}`)).toBe("new");
    }
    // As a process that is killed leaves them.
    const copy = createFile();
    for (const ending of ["", "-wal"]) fs.copyFileSync(file + ending, copy + ending);
    expect(await open(copy).stats()).toMatchObject({ waiting: 20 });
    expect(warn.mock.calls).toEqual([[expect.anything(), expect.stringContaining("-wal")]]);
  },
);

it("closes although the file was never open", async () => {
  const file = createFile();
  fs.writeFileSync(file, "no database ".repeat(100));
  const queue = open(file);
  await queue.close();
  await expect(queue.ready()).rejects.toEqual(codeOf("CLOSING"));
});
