/** A disk that is full, or that hangs. */
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { createHandlers } from "express-push-verification";
import { sqliteQueue } from "express-push-verification/durable";
import { connect } from "../../../lib/durable/sqlite/node-sqlite";
import { createChildProcesses } from "../../support/child-processes";
import { closeLater, closeOpened, silent, storeFactor, untilStats } from "../../support/durable";
import { mountSmallDisk } from "../../support/small-disk";
import { createFile, removeFiles } from "../../support/sqlite";
import { until } from "../../support/waiting";

const disk = mountSmallDisk("size=2m");

afterEach(() => closeOpened().then(removeFiles));

disk.itOnDisk("rejects stores with STORE_UNAVAILABLE while it is full, and recovers", async () => {
  const file = join(disk.folder, "push.db");
  const logged: string[] = [];
  const log = (_fields: object, message: string) => void logged.push(message);
  const logger = { ...silent, warn: log, info: log };
  const queue = closeLater(sqliteQueue({ file, name: "q", storeTimeoutMs: 2_000, logger }));
  expect(await storeFactor(queue, "before")).toBe("new");

  disk.fill();
  const acknowledged = ["before"];
  const rejected: unknown[] = [];
  // Store until the free space of the write-ahead log is used up.
  for (let index = 0; index < 3_000 && rejected.length === 0; index++) {
    const stored = storeFactor(queue, `u${index}`).then(() => acknowledged.push(`u${index}`));
    await stored.catch((error: unknown) => rejected.push(error));
  }
  const cause = expect.objectContaining({ code: "SQLITE_FULL" }) as unknown;
  expect(rejected).toMatchObject([{ code: "STORE_UNAVAILABLE", status: 503, cause }]);
  const words = ["is on tmpfs", "disk is full"].map((text) => expect.stringContaining(text));
  expect(logged).toEqual(words);

  disk.free();
  expect(await storeFactor(queue, "after")).toBe("new");
  acknowledged.push("after");
  expect(logged).toHaveLength(3);
  const handled = new Set<string>();
  queue.work(createHandlers().onUnhandled(({ uuid }) => void handled.add(uuid)));
  await untilStats(queue, { waiting: 0, active: 0 });
  expect(acknowledged.filter((uuid) => !handled.has(uuid))).toEqual([]);
  await queue.close();
  const connection = connect(file);
  expect(connection.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  connection.close();
});

const HANGING_FSYNC = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static void hang(void) { while (access(getenv("HANG_FILE"), F_OK) == 0) usleep(10000); }
int fsync(int fd) { hang(); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { hang(); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd); }
`;
// Skipped, and counted, without a C compiler or on another system.
const canHang = process.platform === "linux" && spawnSync("cc", ["--version"]).status === 0;

(canHang ? it : it.skip)("lets a queue close within its deadline while it hangs", async () => {
  const file = createFile();
  const [source, library, HANG_FILE] = ["fsync.c", "fsync.so", "hang"].map((name) =>
    join(dirname(file), name),
  ) as [string, string, string];
  fs.writeFileSync(source, HANGING_FSYNC);
  execFileSync("cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"]);
  const env = { ...process.env, LD_PRELOAD: library, HANG_FILE };
  const script = join(__dirname, "..", "..", "support", "queue-process.ts");
  const processes = createChildProcesses(script, { env });
  closeLater({ close: processes.killAll });
  let stored = 0;
  const place = JSON.stringify({ name: "q", file });
  const child = await processes.start(["sqlite", place, "", "1"], () => void stored++);
  await until(() => stored > 10);
  fs.writeFileSync(HANG_FILE, "");
  // No store is reported any more: the thread is in fsync.
  let before = 0;
  await until(async () => {
    [before, stored] = [stored, 0];
    return before === 0;
  });
  const startMs = performance.now();
  child.send("close");
  await once(child, "disconnect");
  // The deadline is 200 ms.
  expect(performance.now() - startMs).toBeGreaterThan(190);
  expect(performance.now() - startMs).toBeLessThan(20_000);
  fs.rmSync(HANG_FILE);
});
