import type { Redis } from "ioredis";
import { PermanentError } from "express-push-verification";
import { QUEUE_NAME, receiveInto, untilStats, type DurableReceiver } from "../../support/durable";
import { startRedis } from "../../support/redis";
import { describeRedisQueues, openRedisQueue } from "../../support/redis-engine";
import { collect, until } from "../../support/waiting";
import { eventRequest } from "../../support/webhook-requests";

const HEAD = `push:${QUEUE_NAME}`;

describeRedisQueues("dead letters in Redis", () => {
  let redis: Redis;
  let app: DurableReceiver;
  let isDown: boolean;
  let handled: string[];
  const work = () => app.queue.work(app.push.handlers);
  const deliver = (uuid: string) => app.deliver(eventRequest("factor.created", { uuid }));

  beforeEach(async () => {
    isDown = false;
    handled = [];
    const server = await startRedis();
    redis = server.redis;
    app = await receiveInto(openRedisQueue(server.url, { attempts: 3, backoff: 20 }));
    app.push.onAny(({ uuid }) => {
      if (isDown) throw new PermanentError("down");
      handled.push(uuid);
    });
    await app.queue.ready();
  });

  /** Delivers events whose handlers fail for good, and closes the worker. */
  async function makeDead(...uuids: string[]): Promise<void> {
    isDown = true;
    const worker = work();
    for (const uuid of uuids) await deliver(uuid);
    await untilStats(app.queue, { deadLetters: uuids.length });
    await worker.close();
  }

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
    await redis.zadd(`${HEAD}:dead`, time, "odd");
    await redis.hset(`${HEAD}:dead:events`, "odd", text);
    const listed = await collect(app.queue.deadLetters());
    expect(listed.map(({ event }) => event?.uuid).toSorted()).toEqual(["good", undefined]);
    expect(listed.map(({ failedAt }) => Number(failedAt)).some(Number.isNaN)).toBe(false);
    expect(await app.queue.stats()).toMatchObject({ deadLetters: 2 });
    expect(await app.queue.retryAll()).toBe(2);
    work();
    await untilStats(app.queue, { deadLetters: 2 });
    expect(await app.queue.find("good")).toMatchObject({ state: "dead" });
  });

  it.each([
    ["data", "{"],
    ["data", "[".repeat(100_000) + "]".repeat(100_000)],
    ["opts", "{"],
  ])("are made of jobs that no worker can read: %s", async (field, text) => {
    await deliver("bad");
    const [key = ""] = await redis.keys(`${HEAD}:uuid:*`);
    const [id = ""] = await redis.hvals(key);
    await redis.hset(`${HEAD}:${id}`, field, text);
    work();
    await deliver("good");
    await untilStats(app.queue, { deadLetters: 1 });
    expect(await collect(app.queue.deadLetters())).toMatchObject([
      { event: undefined, error: expect.stringMatching(/^INTERNAL_ERROR/) },
    ]);
    await until(() => handled.length === 1);
    await untilStats(app.queue, { waiting: 0, active: 0, delayed: 0, deadLetters: 1 });
  });

  it("of a uuid are found without reading the others, and discarded entirely", async () => {
    await makeDead(...Array.from({ length: 30 }, (_, index) => `u${index}`));
    const reads = async () => {
      const stats = await redis.info("commandstats");
      return Number((/^cmdstat_hgetall:calls=(\d+)/m.exec(stats) ?? [])[1] ?? 0);
    };
    const before = await reads();
    expect([await app.queue.retry("u7"), await app.queue.discard("u8")]).toEqual([true, true]);
    expect((await reads()) - before).toBeLessThan(10);
    expect([await redis.zcard(`${HEAD}:dead`), await redis.hlen(`${HEAD}:dead:events`)]).toEqual([
      28, 28,
    ]);
  });
});
