/** What a queue does with its Postgres; setups/postgres.test.ts has the set-ups in which it rejects. */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { createHandlers } from "express-push-verification";
import {
  QueueError,
  type DurableQueue,
  type PostgresQueueOptions,
} from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { createServerConnections } from "../../../lib/durable/postgres/connections";
import {
  resolvePostgresOptions,
  type PostgresSettings,
} from "../../../lib/durable/postgres/options";
import { prepareSchema } from "../../../lib/durable/postgres/schema";
import { ServerStorage } from "../../../lib/durable/postgres/server-storage";
import {
  MAX_KEPT_ENTRIES,
  type ClaimedEvent,
  type Claims,
  type NewStoredEntry,
  type Storage,
} from "../../../lib/durable/storage";
import { toNewEvent } from "../../../lib/durable/stored-event";
import {
  closeLater,
  QUEUE_NAME,
  queuedEvent,
  responseOf,
  silent,
  storeFactor,
  waitForOutcome,
} from "../../support/durable";
import { createPostgres, type ServerOptions } from "../../support/postgres";
import { describeOnPostgres } from "../../support/postgres-engine";
import { startRedisProxy } from "../../support/redis-proxy";
import { mountSmallDisk } from "../../support/small-disk";
import { shorten, until } from "../../support/waiting";

const disk = mountSmallDisk("size=160m,mode=777");
const BACKLOG = 20_000;
const EVENTS = 100;
const ALL = { failure: undefined, newestFirst: false };
const OWN_CONNECTIONS = "select from pg_stat_activity where application_name = 'push-webhooks'";

