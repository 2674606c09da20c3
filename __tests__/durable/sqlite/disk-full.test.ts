import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHandlers, type WebhookError } from "express-push-verification";
import { sqliteQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { connect } from "../../../lib/durable/sqlite/node-sqlite";
import { queuedEvent, silent } from "../../support/durable";
import { until } from "../../support/waiting";

const folder = mkdtempSync(join(tmpdir(), "push-full-"));
const file = join(folder, "push.db");

function mount(): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const isMounted = mount();
const itOnSmallDisk = isMounted ? it : it.skip;
let queue: DurableQueue;

afterAll(async () => {
  if (isMounted) {
    await queue.close();
    execFileSync("umount", ["-l", folder]);
  }
  rmSync(folder, { recursive: true, force: true });
});

const store = (uuid: string) =>
  queue.store(queuedEvent(eventFixture("challenge.approved", { uuid })), Number.POSITIVE_INFINITY);

itOnSmallDisk(
  "rejects stores with STORE_UNAVAILABLE while the disk is full, and recovers",
  async () => {
    const logged: string[] = [];
    const log = (_fields: object, message: string) => void logged.push(message);
    const logger = { ...silent, warn: log, info: log };
    queue = sqliteQueue({ file, name: "q", storeTimeoutMs: 2_000, logger });
    await queue.ready();
    expect(await store("before")).toBe("new");

    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(join(folder, "filler"), Buffer.alloc(bavail * bsize));
    const acknowledged: string[] = ["before"];
    let rejected: WebhookError | undefined;
    // Store until the free space of the write-ahead log is used up.
    for (let index = 0; index < 3_000; index++) {
      try {
        await store(`u${index}`);
        acknowledged.push(`u${index}`);
      } catch (error) {
        rejected = error as WebhookError;
        break;
      }
    }
    expect(rejected).toMatchObject({ code: "STORE_UNAVAILABLE", status: 503 });
    expect(rejected?.cause).toMatchObject({ code: "SQLITE_FULL" });

    expect(logged).toEqual(
      ["is on tmpfs", "disk is full"].map((text) => expect.stringContaining(text)),
    );

    rmSync(join(folder, "filler"));
    expect(await store("after")).toBe("new");
    acknowledged.push("after");
    expect(logged).toHaveLength(3);
    const handled = new Set<string>();
    queue.work(createHandlers().onUnhandled(({ uuid }) => void handled.add(uuid)));
    await until(async () => (await queue.stats()).waiting === 0);
    await until(async () => (await queue.stats()).active === 0);
    expect(acknowledged.filter((uuid) => !handled.has(uuid))).toEqual([]);
    await queue.close();
    const connection = connect(file);
    expect(connection.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    connection.close();
  },
  30_000,
);
