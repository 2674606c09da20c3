import { setTimeout as sleep } from "node:timers/promises";
import { createHandlers, PermanentError } from "express-push-verification";
import {
  postgresQueue,
  type DurableQueue,
  type EventWorker,
} from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, silent } from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/redis";
import { startRedisProxy, type RedisProxy } from "../../support/redis-proxy";

jest.setTimeout(120_000);

describeWithPostgres("a claim that another process released", () => {
  let server: PostgresProcess;
  let queue: DurableQueue;
  let attempts: number[];
  let letters: object[];
  let finish: (failure?: Error) => void;

  beforeEach(async () => {
    attempts = [];
    letters = [];
    server = await startPostgresProcess();
    const logger = { ...silent, error: (fields: object) => void letters.push(fields) };
    queue = postgresQueue({ connection: server.url, name: "q", logger, backoff: 1, attempts: 3 });
    await queue.ready();
    const handlers = createHandlers().onUnhandled(async (_event, { attempt }) => {
      attempts.push(attempt);
      if (attempt > 1) return;
      const failure = await new Promise<Error | undefined>((resolve) => (finish = resolve));
      if (failure !== undefined) throw failure;
    });
    queue.work(handlers, { concurrency: 1, handlerTimeoutMs: 60_000 });
    await queue.store(queuedEvent(eventFixture("factor.created")), Number.POSITIVE_INFINITY);
    await until(() => attempts.length === 1);
  });
  afterEach(async () => {
    finish();
    await queue.close({ deadlineMs: 0 });
    await server.remove();
  });

  const release = () =>
    server.query("select push.force_unlock_workers(array_agg(id)) from push.push_lane");
  const takeOver = () =>
    server.query("update push._private_jobs set locked_by = 'other', attempts = attempts + 1");
  const readJobs = () =>
    server.query("select locked_by, attempts, key is not null as has_key from push._private_jobs");

  it("removes the event when it is handled and nobody took it", async () => {
    await release();
    finish();
    await until(async () => (await readJobs()).length === 0);
    expect(attempts).toEqual([1]);
  });

  it.each([
    ["Error", new Error("fails")],
    ["PermanentError", new PermanentError("fails")],
  ])(
    "leaves the event to the next attempt when it failed with %s and nobody took it",
    async (_name, failure) => {
      await release();
      finish(failure);
      await until(async () => (await readJobs()).length === 0);
      expect(attempts).toEqual([1, 2]);
      expect(await queue.stats()).toMatchObject({ delayed: 0, deadLetters: 0 });
    },
  );

  it.each([
    ["no error", undefined],
    ["Error", new Error("fails")],
    ["PermanentError", new PermanentError("fails")],
  ])(
    "leaves the event to the process that took it, when its handlers end with %s",
    async (_name, failure) => {
      await takeOver();
      // The sweep would release what a lane has locked that is not registered.
      await server.query(`insert into push.push_lane select 'other', 'q', owner + 1
        from push.push_lane limit 1`);
      letters = [];
      finish(failure);
      await sleep(1_000);
      expect(await readJobs()).toEqual([{ locked_by: "other", attempts: 2, has_key: true }]);
      expect(letters.filter((fields) => "attempts" in fields)).toEqual([]);
      expect(await queue.stats()).toMatchObject({ active: 1, delayed: 0, deadLetters: 0 });
    },
  );
});

