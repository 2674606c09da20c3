/** Files of SQLite as people have them; `npm run setups` prints the table. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { dirname } from "node:path";
import { sqliteQueue } from "express-push-verification/durable";
import { TYPESCRIPT_OPTIONS } from "../../support/child-processes";
import { patient } from "../../support/durable";
import { has, itNeeds } from "../../support/platform";
import { createFile, damagePages, execute, removeFiles } from "../../support/sqlite";
import { describeSetups, type Outcome, type Rejection, type Setup } from "../setups/setup";

const isRoot = process.getuid?.() === 0;
// Root may write anywhere. Another user may need its right to read the folder of this project.
const READ_ANYWHERE = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"];
const AS_OTHER_USER = isRoot ? ["setpriv", "--reuid=65534", ...READ_ANYWHERE] : [];

afterEach(removeFiles);

const open =
  (file: string, name = "setup") =>
  () =>
    sqliteQueue({ file, name, backoff: 20, ...patient });

async function create(file: string, name = "setup"): Promise<string> {
  const queue = open(file, name)();
  await queue.ready();
  await queue.close();
  return file;
}

const withFile = (make: (file: string) => unknown) => async () => {
  const file = createFile();
  await make(file);
  return open(file);
};

/** A file that the queue must leave as it is. */
function rejected(title: string, rejects: Rejection, make: (file: string) => unknown): Setup {
  let file: string;
  let before: Buffer;
  const start = withFile(async (path) => {
    file = path;
    await make(file);
    before = fs.readFileSync(file);
  });
  return [
    title,
    start,
    rejects,
    () => {
      expect(fs.readFileSync(file).equals(before)).toBe(true);
      // SQLite itself opens those of a database.
      if (!before.toString("latin1").startsWith("SQLite format 3")) {
        expect(fs.existsSync(`${file}-wal`)).toBe(false);
      }
    },
  ];
}

const changed = (title: string, rejects: Rejection, change: (file: string) => unknown) =>
  rejected(title, rejects, async (file) => change(await create(file)));

/** Tries a file as a user who may write to none of the files of another one. */
function tryAsOtherUser(file: string): Outcome {
  const script = `
    const { sqliteQueue } = require("express-push-verification/durable");
    const { trySetup } = require("./__tests__/durable/setups/setup");
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    void trySetup(() => sqliteQueue({ name: "setup", file: process.argv[1], logger }))
      .then((outcome) => console.log(JSON.stringify(outcome)));`;
  // The folder of temporary files of this run is not for others.
  const own = { PUSH_TEST_RUN: undefined, TMPDIR: undefined };
  const env = { ...process.env, ...own, NODE_OPTIONS: TYPESCRIPT_OPTIONS };
  const [program, ...args] = [...AS_OTHER_USER, process.execPath, "-e", script, file];
  return JSON.parse(execFileSync(program, args, { env, encoding: "utf8" })) as Outcome;
}

const withPermissions = (folder: number, files: Readonly<Record<string, number>>) => async () => {
  const file = createFile();
  if ("" in files) await create(file);
  if ("-wal" in files) fs.writeFileSync(`${file}-wal`, "");
  for (const [ending, mode] of Object.entries(files)) fs.chmodSync(file + ending, mode);
  fs.chmodSync(dirname(file), folder);
  try {
    return tryAsOtherUser(file);
  } finally {
    fs.chmodSync(dirname(file), 0o777);
  }
};

/** Does what the message for a file of root says. */
async function changeOwner() {
  const file = await create(createFile());
  fs.chmodSync(dirname(file), 0o755);
  const [, paths = ""] = /may not write to (.*)\. SQLite/.exec(tryAsOtherUser(file).words) ?? [];
  execFileSync("chown", ["65534", ...paths.split(", ")]);
  return tryAsOtherUser(file);
}

