import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createHandlers, type ChallengeEvent } from "express-push-verification";
import type { Logger, WebhookError } from "express-push-verification";
import { sqliteQueue, type QueueError } from "express-push-verification/durable";
import { canShare, connect } from "../../../lib/durable/sqlite/node-sqlite";
import {
  closeLater,
  closeOpened,
  createSlowHandlers,
  queuedEvent,
  silent,
  storeFactor,
} from "../../support/durable";
import { eventFixture } from "express-push-verification/testing";
import { until } from "../../support/waiting";
import { createFile, damagePages, execute, removeFiles } from "../../support/sqlite";

const open = (file: string, logger: Partial<Logger> = {}) =>
  closeLater(
    sqliteQueue({ file, name: "q", logger: { ...silent, ...logger }, storeTimeoutMs: 5_000 }),
  );
const codeOf = (code: string) => expect.objectContaining({ code }) as unknown;

/** The file of a queue with so many events. */
async function createQueueFile(count = 1, first = "u0"): Promise<string> {
  const file = createFile();
  const queue = open(file);
  await queue.ready();
  const uuids = [first, ...Array.from({ length: count - 1 }, (_, index) => `u${index + 1}`)];
  await Promise.all(uuids.map((uuid) => storeFactor(queue, uuid)));
  await queue.close();
  return file;
}

afterEach(async () => {
  await closeOpened();
  removeFiles();
});

it("creates files that other users cannot read", async () => {
  const file = createFile();
  const queue = open(file);
  await queue.ready();
  await storeFactor(queue, "a");
  const modes = ["", "-wal", "-shm"].map((end) => statSync(file + end).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o600]);
});

it("does not write the -wal of a killed process into a damaged file", async () => {
  const file = await createQueueFile(200);
  const connection = connect(file);
  connection.exec("PRAGMA wal_autocheckpoint = 0; UPDATE event SET started = 1 WHERE id = 1");
  const wal = readFileSync(`${file}-wal`);
  connection.close();
  damagePages(file, 10, 12);
  writeFileSync(`${file}-wal`, wal);
  const damaged = readFileSync(file);
  const queue = open(file);
  await expect(queue.ready()).rejects.toMatchObject({ name: "QueueError", code: "FILE_DAMAGED" });
  const unavailable = { code: "STORE_UNAVAILABLE", cause: codeOf("FILE_DAMAGED") };
  await expect(storeFactor(queue, "a")).rejects.toMatchObject(unavailable);
  await queue.close();
  expect(readFileSync(file).equals(damaged)).toBe(true);
  expect(readFileSync(`${file}-wal`).equals(wal)).toBe(true);
});

it("finds the damage of a file of more than 512 MiB when a worker meets it, and does not open it again", async () => {
  const file = await createQueueFile(200);
  // The root pages of the tables stay intact: storing an event reads none of the damaged pages.
  damagePages(file, 21, 23);
  // SQLite ignores bytes after the last page; the file is sparse.
  truncateSync(file, 600 * 1024 * 1024);
  const error = jest.fn();
  const queue = open(file, { error });
  await queue.ready();
  queue.work(createHandlers().onAny(() => {}));
  await until(async () => (await queue.ready().catch(() => "rejected")) === "rejected");
  await expect(queue.ready()).rejects.toEqual(codeOf("FILE_DAMAGED"));
  const unavailable = { code: "STORE_UNAVAILABLE", cause: codeOf("FILE_DAMAGED") };
  await expect(storeFactor(queue, "a")).rejects.toMatchObject(unavailable);
  expect(error).toHaveBeenCalledTimes(1);
});

it("makes a dead letter of a row whose number node:sqlite cannot read, and handles the others", async () => {
  const file = await createQueueFile(2);
  execute(file, "UPDATE event SET failures = 1 << 60 WHERE id = 1");
  const queue = open(file);
  const handled: string[] = [];
  queue.work(createHandlers().onAny(({ uuid }) => void handled.push(uuid)));
  await until(async () => handled.length === 1 && (await queue.stats()).deadLetters === 1);
  expect(handled).toEqual(["u1"]);
  expect(await queue.find("u0")).toMatchObject({ state: "dead", attempts: 0 });
});