describeWithPostgres("a claim whose reply is lost", () => {
  let server: PostgresProcess;
  let proxy: RedisProxy;
  let queue: DurableQueue;
  let handled: string[];
  let busy: Promise<void>;
  let finishBusy: () => void;

  beforeEach(async () => {
    handled = [];
    busy = new Promise((resolve) => (finishBusy = resolve));
    server = await startPostgresProcess();
    proxy = await startRedisProxy(server.port);
    const connection = server.url.replace(String(server.port), String(proxy.port));
    queue = postgresQueue({ connection, name: "q", logger: silent });
    await queue.ready();
  });
  afterEach(async () => {
    finishBusy();
    await queue.close({ deadlineMs: 0 });
    proxy.close();
    await server.remove();
  });

  const store = (uuid: string) =>
    queue.store(queuedEvent(eventFixture("factor.created", { uuid })), Number.POSITIVE_INFINITY);

  function work(concurrency = 1): EventWorker {
    const handlers = createHandlers().onUnhandled(async ({ uuid }) => {
      handled.push(uuid);
      if (uuid === "busy") await busy;
    });
    return queue.work(handlers, { concurrency, handlerTimeoutMs: 60_000 });
  }

  /** Makes a claim take 2.5 s: Postgres ends it after 4 s. */
  const slowClaims = () =>
    server.query(`
      create function slow_claim() returns trigger language plpgsql as
        $$ begin perform pg_sleep(2.5); return new; end $$;
      create trigger slow_claim before update on push._private_jobs for each row
        when (old.locked_by is null and new.locked_by is not null) execute function slow_claim()`);
  const dropTrigger = () => server.query("drop trigger slow_claim on push._private_jobs");
  const isClaiming = async () =>
    (await server.query("select from pg_stat_activity where wait_event = 'PgSleep'")).length > 0;

  it("delays the event by less than 10 s, although the claim runs on", async () => {
    work(2);
    await store("busy");
    await until(() => handled.includes("busy"));
    await slowClaims();
    await store("lost");
    await until(isClaiming);
    proxy.cut();
    expect(await isClaiming()).toBe(true);
    const lostAtMs = performance.now();
    await until(async () => !(await isClaiming()));
    await dropTrigger();
    // The worker still takes two events at a time.
    await store("next");
    await until(() => handled.includes("next"));
    expect(handled).toEqual(["busy", "next"]);
    await until(() => handled.includes("lost"), 20_000);
    expect(performance.now() - lostAtMs).toBeLessThan(10_000);
    // Longer than the queue waits before it releases events again.
    await sleep(6_000);
    expect(handled).toEqual(["busy", "next", "lost"]);
  });

  it("delays the event, although another process has removed its lane", async () => {
    await store("lost");
    await slowClaims();
    work();
    await until(isClaiming);
    proxy.cut();
    await server.query("delete from push.push_lane");
    await until(async () => !(await isClaiming()));
    await dropTrigger();
    await until(() => handled.length > 0, 20_000);
    expect(handled).toEqual(["lost"]);
  });

  it.each([
    ["is not registered", "select from push.push_lane"],
    [
      "is registered once more by then",
      "insert into push.push_lane select 'ended', 'q', owner from push.push_lane limit 1",
    ],
  ])("releases an event that a lane locks after its end and that %s", async (_what, register) => {
    await store("late");
    await server.query("update push._private_jobs set locked_by = 'ended', locked_at = now()");
    work();
    await until(async () => (await server.query("select from push.push_lane")).length > 0);
    await server.query(register);
    await until(() => handled.length > 0, 20_000);
    expect(handled).toEqual(["late"]);
    await until(async () => (await server.query("select from push.jobs")).length === 0);
    const lanes = await server.query("select from push.push_lane where id = 'ended'");
    expect(lanes).toEqual([]);
  });

  it("adds few lanes while claims fail, and removes them", async () => {
    work(4);
    await until(async () => (await server.query("select from push.push_lane")).length === 8);
    await server.query("alter table push._private_jobs rename column locked_by to other");
    await store("waiting").catch(() => {});
    await sleep(8_000);
    const rows = await server.query("select from push.push_lane");
    expect(rows.length).toBeLessThan(100);
    await server.query("alter table push._private_jobs rename column other to locked_by");
    await store("next");
    await until(() => handled.includes("next"), 20_000);
    await until(
      async () => (await server.query("select from push.push_lane")).length === 8,
      20_000,
    );
  });

  it("leaves the event to the next worker when its worker closes, although the claim runs on", async () => {
    await store("lost");
    await slowClaims();
    const worker = work();
    await until(isClaiming);
    const closed = worker.close();
    proxy.cut();
    await closed;
    expect(await isClaiming()).toBe(true);
    // It waits for the end of the claim.
    await dropTrigger();
    expect(await queue.stats()).toMatchObject({ active: 1 });
    work();
    await until(() => handled.length > 0, 20_000);
    expect(handled).toEqual(["lost"]);
  });

  it("leaves the event to the other workers of its process when its worker closes", async () => {
    work();
    await store("busy");
    await until(() => handled.includes("busy"));
    await store("lost");
    await slowClaims();
    const worker = work();
    await until(isClaiming);
    proxy.swallow();
    const closed = worker.close();
    await dropTrigger();
    const [row] = await server.query(
      "select count(*)::int as count from push.jobs where locked_by is not null",
    );
    expect(row).toEqual({ count: 2 });
    proxy.cut();
    await closed;
    await until(async () => (await queue.stats()).waiting === 1, 20_000);
    expect(await queue.stats()).toMatchObject({ active: 1 });
    finishBusy();
    await until(() => handled.length === 2);
    expect(handled).toEqual(["busy", "lost"]);
  });
});
