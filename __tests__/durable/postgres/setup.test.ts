/** What a queue does with its Postgres; setups/postgres.test.ts has the set-ups in which it rejects. */
import {
  postgresQueue,
  QueueError,
  type DurableQueue,
  type PostgresQueueOptions,
} from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, silent } from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/waiting";

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
    // The first store waits until the schema is created.
    const own = { connection: server.url, name: "q", logger: silent, storeTimeoutMs: 30_000 };
    const queue = postgresQueue({ ...own, ...options });
    opened.push(queue);
    return queue;
  }
  const store = (queue: DurableQueue, deadlineAtMs = Number.POSITIVE_INFINITY) =>
    queue.store(queuedEvent(eventFixture("factor.created")), deadlineAtMs);

  it("with fsync = off is used with a warning or none, and by any queue once it is on", async () => {
    await server.set("fsync", "off");
    const queue = open();
    await expect(queue.ready()).rejects.toThrow(QueueError);
    for (const durability of ["warn", "trust"] as const) {
      const warn = jest.fn();
      const trusting = open({ durability, logger: { ...silent, warn } });
      expect(await store(trusting)).toBe("new");
      expect(warn).toHaveBeenCalledTimes(durability === "warn" ? 1 : 0);
    }
    await server.set("fsync", "on");
    expect(await store(queue)).toBe("new");
  });

  it("that becomes read-only is rejected by an open queue, until it takes writes", async () => {
    const setReadOnly = (value: string) => server.set("default_transaction_read_only", value);
    const queue = open({ durability: "trust" });
    await queue.ready();
    await setReadOnly("on");
    try {
      // The queue finds out within seconds.
      await until(() =>
        queue.ready().then(
          () => false,
          () => true,
        ),
      );
      await expect(queue.ready()).rejects.toThrow("default_transaction_read_only = off");
      await expect(store(queue, performance.now() + 1_000)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        cause: { code: "POSTGRES_REJECTED" },
      });
    } finally {
      await setReadOnly("off");
    }
    expect(await store(queue)).toBe("new");
    await queue.ready();
  });

  it("gets no schema and no queue without create, which names the queues that it finds", async () => {
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

  it("gets one schema from processes that start at a time", async () => {
    const queues = Array.from({ length: 4 }, () => open({ schema: "together" }));
    await Promise.all(queues.map((queue) => queue.ready()));
    expect(await server.query("select version from together.version")).toHaveLength(1);
  });

  it("has no expired uuids after a minute", async () => {
    const queue = open({ schema: "purged", dedupeTtlMs: 1_000 });
    for (let count = 0; count < 5; count++) await store(queue);
    const countRows = async () => (await server.query("select 1 from purged.delivery")).length;
    expect(await countRows()).toBe(5);
    await until(async () => (await countRows()) === 0, 40_000);
  });
});
