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
import { createHandlers, type Logger, type WebhookError } from "express-push-verification";
import { sqliteQueue, type DurableQueue, type QueueError } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { connect } from "../../../lib/durable/sqlite/node-sqlite";
import { queuedEvent, silent } from "../../support/durable";
import { until } from "../../support/waiting";
import { createFile, damagePages, execute, removeFiles } from "../../support/sqlite";

jest.setTimeout(30_000);

const opened: DurableQueue[] = [];
const FOREVER = Number.POSITIVE_INFINITY;

function open(file: string, name = "q", logger: Logger = silent): DurableQueue {
  const queue = sqliteQueue({ file, name, logger, storeTimeoutMs: 5_000 });
  opened.push(queue);
  return queue;
}

const store = (queue: DurableQueue, uuid: string) =>
  queue.store(queuedEvent(eventFixture("factor.created", { uuid })), FOREVER);
const codeOf = (code: string) => expect.objectContaining({ code }) as unknown;

async function createQueueFile(count = 1, sql = ""): Promise<string> {
  const file = createFile();
  const queue = open(file);
  await queue.ready();
  await Promise.all(Array.from({ length: count }, (_, index) => store(queue, `u${index}`)));
  await queue.close();
  if (sql !== "") execute(file, sql);
  return file;
}

afterEach(async () => {
  for (const queue of opened.splice(0)) await queue.close({ deadlineMs: 0 });
  removeFiles();
});

it("creates files that other users cannot read", async () => {
  const file = createFile();
  const queue = open(file);
  await queue.ready();
  await store(queue, "a");
  const modes = ["", "-wal", "-shm"].map((end) => statSync(file + end).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o600]);
});

it("does not write the -wal of a killed process into a damaged file", async () => {
  const file = await createQueueFile(200);
  const connection = connect(file);
  connection.exec("PRAGMA wal_autocheckpoint = 0; UPDATE event SET started = 1 WHERE id = 1");
  const wal = readFileSync(`${file}-wal`);
  connection.close();
  damagePages(file, [10, 11, 12]);
  writeFileSync(`${file}-wal`, wal);
  const damaged = readFileSync(file);
  const queue = open(file);
  await expect(queue.ready()).rejects.toMatchObject({ name: "QueueError", code: "FILE_DAMAGED" });
  const unavailable = { code: "STORE_UNAVAILABLE", cause: codeOf("FILE_DAMAGED") };
  await expect(store(queue, "a")).rejects.toMatchObject(unavailable);
  await queue.close();
  expect(readFileSync(file).equals(damaged)).toBe(true);
  expect(readFileSync(`${file}-wal`).equals(wal)).toBe(true);
});

it("finds the damage of a file of more than 512 MiB when a worker meets it, and does not open it again", async () => {
  const file = await createQueueFile(200);
  // The root pages of the tables stay intact: storing an event reads none of the damaged pages.
  damagePages(file, [21, 22, 23]);
  // SQLite ignores bytes after the last page; the file is sparse.
  truncateSync(file, 600 * 1024 * 1024);
  const error = jest.fn();
  const queue = open(file, "q", { ...silent, error });
  await queue.ready();
  queue.work(createHandlers().onAny(() => {}));
  await until(() =>
    queue.ready().then(
      () => false,
      () => true,
    ),
  );
  await expect(queue.ready()).rejects.toEqual(codeOf("FILE_DAMAGED"));
  const unavailable = { code: "STORE_UNAVAILABLE", cause: codeOf("FILE_DAMAGED") };
  await expect(store(queue, "a")).rejects.toMatchObject(unavailable);
  expect(error).toHaveBeenCalledTimes(1);
});

it("closes without delay after damage while a handler runs", async () => {
  const file = await createQueueFile(200);
  const queue = open(file);
  await queue.ready();
  let finish = () => {};
  let count = 0;
  const running = new Promise<void>((resolve) => (finish = resolve));
  const handlers = createHandlers().onUnhandled(() => {
    count++;
    return running;
  });
  queue.work(handlers, { concurrency: 1 });
  await until(() => count === 1);
  const pageCount = statSync(file).size / 4096;
  damagePages(
    file,
    Array.from({ length: pageCount - 1 }, (_, index) => index + 2),
  );
  // Another connection changes the file, so that the queue reads its pages again.
  execute(file, "PRAGMA user_version = 1");
  await until(() =>
    store(queue, "b").then(
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
  expect(await store(queue, "a")).toBe("new");
});

it("keeps its events when it is opened again", async () => {
  const queue = open(await createQueueFile(3));
  await queue.ready();
  expect(await queue.stats()).toMatchObject({ waiting: 3 });
  expect(await store(queue, "u1")).toBe("duplicate");
});

it("waits for a file that another process does not share", async () => {
  const file = await createQueueFile();
  const connection = connect(file);
  connection.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  const error = jest.fn();
  const queue = open(file, "q", { ...silent, error });
  await expect(queue.ready()).rejects.toEqual(codeOf("FILE_IN_USE"));
  const unavailable = { code: "STORE_UNAVAILABLE", cause: codeOf("FILE_IN_USE") };
  await expect(store(queue, "a")).rejects.toMatchObject(unavailable);
  expect(error).toHaveBeenCalledTimes(1);
  connection.exec("ROLLBACK");
  connection.close();
  expect(await store(queue, "a")).toBe("new");
});

it("logs nothing while another process creates the file", async () => {
  const file = createFile();
  const connection = connect(file);
  connection.exec("BEGIN EXCLUSIVE");
  const error = jest.fn();
  const queue = open(file, "q", { ...silent, error });
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
  const queue = open(file, "q", { ...silent, warn });
  await queue.ready();
  for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
  await until(() => existsSync(file));
  await until(async () => (await store(queue, "b")) === "new" || existsSync(file));
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
    const queue = open(file, "q", { ...silent, warn });
    for (let count = 0; count < 20; count++) {
      if (count === 10) {
        remove(file);
        expect(existsSync(file)).toBe(true);
      }
      expect(await store(queue, `u${count}`)).toBe("new");
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