const READONLY = (place: string): Rejection => [
  "FILE_READONLY",
  new RegExp(`\\(user \\d+\\) may not write to .*${place}\\.`),
];
const UNWRITABLE: Rejection = ["FILE_READONLY", /cannot write .*push\.db: .* folder/];
const FOREIGN: Rejection = ["FILE_FOREIGN", /push\.db/];
// In one line.
const DAMAGED: Rejection = ["FILE_DAMAGED", /^.*push\.db is damaged \([^*\n]+$/];
const WRONG = (words: RegExp): Rejection => ["TypeError", words];
const TABLES = ["queue", "delivery", "event", "outcome", "member", "entry", "minute"];

const behindLink = (make: (file: string) => unknown) => async () => {
  const [file, link] = [createFile(), createFile()];
  await make(file);
  fs.symlinkSync(file, link);
  return open(link);
};

// options.test.ts has every kind of mount.
let mounted = "";
async function mount(file: string): Promise<void> {
  const other = await create(createFile());
  execFileSync("mount", ["--bind", other, await create(file)]);
  mounted = file;
}
const MOUNTS = [withFile(mount), behindLink(mount)].map((start, index): Setup => [
  `${["a file", "a link to a file"][index]} that is a mount`,
  start,
  WRONG(/Mount the folder/),
  () => execFileSync("umount", ["-l", mounted]),
]);

const removeFolder = (file: string) => fs.rmSync(dirname(file), { recursive: true });

/** A link that another user owns, to a file of the process. */
async function openReadonlyLink() {
  const [file, link] = [createFile(), createFile()];
  fs.chmodSync(dirname(file), 0o777);
  fs.symlinkSync(file, link);
  fs.chmodSync(dirname(link), 0o555);
  return tryAsOtherUser(link);
}

const OF_OTHERS: Setup[] = [
  ["a file of another user", withPermissions(0o777, { "": 0o444 }), READONLY("push\\.db")],
  ["a folder of another user", withPermissions(0o555, { "": 0o666 }), READONLY("push-sqlite-\\w+")],
  ...(isRoot ? [["a file of another user, after chown", changeOwner] as const] : []),
  ["a folder of another user, no file", withPermissions(0o555, {}), READONLY("push-sqlite-\\w+")],
  [
    "the -wal of another user's killed process",
    withPermissions(0o777, { "": 0o666, "-wal": 0o444 }),
    READONLY("push\\.db-wal"),
  ],
  [
    "a folder that another user may not enter",
    withPermissions(0o600, {}),
    ["FILE_READONLY", /\(user \d+\) may not write to .*push-sqlite-\w+/],
  ],
  ["a link in a folder of another user", openReadonlyLink],
];

const SETUPS: Setup[] = [
  ["no file", withFile(() => {})],
  ["its own file", withFile(create)],
  ["an empty file", withFile((file) => fs.writeFileSync(file, ""))],
  ...(isRoot && has("/proc") ? MOUNTS : []),
  ["a folder that does not exist", withFile(removeFolder), WRONG(/folder that exists/)],
  ["a link to its own file", behindLink(create)],
  ["a link to a file that does not exist", behindLink(() => {})],
  [
    "a link into a folder that does not exist",
    behindLink(removeFolder),
    WRONG(/folder that exists/),
  ],
  ["a link to a folder", behindLink((file) => fs.mkdirSync(file)), WRONG(/path of a file/)],
  ["a link to itself", withFile((file) => fs.symlinkSync(file, file)), WRONG(/ELOOP/)],
  [
    "a second name (hard link) of its file",
    withFile(async (file) => fs.linkSync(await create(file), `${file}.copy`)),
    WRONG(/2 names/),
  ],
  ["a folder in place of a file", withFile((file) => fs.mkdirSync(file)), WRONG(/path of a file/)],
  [
    "a folder in place of the -wal",
    withFile(async (file) => fs.mkdirSync(`${await create(file)}-wal`)),
    UNWRITABLE,
  ],
  ...["PRAGMA journal_mode = WAL; CREATE TABLE t (a)", "PRAGMA user_version = 7"].map((sql) =>
    rejected(`a database of another program: ${sql}`, FOREIGN, (file) => execute(file, sql)),
  ),
  ...[1, 511, 2_900].map((count) =>
    rejected(`no database, ${count} bytes`, FOREIGN, (file) =>
      fs.writeFileSync(file, "x".repeat(count)),
    ),
  ),
  rejected("the queue of another name", FOREIGN, (file) => create(file, "other")),
  changed("a newer version", ["FILE_NEWER", /push\.db/], (file) =>
    execute(file, "PRAGMA user_version = 99"),
  ),
  ...["ALTER TABLE event DROP COLUMN stalls", ...TABLES.map((table) => `DROP TABLE ${table}`)].map(
    (sql) => changed(`after ${sql}`, DAMAGED, (file) => execute(file, sql)),
  ),
  changed("damaged pages", DAMAGED, (file) => damagePages(file, 5, 7)),
  changed("a file that was cut off", DAMAGED, (file) => fs.truncateSync(file, 4096 * 5)),
];

describeSetups("SQLite", SETUPS);
describeSetups("SQLite, without a right or a folder", OF_OTHERS, itNeeds("file modes"));