describeOnPostgres("its own promises", (app) => {
  const { open } = app;
  const store = (queue: DurableQueue) => storeFactor(queue, randomUUID());

  async function create(options?: ServerOptions) {
    const server = await createPostgres(options);
    closeLater({ close: server.remove });
    return server;
  }

  function openLogged(connection: string) {
    const logged: { code?: string; message: string }[] = [];
    const log = (fields: object, message: string) => void logged.push({ ...fields, message });
    const logger = { ...silent, info: log, warn: log, error: log };
    return { logged, queue: app.open({ connection, storeTimeoutMs: 1_000, logger }) };
  }

  it("with fsync = off is used only as durability allows", async () => {
    await app.server().set("fsync", "off");
    const queue = open();
    await expect(queue.ready()).rejects.toThrow(QueueError);
    for (const durability of ["warn", "trust"] as const) {
      const warn = jest.fn();
      expect(await store(open({ durability, logger: { ...silent, warn } }))).toBe("new");
      expect(warn).toHaveBeenCalledTimes(durability === "warn" ? 1 : 0);
    }
    await app.server().set("fsync", "on");
    expect(await store(queue)).toBe("new");
  });

  it("leaves no connection of an attempt that was rejected", async () => {
    await app.server().set("fsync", "off");
    const storage = closeLater(app.createStorage());
    for (let attempt = 0; attempt < 3; attempt++)
      await expect(storage.connect(() => {})).rejects.toThrow(QueueError);
    const untilConnections = (count: number) =>
      until(async () => (await app.server().query(OWN_CONNECTIONS)).length === count);
    await untilConnections(0);
    await app.server().set("fsync", "on");
    await storage.connect(() => {});
    await untilConnections(1);
  });

  it("gets no schema and no queue without create", async () => {
    await open({ schema: "known", name: "orders" }).ready();
    await open({ schema: "known", name: "orders", create: false }).ready();
    for (const [schema, found] of Object.entries({ known: "orders", unknown: "none" })) {
      const ready = open({ schema, name: "order", create: false }).ready();
      await expect(ready).rejects.toThrow(`no queue named order; it has: ${found}`);
    }
    expect(await app.server().query("select name from known.queue")).toEqual([{ name: "orders" }]);
  });

  it("names the owner of the tables to a role that may not migrate them", async () => {
    await open({ schema: "owned" }).ready();
    await app.server().query("create role app login; grant all on schema owned to app");
    await app.server().query("grant all on all tables in schema owned to app");
    const client = new Client({ connectionString: app.server().url.replace("push@", "app@") });
    await client.connect();
    const settings = { name: QUEUE_NAME, schema: "owned", create: true } as PostgresSettings;
    const steps = { 2: (schema: string) => `alter table ${schema}.event add column note text` };
    const refused = expect(prepareSchema(client, settings, [], steps)).rejects;
    await refused.toMatchObject({
      code: "POSTGRES_REJECTED",
      message: expect.stringContaining("owner") as string,
    });
    await client.end();
    const rows = await app.server().query("select version from owned.version");
    expect(rows).toEqual([{ version: 1 }]);
  });

  it.each([
    ["outcome", "value", "''"],
    ["delivery", "event_id, content", "1, gen_random_uuid()"],
  ])("goes on to remove what is over while only %s has more", async (table, names, values) => {
    const storage = (await app.openStorage()) as Storage & Claims;
    const into = `${app.place().schema}.${table} (key, expires_at, ${names})`;
    await app.server().query(`insert into ${into}
      select gen_random_uuid(), 0, ${values} from generate_series(1, 1000)`);
    expect([await storage.purge(), await storage.purge()]).toEqual([true, false]);
  });

  it("keeps uuids and outcomes of two queues in one schema apart", async () => {
    const [staging, production] = [open({ name: "staging" }), open({ name: "production" })];
    const waits = Promise.allSettled([
      waitForOutcome(staging, 1),
      waitForOutcome(production, 1, 500),
    ]);
    const denied = responseOf("u", 1, "denied");
    expect(await staging.store(denied, Infinity)).toBe("new");
    expect((await waits).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(await production.store(denied, Infinity)).toBe("new");
  });

  it("neither reads nor changes another queue of its schema", async () => {
    const openStorage = async (queue: string) => {
      const settings = { ...app.place(), name: queue, logger: silent } as PostgresQueueOptions;
      const storage = closeLater(new ServerStorage(resolvePostgresOptions(settings)));
      await storage.connect(() => {});
      return storage;
    };
    const [quiet, loud] = [await openStorage("quiet"), await openStorage("loud")];
    const entriesOf = (count: number) =>
      Array<NewStoredEntry>(count).fill({ kind: "step", share: "", text: "{}" });
    const minuteMs = Math.floor(Date.now() / 60_000) * 60_000;
    await quiet.appendEntries(entriesOf(1), []);
    await loud.appendEntries(entriesOf(MAX_KEPT_ENTRIES + 1), [
      { minuteMs, name: "dropped", count: 1 },
    ]);
    const secret = await loud.secret("of loud");
    // One event in each state.
    const uuids = ["dead", "delayed", "active", "waiting"];
    const added = uuids.map((uuid) =>
      toNewEvent("loud", queuedEvent(eventFixture("factor.created", { uuid })), undefined),
    );
    await loud.store(added);
    await loud.beat([{ id: 1, isWorker: true }]);
    const [dead, delayed] = (await loud.claim(1, [], 3)) as [ClaimedEvent, ClaimedEvent];
    const failed = { failures: 1, errors: "[]", failure: '"no"', person: "p", isForged: false };
    await loud.fail([
      { ...dead, ...failed, pauseMs: undefined },
      { ...delayed, ...failed, pauseMs: 60_000 },
    ]);
    app.leave("active event", "worker");
    const listIds = async (kind: "event" | "entry") =>
      (await loud.scan(kind)).texts.map(({ id }) => id);
    const [ids, entryIds] = [await listIds("event"), await listIds("entry")];
    const readLoud = async () => {
      const { oldestWaitingMs: _, ...stats } = await loud.stats();
      const letters = (await loud.deadLetters(ALL)).map(({ listedAtMs: __, ...letter }) => letter);
      const { texts } = await loud.scan("event");
      const entries = await listIds("entry");
      const rest = [await loud.deadGroups(), await loud.readCounts(0), await loud.secret("")];
      return { stats, letters, texts, entries, rest };
    };
    const held = await readLoud();
    expect(held.stats).toMatchObject({ waiting: 1, active: 1, delayed: 1, deadLetters: 1 });

    const none = { waiting: 0, active: 0, delayed: 0, deadLetters: 0, workers: 0 };
    expect(await quiet.stats()).toEqual({ ...none, oldestWaitingMs: 0 });
    for (const newestFirst of [false, true])
      for (const failure of [undefined, '"no"'])
        expect(await quiet.deadLetters({ failure, newestFirst })).toEqual([]);
    expect(await quiet.deadGroups()).toEqual([]);
    expect((await quiet.scan("event")).texts).toEqual([]);
    expect(await quiet.readCounts(0)).toEqual([]);
    expect(await quiet.secret("of quiet")).not.toBe(secret);
    expect(await quiet.retry(ids)).toBe(0);
    expect(await quiet.discard(ids)).toBe(0);
    await quiet.erase("event", ids);
    await quiet.erase("entry", entryIds);
    await quiet.beat([{ id: 2, isWorker: true }]);
    expect(await quiet.claim(2, [], 9)).toEqual([]);
    await quiet.purge();
    await quiet.trimEntries();
    expect((await quiet.scan("entry")).texts).toHaveLength(1);
    expect(await readLoud()).toEqual(held);
  });

  it("commits wait for the disk where a crash must not undo them", async () => {
    const storage = (await app.openStorage()) as Storage & Claims;
    const { query } = app.server();
    const { schema } = app.place();
    await query(`create table ${schema}.note (waits text);
      create function ${schema}.note() returns trigger language plpgsql as
        $$ begin insert into ${schema}.note select current_setting('synchronous_commit'); return null; end $$`);
    for (const table of ["delivery", "event", "outcome", "queue", "entry"])
      await query(`create trigger note after insert or update or delete on ${schema}.${table}
        for each statement execute function ${schema}.note()`);
    const run = { id: 1, started: 1 };
    const failed = { failures: 1, errors: "[]", failure: '""', person: undefined, isForged: true };
    const event = queuedEvent(eventFixture("factor.created"));
    const outcome = { key: "0".repeat(32), value: "[]" };
    const calls = {
      store: () => storage.store([toNewEvent(QUEUE_NAME, event, outcome)]),
      record: () => storage.record([outcome]),
      fail: () => storage.fail([{ ...run, ...failed, pauseMs: undefined }]),
      finish: () => storage.finish([run]),
      retry: () => storage.retry(["1"]),
      discard: () => storage.discard(["1"]),
      "erase an event": () => storage.erase("event", ["1"]),
      "erase an outcome": () => storage.erase("outcome", ["1".repeat(32)]),
      "erase an entry": () => storage.erase("entry", ["1"]),
      secret: () => storage.secret("s"),
    };
    for (const [what, call] of Object.entries(calls)) {
      await call();
      const sql = `with note as (delete from ${schema}.note returning waits)
        select distinct waits from note`;
      expect({ what, notes: await query(sql) }).toEqual({ what, notes: [{ waits: "on" }] });
    }
  });

  it("closes the connection of a statement that fails", async () => {
    const settings = { name: QUEUE_NAME, connection: app.server().url };
    const connections = closeLater(createServerConnections(resolvePostgresOptions(settings)));
    const query = (text: string) => connections.query({ name: text, text }, []);
    const readProcess = () => query("select pg_backend_pid() as process");
    const first = await readProcess();
    expect(await readProcess()).toEqual(first);
    expect(await query("show statement_timeout")).toEqual([{ statement_timeout: "4s" }]);
    await expect(query("select 1 / 0")).rejects.toHaveProperty("code", "22012");
    expect(await readProcess()).not.toEqual(first);
  });

  it("opens maxConnections beside the one that listens", async () => {
    const { query } = app.server();
    await until(async () => (await query(OWN_CONNECTIONS)).length === 0);
    const queue = open({ maxConnections: 3 });
    await Promise.all(Array.from({ length: 20 }, () => queue.stats()));
    expect(await query(OWN_CONNECTIONS)).toHaveLength(4);
  });

  it("connects again when its server does not respond", async () => {
    // It awaits a connection for 2 s.
    const timers = shorten("setTimeout", 2_000);
    const { port, url } = app.server();
    const proxy = closeLater(await startRedisProxy(port));
    const dropped = proxy.drop("push-webhooks");
    const queue = open({ connection: url.replace(`:${port}`, `:${proxy.port}`) });
    await dropped;
    await proxy.drop();
    await queue.ready();
    timers.mockRestore();
    await queue.close();
  });

  it("reads no events of other queues", async () => {
    const queue = open({ schema: "large" });
    await queue.ready();
    await app.server().query(
      `insert into large.event (queue, run_at, uuid_hash, body)
      select 99, number, gen_random_uuid(), '{}' from generate_series(1, $1::int) as number`,
      [BACKLOG],
    );
    for (let count = 0; count < EVENTS; count++) await store(queue);
    let handled = 0;
    queue.work(createHandlers().onUnhandled(() => void handled++));
    await until(() => handled === EVENTS);
    await queue.close();
    // A connection adds its reads to the counters of Postgres when it ends, at the latest.
    await until(async () => (await app.server().query(OWN_CONNECTIONS)).length === 0);
    const [reads] = await app.server().query(`select (seq_tup_read + idx_tup_fetch)::int as count
      from pg_stat_user_tables where relid = 'large.event'::regclass`);
    expect(reads?.count).toBeLessThan(BACKLOG);
  });

  disk.itOnDisk("reports a full disk once", async () => {
    const settings = { max_wal_size: "32MB" };
    const { start, url } = await create({ disk: disk.folder, settings });
    await start();
    const { queue, logged } = openLogged(url);
    await queue.ready();
    const code = "POSTGRES_UNREACHABLE";
    let full: PromiseSettledResult<unknown> | undefined;
    // The segment of the log has room: Postgres ends when it cannot write that. On a busy machine it
    // may also exceed the time of a store.
    for (let round = 0; round < 60 && full === undefined; round++) {
      // Postgres frees some space itself.
      disk.fill();
      const stores = Array.from({ length: 100 }, (_, index) =>
        storeFactor(queue, `${round}-${index}`),
      );
      const settled = await Promise.allSettled(stores);
      full = settled.find((one) => one.status === "rejected" && one.reason.cause.code === "53100");
    }
    expect(full).toMatchObject({ reason: { code: "STORE_UNAVAILABLE" } });
    disk.free();
    await until(() => storeFactor(queue, "after").then(Boolean, () => false));
    const ends = logged.filter(({ message }) => message.includes("can be used again"));
    const reports = logged.filter((line) => line.code === code);
    expect(reports).not.toHaveLength(0);
    // On a busy machine, a write that is late begins an outage of its own, or this one.
    expect(reports.map(({ message }) => message)).toEqual(
      ends.map(() => expect.stringMatching(/No space left on device|timeout/)),
    );
  });

  it("tells that Postgres is a standby, until it is promoted", async () => {
    const { folder, start, url, query } = await create();
    writeFileSync(join(folder, "data", "standby.signal"), "");
    await start();
    const { queue, logged } = openLogged(url);
    await until(() => logged.length > 0);
    expect(logged).toMatchObject([{ code: "POSTGRES_UNREACHABLE" }]);
    expect(logged[0]?.message).toContain("is a standby");
    await query("select pg_promote()");
    await queue.ready();
    expect(logged).toHaveLength(2);
  });
});