it.each(["before the start", "later"])(
  "goes on beside an outcome whose number node:sqlite cannot read, inserted %s",
  async (when) => {
    const file = await createQueueFile();
    const insert = () =>
      execute(
        file,
        "INSERT INTO outcome (id, key, params, expires_at) VALUES (1 << 60, x'00', '[]', 1 << 50)",
      );
    if (when === "before the start") insert();
    const queue = open(file);
    await queue.ready();
    if (when === "later") insert();
    const approval = queuedEvent(eventFixture("challenge.approved"));
    await queue.store(approval, Infinity);
    const { challenge_sid: challengeSid } = approval.event as ChallengeEvent;
    const outcome = { account: approval.account, challengeSid, timeoutMs: 10_000 };
    expect(await queue.outcomes.wait(outcome)).toHaveProperty("type", "challenge.approved");
    queue.work(createHandlers().onAny(() => {}));
    await until(async () => (await queue.stats()).waiting === 0);
  },
);

it("lists a dead letter whose number node:sqlite cannot read once", async () => {
  const file = await createQueueFile(2);
  execute(file, "UPDATE event SET failed_at = id, id = (1 << 60) + id");
  const queue = open(file);
  const listed: string[] = [];
  for await (const { uuid } of queue.deadLetters()) listed.push(uuid);
  expect(listed).toEqual(["u0", "u1"]);
});

it("closes without delay after damage while a handler runs", async () => {
  const file = await createQueueFile(200, "slow");
  const queue = open(file);
  await queue.ready();
  const { handlers, handled, finish } = createSlowHandlers();
  queue.work(handlers, { concurrency: 1 });
  await until(() => handled.length === 1);
  damagePages(file, 2, statSync(file).size / 4096);
  // Another connection changes the file, so that the queue reads its pages again.
  execute(file, "PRAGMA user_version = 1");
  await until(() =>
    storeFactor(queue, "b").then(
      () => false,
      ({ cause }: WebhookError) => (cause as QueueError).code === "FILE_DAMAGED",
    ),
  );
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
  for (const ending of ["", "-journal"]) copyFileSync(former + ending, file + ending);
  connection.close();
  expect(statSync(file).size).toBeGreaterThan(0);
  const queue = open(file);
  await queue.ready();
  expect(await storeFactor(queue, "a")).toBe("new");
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
  const unavailable = { code: "STORE_UNAVAILABLE", cause: codeOf("FILE_IN_USE") };
  await expect(storeFactor(queue, "a")).rejects.toMatchObject(unavailable);
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
  const logged: string[] = [];
  const warn = (_fields: object, message: string) => void logged.push(message);
  const queue = open(file, { warn });
  await queue.ready();
  for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
  await until(() => existsSync(file));
  await until(async () => (await storeFactor(queue, "b")) === "new" || existsSync(file));
  expect(logged).toEqual([expect.stringContaining("was removed or replaced")]);
});

const hasProgram = existsSync("/usr/bin/sqlite3");
const REMOVALS: [title: string, remove: (file: string) => void][] = [
  ["was removed", (file) => rmSync(`${file}-wal`)],
  [
    "was replaced",
    (file) => {
      rmSync(`${file}-wal`);
      writeFileSync(`${file}-wal`, "");
    },
  ],
  [
    "was removed by another program, after this process had read the file",
    (file) => {
      readFileSync(file);
      execFileSync("/usr/bin/sqlite3", [file, "SELECT count(*) FROM event"]);
    },
  ],
];

it.each(hasProgram ? REMOVALS : REMOVALS.slice(0, 2))(
  "keeps what it has acknowledged when its -wal %s",
  async (_title, remove) => {
    const file = createFile();
    const warn = jest.fn();
    const queue = open(file, { warn });
    for (let count = 0; count < 20; count++) {
      if (count === 10) {
        remove(file);
        expect(existsSync(file)).toBe(true);
      }
      expect(await storeFactor(queue, `u${count}`)).toBe("new");
    }
    // As a process that is killed leaves them.
    const copy = createFile();
    for (const ending of ["", "-wal"]) copyFileSync(file + ending, copy + ending);
    expect(await open(copy).stats()).toMatchObject({ waiting: 20 });
    expect(warn.mock.calls).toEqual([[expect.anything(), expect.stringContaining("-wal")]]);
  },
);

it("closes although the file was never open", async () => {
  const file = createFile();
  writeFileSync(file, "no database ".repeat(100));
  const queue = open(file);
  await queue.close();
  await expect(queue.ready()).rejects.toEqual(codeOf("CLOSING"));
});
