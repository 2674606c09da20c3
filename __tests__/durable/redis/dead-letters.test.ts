import { PermanentError } from "express-push-verification";
import { describeWithRedis } from "../../support/redis";
import { collect, until } from "../../support/waiting";
import { useRedisReceiver } from "../../support/redis-receiver";
import { eventRequest } from "../../support/webhook-requests";

describeWithRedis("dead letters in Redis", () => {
  const app = useRedisReceiver();
  const requestOf = (uuid: string) => eventRequest("factor.created", { uuid });
  const head = () => `${app.options.prefix}:q`;

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
    const keys = await app.server.redis.keys(`${head()}:*`);
    expect(keys.filter((key) => /:dead/.test(key))).toEqual([]);
  });

  const bodyOf = (body: unknown) => JSON.stringify({ body: JSON.stringify(body), errors: "[]" });
  it.each([
    ["no JSON", "{"],
    ["nested 100,000 deep", `${'{"body":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    [
      "an event nested 100,000 deep",
      bodyOf(7).replace("7", "[".repeat(100_000) + "]".repeat(100_000)),
    ],
    ["an event of another version", bodyOf({ params: [["uuid", "odd"]] })],
    ["a uuid that is an object", bodyOf({ params: [["uuid", {}]] })],
    ["failures that are no list", bodyOf({}).replace("[]", "5")],
    ["a time beyond dates", bodyOf({}), "+inf"],
  ])("that are %s are listed, retried, and dead letters again", async (_what, text, time = "1") => {
    await makeDead("good");
    await app.server.redis.zadd(`${head()}:dead`, time, "odd");
    await app.server.redis.hset(`${head()}:dead:events`, "odd", text);
    const listed = await collect(app.queue.deadLetters());
    expect(listed.map(({ event }) => event?.uuid).toSorted()).toEqual(["good", undefined]);
    expect(listed.map(({ failedAt }) => Number(failedAt)).some(Number.isNaN)).toBe(false);
    expect(await app.queue.stats()).toMatchObject({ deadLetters: 2 });
    expect(await app.queue.retryAll()).toBe(2);
    app.work();
    await until(async () => (await app.queue.stats()).deadLetters === 2);
    expect(await app.queue.find("good")).toMatchObject({ state: "dead" });
  });

  it.each([
    ["data", "{"],
    ["data", "[".repeat(100_000) + "]".repeat(100_000)],
    ["opts", "{"],
  ])(
    "are made of jobs that no worker can read: %s",
    async (field, text) => {
      const { redis } = app.server;
      await app.deliver(requestOf("bad"));
      const [key = ""] = await redis.keys(`${head()}:uuid:*`);
      const [id = ""] = await redis.hvals(key);
      await redis.hset(`${head()}:${id}`, field, text);
      app.work();
      await app.deliver(requestOf("good"));
      await until(async () => (await app.queue.stats()).deadLetters === 1);
      expect(await collect(app.queue.deadLetters())).toMatchObject([
        { event: undefined, error: expect.stringMatching(/^INTERNAL_ERROR/) },
      ]);
      await until(() => app.handled.length === 1);
      await until(async () => (await app.queue.stats()).active === 0);
      expect(await app.queue.stats()).toMatchObject({ waiting: 0, delayed: 0, deadLetters: 1 });
      // BullMQ finds such a job within 30 s.
    },
    120_000,
  );

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
