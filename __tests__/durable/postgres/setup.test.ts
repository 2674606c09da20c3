/** What a queue does with its Postgres; setups/postgres.test.ts has the set-ups in which it rejects. */
import { randomUUID } from "node:crypto";
import {
  QueueError,
  type DurableQueue,
  type PostgresQueueOptions,
} from "express-push-verification/durable";
import { silent, storeFactor } from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { usePostgres } from "../../support/postgres-engine";
import { until } from "../../support/waiting";

describeWithPostgres("the setup of Postgres", () => {
  const app = usePostgres();
  // The first store waits until the schema is created.
  const open = (options?: Partial<PostgresQueueOptions>) =>
    app.open({ storeTimeoutMs: 30_000, ...options });
  const store = (queue: DurableQueue, deadlineAtMs?: number) =>
    storeFactor(queue, randomUUID(), deadlineAtMs);

  it("with fsync = off is used with a warning or none, and by any queue once it is on", async () => {
    await app.server.set("fsync", "off");
    const queue = open();
    await expect(queue.ready()).rejects.toThrow(QueueError);
    for (const durability of ["warn", "trust"] as const) {
      const warn = jest.fn();
      const trusting = open({ durability, logger: { ...silent, warn } });
      expect(await store(trusting)).toBe("new");
      expect(warn).toHaveBeenCalledTimes(durability === "warn" ? 1 : 0);
    }
    await app.server.set("fsync", "on");
    expect(await store(queue)).toBe("new");
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
    expect(await app.server.query("select name from known.queue")).toEqual([{ name: "orders" }]);
  });

  it("gets one schema from processes that start at a time", async () => {
    const queues = Array.from({ length: 4 }, () => open({ schema: "together" }));
    await Promise.all(queues.map((queue) => queue.ready()));
    expect(await app.server.query("select version from together.version")).toHaveLength(1);
  });

  it("has no expired uuids after a minute", async () => {
    const queue = open({ schema: "purged", dedupeTtlMs: 1_000 });
    for (let count = 0; count < 5; count++) await store(queue);
    const countRows = async () => (await app.server.query("select 1 from purged.delivery")).length;
    expect(await countRows()).toBe(5);
    await until(async () => (await countRows()) === 0, 40_000);
  });
});
