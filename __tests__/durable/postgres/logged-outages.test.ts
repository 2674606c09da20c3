import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, silent } from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { createPostgres, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/waiting";

jest.setTimeout(60_000);

function mount(folder: string): boolean {
  try {
    const options = ["-t", "tmpfs", "-o", "size=160m,mode=777", "tmpfs", folder];
    execFileSync("mount", options, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const disk = mkdtempSync(join(tmpdir(), "push-full-"));
const isMounted = mount(disk);
const itOnSmallDisk = isMounted ? it : it.skip;

afterAll(() => {
  if (isMounted) execFileSync("umount", ["-l", disk]);
  rmSync(disk, { recursive: true, force: true });
});

describeWithPostgres("the logger of a queue in Postgres", () => {
  let server: PostgresProcess | undefined;
  let queue: DurableQueue | undefined;
  let logged: { code?: string; message: string }[];
  const log = (fields: object, message: string) => void logged.push({ ...fields, message });

  beforeEach(() => {
    logged = [];
  });
  afterEach(async () => {
    await queue?.close({ deadlineMs: 0 });
    await server?.remove();
  });

  /** Writes a file until its disk is full; Postgres may be faster with the last bytes. */
  function fill(file: string): void {
    const { bavail, bsize } = statfsSync(disk);
    try {
      appendFileSync(file, Buffer.alloc(bavail * bsize));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }

  function open(url: string): DurableQueue {
    const logger = { ...silent, info: log, warn: log, error: log };
    queue = postgresQueue({ connection: url, name: "q", storeTimeoutMs: 1_000, logger });
    return queue;
  }

  itOnSmallDisk("reports a full disk once, and its end", async () => {
    server = await createPostgres({ disk, settings: { max_wal_size: "32MB" } });
    await server.start();
    const opened = open(server.url);
    await opened.ready();
    const errors: unknown[] = [];
    const store = (uuid: string) =>
      opened.store(queuedEvent(eventFixture("factor.created", { uuid })), 1e12);
    // The segment of the log has room: Postgres ends when it cannot write that.
    const filler = join(disk, "filler");
    for (let round = 0; round < 60 && errors.length === 0; round++) {
      // Postgres frees some space itself.
      fill(filler);
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
    rmSync(filler);
    expect(await store("after")).toBe("new");
    expect(logged.at(-1)?.message).toContain("can be used again");
    expect(logged.filter(isFull)).toHaveLength(1);
  });

  it("tells that Postgres is a standby, until it is promoted", async () => {
    const created = await createPostgres();
    server = created;
    writeFileSync(join(created.folder, "data", "standby.signal"), "");
    await created.start();
    const opened = open(created.url);
    await until(() => logged.length > 0);
    expect(logged).toMatchObject([{ code: "POSTGRES_UNREACHABLE" }]);
    expect(logged[0]?.message).toContain("is a standby");
    await created.query("select pg_promote()");
    await opened.ready();
    expect(logged).toHaveLength(2);
  });

  it("takes no Postgres for read-only that is promoted while it is checked", async () => {
    const created = await createPostgres();
    server = created;
    writeFileSync(join(created.folder, "data", "standby.signal"), "");
    await created.start();
    const isParsed = async () => {
      const check = "select from pg_stat_activity where pid <> pg_backend_pid() and query ~ $1";
      return (await created.query(check, ["in_recovery"])).length === 1;
    };
    const promote = async () => {
      await until(isParsed);
      await created.query("select pg_promote()");
    };
    // A transaction that began on the standby stays read-only; the check asks after the promotion.
    const proxy = createServer((client) => {
      const upstream = connect(created.port, "127.0.0.1");
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
    const url = new URL(created.url);
    url.port = String((proxy.address() as AddressInfo).port);
    await open(url.href).ready();
    proxy.close();
    expect(logged).toEqual([]);
  });
});
