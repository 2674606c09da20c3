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
import { until } from "../../support/waiting";

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
    await server.query(`alter system set ${name} = '${value}'`);
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

    it(`is ${name === "synchronous_commit" ? "rejected" : "used"} with durability "provider"`, async () => {
      const ready = open({ durability: "provider" }).ready();
      if (name === "synchronous_commit") {
        await expect(ready).rejects.toMatchObject({ code: "POSTGRES_NOT_DURABLE" });
      } else await ready;
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

  it("creates no schema and no queue without create, and names the queues that it finds", async () => {
    await open({ schema: "known", name: "orders" }).ready();
    await open({ schema: "known", name: "orders", create: false }).ready();
    for (const [schema, found] of [
      ["known", "it has: orders"],
      ["unknown", "it has: none"],
    ]) {
      const queue = open({ schema, name: "order", create: false });
      await expect(queue.ready()).rejects.toThrow(`no queue named order; ${found}`);
    }
    expect(await server.query("select name from known.queue")).toEqual([{ name: "orders" }]);
  });

  it("creates one schema for processes that start at a time", async () => {
    const queues = Array.from({ length: 4 }, () => open({ schema: "together" }));
    await Promise.all(queues.map((queue) => queue.ready()));
    expect(await server.query("select version from together.version")).toHaveLength(1);
  });

  it.each([
    ["its own table event", "create table $.event (id int)", "POSTGRES_FOREIGN", "has event"],
    ["version(id)", "create table $.version (id int)", "POSTGRES_FOREIGN", "has version"],
    [
      "version 57",
      "create table $.version (version int); insert into $.version values (57)",
      "POSTGRES_FOREIGN",
      "has version",
    ],
    [
      "a version of text and another queue",
      "create table $.version (version text); insert into $.version values ('2024.1'); create table $.queue (id int)",
      "POSTGRES_FOREIGN",
      "has version, queue",
    ],
    ["the schema of a newer version", "update $.version set version = 99", "POSTGRES_NEWER", "99"],
    ["no column errors", "alter table $.event drop column errors", "POSTGRES_FOREIGN", "errors"],
    ["a key of text", "alter table $.delivery alter key type text", "POSTGRES_FOREIGN", "uuid"],
    [
      "an outcome without a key",
      "alter table $.outcome drop constraint outcome_pkey",
      "POSTGRES_FOREIGN",
      "ON CONFLICT",
    ],
  ])("rejects a schema that has %s", async (title, sql, code, words) => {
    const schema = `app_${title.replaceAll(/\W/g, "_")}`;
    if (sql.startsWith("create")) await server.query(`create schema ${schema}`);
    else await open({ schema }).ready();
    await server.query(sql.replaceAll("$", schema));
    const error = await open({ schema })
      .ready()
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code });
    expect((error as Error).message).toContain(words);
  });

  const RIGHTS = [
    "usage on schema least",
    "select on least.version",
    ...["select", "insert", "update"].map((right) => `${right} on least.queue`),
    ...["delivery", "event", "outcome", "member"].flatMap((table) =>
      ["select", "insert", "update", "delete"].map((right) => `${right} on least.${table}`),
    ),
    "usage on sequence least.event_id_seq",
  ];

  it("names each missing right of a role that does not own the schema", async () => {
    const connection = server.url.replace("push@", "least@");
    await open({ schema: "least" }).ready();
    await server.query("create role least login");
    await server.query(`grant ${RIGHTS.join(" to least; grant ")} to least`);
    for (const right of RIGHTS) {
      await server.query(`revoke ${right} from least`);
      const queue = open({ schema: "least", connection });
      const error = await queue.ready().catch((reason: unknown) => reason);
      expect([right, error]).toEqual([
        right,
        expect.objectContaining({ code: "POSTGRES_REJECTED" }),
      ]);
      const [object = ""] = right.split(/[ .]/).slice(-1);
      expect((error as Error).message).toMatch(new RegExp(`denied for \\w+ ${object}.*grant `));
      await queue.close({ deadlineMs: 0 });
      await server.query(`grant ${right} to least`);
    }
    await server.query("alter table least.member enable row level security");
    const hidden = open({ schema: "least", connection }).ready();
    await expect(hidden).rejects.toThrow("row-level security");
    await server.query("alter table least.member disable row level security");
    const queue = open({ schema: "least", connection });
    await queue.ready();
    expect(await store(queue)).toBe("new");
    let isHandled = false;
    queue.work(createHandlers().onUnhandled(() => void (isHandled = true)));
    await until(() => isHandled);
    expect(await queue.retryAll()).toBe(0);
  });

  it("rejects a server without TLS, and one whose certificate is not trusted", async () => {
    const connection = `${server.url}?sslmode=verify-full`;
    const expectRejected = (words: string) =>
      expect(open({ connection }).ready()).rejects.toMatchObject({
        code: "POSTGRES_REJECTED",
        message: expect.stringContaining(words) as unknown,
      });
    await expectRejected("does not support SSL");
    const [key, cert] = ["key", "cert"].map((name) => join(server.folder, "data", `${name}.pem`));
    const subject = ["-subj", "/CN=store", "-addext", "subjectAltName=IP:127.0.0.1"];
    const files = ["-keyout", key!, "-out", cert!, "-days", "1"];
    execFileSync("openssl", ["req", "-x509", "-nodes", ...files, ...subject], { stdio: "ignore" });
    execFileSync("chown", [`--reference=${server.folder}`, key!, cert!]);
    for (const name of ["key", "cert"]) await setUp(`ssl_${name}_file`, `${name}.pem`);
    await setUp("ssl", "on");
    await expectRejected("ssl: { ca }");
    await open({ connection: `${connection}&sslrootcert=${cert}` }).ready();
    await setUp("ssl", "off");
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
    ["statement", 5],
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
