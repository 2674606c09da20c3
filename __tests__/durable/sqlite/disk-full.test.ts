import { join } from "node:path";
import { createHandlers, type WebhookError } from "express-push-verification";
import { sqliteQueue } from "express-push-verification/durable";
import { connect } from "../../../lib/durable/sqlite/node-sqlite";
import { closeLater, closeOpened, silent, storeFactor, untilStats } from "../../support/durable";
import { mountSmallDisk } from "../../support/small-disk";

const disk = mountSmallDisk("size=2m");

afterEach(closeOpened);

disk.itOnDisk(
  "rejects stores with STORE_UNAVAILABLE while the disk is full, and recovers",
  async () => {
    const file = join(disk.folder, "push.db");
    const logged: string[] = [];
    const log = (_fields: object, message: string) => void logged.push(message);
    const logger = { ...silent, warn: log, info: log };
    const queue = closeLater(sqliteQueue({ file, name: "q", storeTimeoutMs: 2_000, logger }));
    await queue.ready();
    expect(await storeFactor(queue, "before")).toBe("new");

    disk.fill();
    const acknowledged: string[] = ["before"];
    let rejected: WebhookError | undefined;
    // Store until the free space of the write-ahead log is used up.
    for (let index = 0; index < 3_000; index++) {
      try {
        await storeFactor(queue, `u${index}`);
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
  },
);
