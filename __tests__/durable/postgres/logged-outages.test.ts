import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { closeLater, closeOpened, silent, storeFactor } from "../../support/durable";
import { createPostgres, describeWithPostgres, type PostgresProcess } from "../../support/postgres";
import { mountSmallDisk } from "../../support/small-disk";
import { until } from "../../support/waiting";

const disk = mountSmallDisk("size=160m,mode=777");

describeWithPostgres("the logger of a queue in Postgres", () => {
  let server: PostgresProcess;
  let logged: { code?: string; message: string }[];
  const log = (fields: object, message: string) => void logged.push({ ...fields, message });

  beforeEach(() => {
    logged = [];
  });
  afterEach(async () => {
    await closeOpened();
    await server.remove();
  });

  function open(): DurableQueue {
    const logger = { ...silent, info: log, warn: log, error: log };
    const settings = { connection: server.url, name: "q", storeTimeoutMs: 1_000, logger };
    return closeLater(postgresQueue(settings));
  }

  disk.itOnDisk("reports a full disk once, and its end", async () => {
    server = await createPostgres({ disk: disk.folder, settings: { max_wal_size: "32MB" } });
    await server.start();
    const queue = open();
    await queue.ready();
    const errors: unknown[] = [];
    // The segment of the log has room: Postgres ends when it cannot write that.
    for (let round = 0; round < 60 && errors.length === 0; round++) {
      // Postgres frees some space itself.
      disk.fill();
      const stores = Array.from({ length: 100 }, (_, index) =>
        storeFactor(queue, `${round}-${index}`),
      );
      await Promise.all(stores).catch((reason: unknown) => errors.push(reason));
    }
    const [code, words] = ["53100", expect.stringContaining("No space left on device")];
    expect(errors).toMatchObject([{ code: "STORE_UNAVAILABLE", cause: { code } }]);
    // A machine that is busy may have an outage of its own before.
    expect(logged.at(-1)).toMatchObject({ code, message: words });
    disk.free();
    expect(await storeFactor(queue, "after")).toBe("new");
    expect(logged.at(-1)?.message).toContain("can be used again");
    expect(logged.filter((line) => line.code === code)).toHaveLength(1);
  });

  it("tells that Postgres is a standby, until it is promoted", async () => {
    server = await createPostgres();
    writeFileSync(join(server.folder, "data", "standby.signal"), "");
    await server.start();
    const queue = open();
    await until(() => logged.length > 0);
    expect(logged).toMatchObject([{ code: "POSTGRES_UNREACHABLE" }]);
    expect(logged[0]?.message).toContain("is a standby");
    await server.query("select pg_promote()");
    await queue.ready();
    expect(logged).toHaveLength(2);
  });
});
