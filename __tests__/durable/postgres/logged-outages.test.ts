import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { closeLater, closeOpened, silent, storeFactor } from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { createPostgres, type PostgresProcess } from "../../support/postgres";
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

  function open(url: string): DurableQueue {
    const logger = { ...silent, info: log, warn: log, error: log };
    return closeLater(postgresQueue({ connection: url, name: "q", storeTimeoutMs: 1_000, logger }));
  }

  /** Starts a Postgres that follows another one, until it is promoted. */
  async function startStandby(): Promise<void> {
    server = await createPostgres();
    writeFileSync(join(server.folder, "data", "standby.signal"), "");
    await server.start();
  }

  disk.itOnDisk("reports a full disk once, and its end", async () => {
    server = await createPostgres({ disk: disk.folder, settings: { max_wal_size: "32MB" } });
    await server.start();
    const opened = open(server.url);
    await opened.ready();
    const errors: unknown[] = [];
    const store = (uuid: string) => storeFactor(opened, uuid);
    // The segment of the log has room: Postgres ends when it cannot write that.
    for (let round = 0; round < 60 && errors.length === 0; round++) {
      // Postgres frees some space itself.
      disk.fill();
      const uuids = Array.from({ length: 100 }, (_, index) => `${round}-${index}`);
      await Promise.all(uuids.map(store)).catch((reason: unknown) => errors.push(reason));
    }
    const cause = { code: "53100" };
    expect(errors).toMatchObject([{ code: "STORE_UNAVAILABLE", cause }]);
    // A machine that is busy may have an outage of its own before.
    const isFull = ({ code }: { code?: string }) => code === "53100";
    expect(logged.at(-1)).toMatchObject({
      code: "53100",
      message: expect.stringContaining("No space left on device"),
    });
    disk.free();
    expect(await store("after")).toBe("new");
    expect(logged.at(-1)?.message).toContain("can be used again");
    expect(logged.filter(isFull)).toHaveLength(1);
  });

  it("tells that Postgres is a standby, until it is promoted", async () => {
    await startStandby();
    const opened = open(server.url);
    await until(() => logged.length > 0);
    expect(logged).toMatchObject([{ code: "POSTGRES_UNREACHABLE" }]);
    expect(logged[0]?.message).toContain("is a standby");
    await server.query("select pg_promote()");
    await opened.ready();
    expect(logged).toHaveLength(2);
  });

  it("takes no Postgres for read-only that is promoted while it is checked", async () => {
    await startStandby();
    const check = "select from pg_stat_activity where pid <> pg_backend_pid() and query ~ $1";
    const promote = async () => {
      await until(async () => (await server.query(check, ["in_recovery"])).length === 1);
      await server.query("select pg_promote()");
    };
    // A transaction that began on the standby stays read-only; the check asks after the promotion.
    const proxy = createServer((client) => {
      const upstream = connect(server.port, "127.0.0.1");
      upstream.on("error", () => client.destroy()).pipe(client);
      client.on("error", () => upstream.destroy());
      client.on("data", (chunk) => {
        const parseEnd = chunk.includes("pg_is_in_recovery") ? 1 + chunk.readInt32BE(1) : Infinity;
        upstream.write(chunk.subarray(0, parseEnd));
        if (parseEnd < Infinity)
          void promote().then(() => upstream.write(chunk.subarray(parseEnd)));
      });
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const url = new URL(server.url);
    url.port = String((proxy.address() as AddressInfo).port);
    await open(url.href).ready();
    proxy.close();
    expect(logged).toEqual([]);
  });
});
