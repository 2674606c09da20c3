/** Files of SQLite as people have them; `npm run setups` prints the table. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { sqliteQueue } from "express-push-verification/durable";
import { TYPESCRIPT } from "../../support/child-processes";
import { silent } from "../../support/durable";
import { createFile, damagePages, execute, removeFiles } from "../../support/sqlite";
import { describeSetups, type Rejection, type Setup } from "../setups/describe-setups";
import type { Outcome } from "../setups/try-setup";

const isRoot = process.getuid?.() === 0;
// Root may write anywhere. Another user may need its right to read the folder of this project.
const READ_ANYWHERE = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"];
const AS_OTHER_USER = isRoot ? ["setpriv", "--reuid=65534", ...READ_ANYWHERE] : [];
let mounted: string | undefined;

afterEach(() => {
  if (mounted !== undefined) execFileSync("umount", ["-l", mounted]);
  mounted = undefined;
  removeFiles();
});

const open =
  (file: string, name = "setup") =>
  () =>
    sqliteQueue({ file, name, backoff: 20, logger: silent });

/** The file of a queue that was closed. */
async function createQueueFile(name = "setup"): Promise<string> {
  const file = createFile();
  const queue = open(file, name)();
  await queue.ready();
  await queue.close();
  return file;
}

/** A file that the queue must leave as it is. */
function rejected(
  title: string,
  rejects: Rejection,
  create: () => string | Promise<string>,
): Setup {
  let file: string;
  let before: Buffer;
  return {
    title,
    rejects,
    async start() {
      file = await create();
      before = readFileSync(file);
      return open(file);
    },
    end() {
      expect(readFileSync(file).equals(before)).toBe(true);
      // SQLite itself opens those of a database.
      if (!before.toString("latin1").startsWith("SQLite format 3")) {
        expect(existsSync(`${file}-wal`)).toBe(false);
      }
    },
  };
}

/** Tries a file as a user who may write to none of the files of another one. */
function tryAsOtherUser(file: string): Outcome {
  const script = `
    const { sqliteQueue } = require("express-push-verification/durable");
    const { trySetup } = require("./__tests__/durable/setups/try-setup");
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    void trySetup(() => sqliteQueue({ name: "setup", file: process.argv[1], logger }))
      .then((outcome) => console.log(JSON.stringify(outcome)));`;
  const env = { ...process.env, PUSH_TEST_RUN: undefined, NODE_OPTIONS: TYPESCRIPT.join(" ") };
  const [program, ...args] = [...AS_OTHER_USER, process.execPath, "-e", script, file];
  return JSON.parse(execFileSync(program, args, { env, encoding: "utf8" })) as Outcome;
}

const withPermissions =
  (folderMode: number, files: Readonly<Record<string, number>>): Setup["start"] =>
  async () => {
    const file = "" in files ? await createQueueFile() : createFile();
    if ("-wal" in files) writeFileSync(`${file}-wal`, "");
    for (const [ending, mode] of Object.entries(files)) chmodSync(file + ending, mode);
    chmodSync(dirname(file), folderMode);
    try {
      return tryAsOtherUser(file);
    } finally {
      chmodSync(dirname(file), 0o777);
    }
  };

/** Mounts a place on another one, as containers do. */
function mount(from: string, to: string): void {
  execFileSync("mount", ["--bind", from, to]);
  mounted = to;
}

const READONLY = (words: RegExp): Rejection => ["FILE_READONLY", words];
const FOREIGN: Rejection = ["FILE_FOREIGN", /push\.db/];
const DAMAGED: Rejection = ["FILE_DAMAGED", /push\.db/];
const WRONG = (words: RegExp): Rejection => ["TypeError", words];

const MOUNTS: Setup[] = [
  {
    title: "a file that is a mount",
    async start() {
      const [from, to] = [await createQueueFile(), await createQueueFile()];
      mount(from, to);
      return open(to);
    },
    rejects: WRONG(/Mount the folder/),
  },
  {
    title: "a folder that is a mount",
    async start() {
      const [from, to] = [await createQueueFile(), createFile()];
      mount(dirname(from), dirname(to));
      return open(to);
    },
  },
  {
    title: "a disk in memory",
    async start() {
      const file = createFile();
      execFileSync("mount", ["-t", "tmpfs", "tmpfs", dirname(file)]);
      mounted = dirname(file);
      return open(file);
    },
  },
];

const SETUPS: Setup[] = [
  { title: "no file", start: async () => open(createFile()) },
  { title: "its own file", start: async () => open(await createQueueFile()) },
  {
    title: "an empty file",
    async start() {
      const file = createFile();
      writeFileSync(file, "");
      return open(file);
    },
  },
  ...(isRoot ? MOUNTS : []),
  {
    title: "a folder that does not exist",
    async start() {
      const file = createFile();
      rmSync(dirname(file), { recursive: true });
      return open(file);
    },
    rejects: WRONG(/folder that exists/),
  },
  {
    title: "a folder in place of a file",
    async start() {
      const file = createFile();
      mkdirSync(file);
      return open(file);
    },
    rejects: WRONG(/path of a file/),
  },
  {
    title: "a file of another user",
    start: withPermissions(0o777, { "": 0o444 }),
    rejects: READONLY(/\(user \d+\) may not write to .*push\.db\./),
  },
  {
    title: "a folder of another user",
    start: withPermissions(0o555, { "": 0o666 }),
    rejects: READONLY(/\(user \d+\) may not write to .*push-sqlite-\w+\./),
  },
  {
    title: "a folder of another user, no file",
    start: withPermissions(0o555, {}),
    rejects: READONLY(/\(user \d+\) may not write to .*push-sqlite-\w+\./),
  },
  {
    title: "the -wal of another user's killed process",
    start: withPermissions(0o777, { "": 0o666, "-wal": 0o444 }),
    rejects: READONLY(/\(user \d+\) may not write to .*push\.db-wal\./),
  },
  ...[
    "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)",
    "PRAGMA user_version = 7",
  ].map((sql) =>
    rejected(`a database of another program: ${sql.replace(/;.*/, "")}`, FOREIGN, () =>
      execute(createFile(), sql),
    ),
  ),
  ...[1, 49, 511, 2_900].map((count) =>
    rejected(`no database, ${count} bytes`, FOREIGN, () => {
      const file = createFile();
      writeFileSync(file, "x".repeat(count));
      return file;
    }),
  ),
  rejected("the queue of another name", FOREIGN, () => createQueueFile("other")),
  rejected("a newer version", ["FILE_NEWER", /push\.db/], async () =>
    execute(await createQueueFile(), "PRAGMA user_version = 99"),
  ),
  ...[
    "ALTER TABLE event DROP COLUMN stalls",
    ...["queue", "delivery", "event", "outcome", "member"].map((table) => `DROP TABLE ${table}`),
  ].map((sql) =>
    rejected(`after ${sql}`, DAMAGED, async () => execute(await createQueueFile(), sql)),
  ),
  rejected("damaged pages", DAMAGED, async () => {
    const file = await createQueueFile();
    damagePages(file, [5, 6, 7]);
    return file;
  }),
  rejected("a file that was cut off", DAMAGED, async () => {
    const file = await createQueueFile();
    truncateSync(file, 4096 * 5);
    return file;
  }),
];

describeSetups("SQLite", SETUPS);
