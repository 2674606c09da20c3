import { PermanentError } from "express-push-verification";
import { openReceiver } from "../../support/durable";
import { collect, describeWithRedis, until } from "../../support/redis";
import { useRedisReceiver } from "../../support/redis-receiver";
import { eventRequest } from "../../support/webhook-requests";

describeWithRedis("dead letters in Redis", () => {
  const app = useRedisReceiver();
  const requestOf = (uuid: string) => eventRequest("factor.created", { uuid });
  const jobKeys = async () => {
    const keys = await app.server.redis.keys(`${app.options.prefix}:q:*`);
    return keys.filter((key) => /:[0-9a-f]{8}-[0-9a-f]{32}$/.test(key));
  };

  /** Delivers events whose handlers fail for good, and closes the worker. */
  async function makeDead(...uuids: string[]): Promise<void> {
    app.fails = () => new PermanentError("down");
    const worker = app.work();
    for (const uuid of uuids) await app.deliver(requestOf(uuid));
    await until(async () => (await app.queue.stats()).deadLetters === uuids.length);
    await worker.close();
  }

  it("are discarded once and entirely when several processes discard one at a time", async () => {
    await makeDead("poison");
    const both = await Promise.all([app.queue.discard("poison"), app.queue.discard("poison")]);
    expect(both.toSorted()).toEqual([false, true]);
    expect(await jobKeys()).toEqual([]);
  });

  it("that this version cannot read are listed", async () => {
    await makeDead("odd");
    const [key = ""] = await jobKeys();
    await app.server.redis.hset(key, "data", JSON.stringify({ params: [["uuid", "odd"]] }));
    expect(await collect(app.queue.deadLetters())).toMatchObject([
      { uuid: "odd", event: undefined },
    ]);
  });

  it("are bounded by maxDeadLetters: the oldest are discarded, which is logged", async () => {
    const logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
    const bounded = await openReceiver({ ...app.options, attempts: 1, maxDeadLetters: 3, logger });
    bounded.push.onAny(() => Promise.reject(new PermanentError("no")));
    bounded.queue.work(bounded.push.handlers, { concurrency: 1, onError: () => {} });
    const listUuids = async () =>
      (await collect(bounded.queue.deadLetters())).map(({ uuid }) => uuid);
    const reports = () =>
      logger.error.mock.calls.filter(([, text]) => String(text).includes("discards"));
    for (const uuid of ["a", "b"]) await bounded.deliver(requestOf(uuid));
    await until(async () => (await listUuids()).length === 2);
    expect(reports()).toEqual([]);
    for (const uuid of ["c", "d", "e"]) await bounded.deliver(requestOf(uuid));
    await until(async () => (await listUuids()).join() === "c,d,e");
    await until(() => reports().length === 1);
    expect(reports()).toMatchObject([[{ maxDeadLetters: 3 }, expect.any(String)]]);
    // Their uuids are kept: a replay is a duplicate.
    for (const uuid of ["a", "e"]) expect(await bounded.deliver(requestOf(uuid))).toBe(200);
    expect(await bounded.queue.stats()).toMatchObject({ waiting: 0, active: 0, deadLetters: 3 });
    await bounded.close();
  });

  it("of a uuid are found without reading the others", async () => {
    await makeDead(...Array.from({ length: 30 }, (_, index) => `u${index}`));
    const reads = async () => {
      const stats = await app.server.redis.info("commandstats");
      return Number((/^cmdstat_hgetall:calls=(\d+)/m.exec(stats) ?? [])[1] ?? 0);
    };
    const before = await reads();
    expect([await app.queue.retry("u7"), await app.queue.discard("u8")]).toEqual([true, true]);
    expect((await reads()) - before).toBeLessThan(10);
  });
});
