/** What a queue does with its Postgres; setups/postgres.test.ts has the set-ups in which it rejects. */
import { randomUUID } from "node:crypto";
import { createHandlers } from "express-push-verification";
import { QueueError, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import {
  createSlowHandlers,
  queuedEvent,
  sidOf,
  silent,
  storeFactor,
  untilStats,
} from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { usePostgres } from "../../support/postgres-engine";
import { until } from "../../support/waiting";

const BACKLOG = 20_000;
const EVENTS = 100;

describeWithPostgres("postgresQueue", () => {
  // Nothing but the queue reads the rows.
  const app = usePostgres({ settings: { autovacuum: "off" } });
  // The first store waits until the schema is created.
  const open: typeof app.open = (options) => app.open({ storeTimeoutMs: 30_000, ...options });
  const store = (queue: DurableQueue) => storeFactor(queue, randomUUID());
  const wait = { account: "", challengeSid: sidOf(1) };

  it("with fsync = off is used with a warning or none, and by any queue once it is on", async () => {
    await app.server.set("fsync", "off");
    const queue = open();
    await expect(queue.ready()).rejects.toThrow(QueueError);
    for (const [durability, warnings] of [
      ["warn", 1],
      ["trust", 0],
    ] as const) {
      const warn = jest.fn();
      expect(await store(open({ durability, logger: { ...silent, warn } }))).toBe("new");
      expect(warn).toHaveBeenCalledTimes(warnings);
    }
    await app.server.set("fsync", "on");
    expect(await store(queue)).toBe("new");
  });

  it("gets no schema and no queue without create, which names the queues that it finds", async () => {
    await open({ schema: "known", name: "orders" }).ready();
    await open({ schema: "known", name: "orders", create: false }).ready();
    for (const [schema, found] of Object.entries({ known: "orders", unknown: "none" })) {
      const ready = open({ schema, name: "order", create: false }).ready();
      await expect(ready).rejects.toThrow(`no queue named order; it has: ${found}`);
    }
    expect(await app.server.query("select name from known.queue")).toEqual([{ name: "orders" }]);
  });

  it("gets one schema from processes that start at a time", async () => {
    const queues = Array.from({ length: 4 }, () => open({ schema: "together" }));
    await Promise.all(queues.map((queue) => queue.ready()));
    expect(await app.server.query("select version from together.version")).toHaveLength(1);
  });

  it("has no expired uuids after a minute", async () => {
    const queue = open({ schema: "purged", dedupeTtlMs: 1_000 });
    const countRows = async () => (await app.server.query("select from purged.delivery")).length;
    await store(queue);
    expect(await countRows()).toBe(1);
    await until(async () => (await countRows()) === 0, 40_000);
  });

  it("keeps uuids and outcomes of two queues in one schema apart", async () => {
    const [staging, production] = [open({ name: "staging" }), open({ name: "production" })];
    const waits = Promise.allSettled([
      staging.outcomes.wait({ ...wait, timeoutMs: 20_000 }),
      production.outcomes.wait({ ...wait, timeoutMs: 500 }),
    ]);
    const denied = eventFixture("challenge.denied", { challenge_sid: sidOf(1), uuid: "u" });
    expect(await staging.store(queuedEvent(denied), Infinity)).toBe("new");
    expect((await waits).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(await production.store(queuedEvent(denied), Infinity)).toBe("new");
  });

  it("lets a worker take and finish events without reading those of other queues", async () => {
    /** A connection adds its reads to the counters of Postgres when it ends, at the latest. */
    async function countReadRows(): Promise<number> {
      const own = "select from pg_stat_activity where application_name = 'push-webhooks'";
      await until(async () => (await app.server.query(own)).length === 0, 10_000);
      const [row] = await app.server.query(`select (seq_tup_read + idx_tup_fetch)::int as count
        from pg_stat_user_tables where relid = 'large.event'::regclass`);
      return row!.count as number;
    }
    const queue = open({ schema: "large" });
    await queue.ready();
    await app.server.query(
      `insert into large.event (queue, run_at, uuid_hash, body)
      select 99, number, gen_random_uuid(), '{}' from generate_series(1, $1::int) as number`,
      [BACKLOG],
    );
    for (let count = 0; count < EVENTS; count++) await store(queue);
    await queue.close();
    const readBefore = await countReadRows();
    const worker = open({ schema: "large" });
    let handled = 0;
    worker.work(createHandlers().onUnhandled(() => void handled++));
    await until(() => handled === EVENTS, 20_000);
    await worker.close();
    expect((await countReadRows()) - readBefore).toBeLessThan(BACKLOG);
  });

  it("keeps waits and the events of running handlers in an outage, and opens one listening connection a process", async () => {
    const { server } = app;
    const [queue, other] = [open({ schema: "restarted" }), open({ schema: "restarted" })];
    const areReady = () => Promise.all([queue.ready(), other.ready()]);
    await areReady();
    const { handlers, handled, finish } = createSlowHandlers();
    for (const one of [queue, other]) one.work(handlers, { handlerTimeoutMs: 60_000 });
    await storeFactor(queue, "slow");
    await until(() => handled.length === 1);
    const waiting = other.outcomes.wait({ ...wait, timeoutMs: 50_000 });
    // Simulates an outage that is longer than a lease.
    await server.query("update restarted.member set seen_at = seen_at - 60000; checkpoint");
    await server.kill("SIGKILL");
    await server.start();
    await areReady();
    const outcome = eventFixture("challenge.approved", { challenge_sid: sidOf(1) });
    await queue.store(queuedEvent(outcome), Infinity);
    expect(await waiting).toEqual(outcome);
    // From then on, each process would take the events of one that does not beat.
    const old = "select from restarted.member where seen_at - since > 5000";
    await until(async () => (await server.query(old)).length === 4);
    const listening = await server.query(
      "select from pg_stat_activity where query ilike '%listen%' and pid <> pg_backend_pid()",
    );
    expect(listening.length).toBeLessThanOrEqual(2);
    finish();
    await untilStats(queue, { active: 0 });
    expect(handled).toEqual(["slow", outcome.uuid]);
  });
});
