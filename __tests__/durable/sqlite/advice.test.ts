/** Each advice on the file of a queue, and what operators do with it; setups/advice.test.ts has the servers. */
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import type { Logger } from "express-push-verification";
import { sqliteQueue } from "express-push-verification/durable";
import { canShare } from "../../../lib/durable/sqlite/node-sqlite";
import { closeLater, closeOpened, patient, silent } from "../../support/durable";
import { createFile, damagePages, execute, removeFiles } from "../../support/sqlite";
import { expectAll, fill, hasTool, readAdvice, restore } from "../setups/advice";
import { describeStates, type State } from "../setups/operators";

const open = (file: string, logger: Logger = silent) =>
  closeLater(sqliteQueue({ file, name: "advised", ...patient, logger }));

let file: string;
const BACKUP: State = [
  "makes a backup with sqlite3",
  () => execFileSync("sqlite3", [file, `.backup ${file}.copy`]),
];
beforeEach(() => void (file = createFile()));
afterEach(() => closeOpened().then(removeFiles));

/** A file with events and a copy of them, which a killed process has left, and which is damaged then. */
async function damage(): Promise<void> {
  await fill(open(file));
  execute(file, `VACUUM INTO '${join(dirname(file), "copy.db")}'`);
  damagePages(file, 5, 7);
  fs.writeFileSync(`${file}-wal`, "");
}

hasTool("cp")("FILE_DAMAGED: a backup is restored as docs/durable-sqlite.md says", async () => {
  await damage();
  const advice = await readAdvice(open(file), "FILE_DAMAGED");
  expect(advice).toMatch(/may be lost.*put a backup in its place/);
  restore("docs/durable-sqlite.md", dirname(file), {});
  await expectAll(open(file));
  expect(fs.existsSync(join(dirname(file), "damaged", "push.db"))).toBe(true);
});

it("FILE_DAMAGED: without a backup, the queue starts empty beside the moved file", async () => {
  await damage();
  await readAdvice(open(file), "FILE_DAMAGED");
  const away = join(dirname(file), "away");
  fs.mkdirSync(away);
  for (const ending of ["", "-wal", "-shm"]) {
    if (fs.existsSync(file + ending)) fs.renameSync(file + ending, join(away, `push.db${ending}`));
  }
  await expectAll(open(file), 0);
  expect(fs.statSync(join(away, "push.db")).size).toBeGreaterThan(4096);
});

it("FILE_FOREIGN: a file of its own leaves that of the other program as it is", async () => {
  execute(file, "CREATE TABLE app (a); INSERT INTO app VALUES (1)");
  const before = fs.readFileSync(file);
  await readAdvice(open(file), "FILE_FOREIGN");
  const own = createFile();
  await fill(open(own));
  await expectAll(open(own));
  expect(fs.readFileSync(file).equals(before)).toBe(true);
});

// sqlite3 is a program of its own.
const hasSqlite3 = spawnSync("sqlite3", ["--version"]).status === 0;
const READS: State[] = [
  ["makes a backup with VACUUM INTO", () => execute(file, `VACUUM INTO '${file}.copy'`)],
  ...(hasSqlite3 ? [BACKUP] : []),
];
/** Only beside a newer SQLite: an older one loses events where two processes write. */
const WRITES: State[] = [
  ["runs VACUUM", () => execute(file, "VACUUM")],
  ["moves the -wal into the file", () => execute(file, "PRAGMA wal_checkpoint(TRUNCATE)")],
  [
    "removes all rows",
    () =>
      execute(
        file,
        "DELETE FROM event; DELETE FROM delivery; DELETE FROM outcome; DELETE FROM member",
      ),
  ],
  ["sets the mode of the file", () => fs.chmodSync(file, 0o640)],
];

describeStates("SQLite", (logger) => open(file, logger), [
  ...READS,
  ...(canShare(process.versions.sqlite ?? "") ? WRITES : []),
]);
