import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHandlers } from "express-push-verification";
import {
  postgresQueue,
  QueueError,
  type DurableQueue,
  type PostgresQueueOptions,
} from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, silent } from "../../support/durable";
import { findFreePort } from "../../support/ports";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/redis";

const PGBOUNCER = "/usr/sbin/pgbouncer";

jest.setTimeout(60_000);

describeWithPostgres("the setup of Postgres", () => {
  const opened: DurableQueue[] = [];
  let server: PostgresProcess;

  beforeAll(async () => {
    server = await startPostgresProcess();
  });
  afterAll(() => server.remove());
  afterEach(async () => {
    for (const queue of opened.splice(0)) await queue.close({ deadlineMs: 0 });
  });

  function open(options: Partial<PostgresQueueOptions> = {}): DurableQueue {
    const queue = postgresQueue({
      connection: server.url,
      name: "q",
      logger: silent,
      // The first store waits until the schema is created.
      storeTimeoutMs: 30_000,
      ...options,
    });
    opened.push(queue);
    return queue;
  }
  const store = (queue: DurableQueue, deadlineAtMs = Number.POSITIVE_INFINITY) =>
    queue.store(queuedEvent(eventFixture("factor.created")), deadlineAtMs);

  /** Changes a setting, and waits until new connections have it. */
  async function setUp(name: string, value: string): Promise<void> {
    await server.query(`alter system set ${name} = ${value}`);
    await server.query("select pg_reload_conf()");
    await until(async () => (await server.query(`show ${name}`))[0]?.[name] === value);
  }

  describe.each(["fsync", "full_page_writes", "synchronous_commit"])("%s = off", (name) => {
    const set = (value: string) => setUp(name, value);
    beforeAll(() => set("off"));
    afterAll(() => set("on"));

    it("is rejected by name, and nothing is stored", async () => {
      const queue = open();
      const error = await queue.ready().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(QueueError);
      expect(error).toMatchObject({ code: "POSTGRES_NOT_DURABLE" });
      expect((error as Error).message).toContain(`${name} = on`);
      await expect(store(queue, performance.now() + 1_000)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        cause: { code: "POSTGRES_NOT_DURABLE" },
      });
    });

    it.each(["warn", "trust"] as const)("is used with durability %j", async (durability) => {
      const warnings: string[] = [];
      const logger = {
        ...silent,
        warn: (_fields: object, text: string) => void warnings.push(text),
      };
      const queue = open({ durability, logger });
      expect(await store(queue)).toBe("new");
      expect(warnings).toHaveLength(durability === "warn" ? 1 : 0);
    });
  });

  it("rejects a Postgres that is read-only, and uses it again once it takes writes", async () => {
    const setReadOnly = (value: string) => setUp("default_transaction_read_only", value);
    const rejection = { code: "POSTGRES_REJECTED" };
    const early = open({ durability: "trust" });
    await early.ready();
    await setReadOnly("on");
    try {
      await expect(open().ready()).rejects.toMatchObject(rejection);
      // A queue that is open finds out within seconds.
      await until(async () => (await early.ready().catch(() => "rejected")) === "rejected");
      await expect(early.ready()).rejects.toMatchObject(rejection);
      await expect(early.ready()).rejects.toThrow("default_transaction_read_only = off");
      await expect(store(early, performance.now() + 1_000)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        cause: rejection,
      });
    } finally {
      await setReadOnly("off");
    }
    expect(await store(early)).toBe("new");
    await early.ready();
  });

  it("uses a Postgres again once it is set up right", async () => {
    await setUp("fsync", "off");
    const queue = open();
    await expect(queue.ready()).rejects.toThrow(QueueError);
    await setUp("fsync", "on");
    const event = queuedEvent(eventFixture("factor.created"));
    expect(await queue.store(event, Number.POSITIVE_INFINITY)).toBe("new");
  });

  it.each([
    ["a database that does not exist", (url: string) => url.replace("/postgres", "/missing")],
    ["a role that does not exist", (url: string) => url.replace("push@", "stranger@")],
  ])("rejects %s", async (_title, change) => {
    const queue = open({ connection: change(server.url.replace("postgres://", "postgresql://")) });
    await expect(queue.ready()).rejects.toMatchObject({ code: "POSTGRES_REJECTED" });
  });

  it("works with the documented privileges: CREATE on the database for the first start only", async () => {
    await server.query("create role first login; grant create on database postgres to first");
    const connectAs = (role: string) => server.url.replace("push@", `${role}@`);
    await open({ schema: "owned", connection: connectAs("first") }).ready();
    await server.query("revoke create on database postgres from first");
    await server.query("create role app login in role first");
    for (const role of ["first", "app"]) {
      const queue = open({ schema: "owned", connection: connectAs(role) });
      await queue.ready();
      expect(await store(queue)).toBe("new");
      let isHandled = false;
      const worker = queue.work(createHandlers().onUnhandled(() => void (isHandled = true)));
      await until(() => isHandled);
      await worker.close();
    }
    const queue = open({ schema: "denied", connection: connectAs("app") });
    await expect(queue.ready()).rejects.toMatchObject({ code: "POSTGRES_REJECTED" });
  });

  it("creates one schema for processes that start at a time", async () => {
    const queues = Array.from({ length: 4 }, () => open({ schema: "together" }));
    await Promise.all(queues.map((queue) => queue.ready()));
    expect(await server.query("select version from together.version")).toHaveLength(1);
  });

  it("rejects the schema of a newer version", async () => {
    await open({ schema: "newer" }).ready();
    await server.query("update newer.version set version = 99");
    await expect(open({ schema: "newer" }).ready()).rejects.toMatchObject({
      code: "POSTGRES_NEWER",
    });
  });

  it("rejects a schema of the former engine, by name", async () => {
    await server.query("create schema former");
    await server.query("create table former.push_version (version int)");
    const rejected = open({ schema: "former" }).ready();
    await expect(rejected).rejects.toMatchObject({ code: "POSTGRES_REJECTED" });
    await expect(open({ schema: "former" }).ready()).rejects.toThrow("drop schema former cascade");
  });

  it("forgets expired uuids within a minute", async () => {
    const queue = open({ schema: "purged", dedupeTtlMs: 1_000 });
    for (let count = 0; count < 5; count++) await store(queue);
    expect(await server.query("select 1 from purged.delivery")).toHaveLength(5);
    const countRows = async () => (await server.query("select 1 from purged.delivery")).length;
    await until(async () => (await countRows()) === 0, 40_000);
  });

  const itWithPgbouncer = existsSync(PGBOUNCER) ? it : it.skip;

  itWithPgbouncer.each([
    ["transaction", 5],
    ["transaction", 1],
    ["session", 20],
  ])("knows a pgbouncer in %s mode with %d connections", async (mode, size) => {
    const port = await findFreePort();
    const bouncer = startPgbouncer(port, mode, size);
    try {
      const queue = open({
        schema: "pooled",
        connection: server.url.replace(String(server.port), String(port)),
      });
      if (mode === "session") {
        await queue.ready();
        expect(await store(queue)).toBe("new");
      } else await expect(queue.ready()).rejects.toMatchObject({ code: "POSTGRES_POOLED" });
    } finally {
      bouncer.kill("SIGKILL");
    }
  });

  function startPgbouncer(port: number, mode: string, size: number): ChildProcess {
    const file = join(server.folder, "pgbouncer.ini");
    writeFileSync(join(server.folder, "users.txt"), '"push" ""\n');
    writeFileSync(
      file,
      `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = trust\nauth_file = ${server.folder}/users.txt\npool_mode = ${mode}\ndefault_pool_size = ${size}\n`,
    );
    execFileSync("chmod", ["-R", "a+rX", file]);
    return spawn(PGBOUNCER, ["-u", "postgres", file], { stdio: "ignore" });
  }
});
