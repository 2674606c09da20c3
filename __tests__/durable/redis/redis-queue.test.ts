import { Redis } from "ioredis";
import { redisQueue } from "express-push-verification/durable";
import { queuedParams } from "../../support/durable";
import { describeWithRedis } from "../../support/redis";
import { until } from "../../support/waiting";
import { useRedisReceiver } from "../../support/redis-receiver";

describeWithRedis("redisQueue", () => {
  const app = useRedisReceiver();
  const { work, deliver } = app;

  it("leaves no personal data of a handled event, except in its outcome", async () => {
    work();
    await deliver();
    await until(() => app.handled.length === 1);
    await until(async () => (await app.queue.stats()).active === 0);
    const texts = await Promise.all(
      (await app.server.redis.keys(`${app.options.prefix}:*`)).map(async (key) => {
        const type = await app.server.redis.type(key);
        if (type === "hash") return JSON.stringify(await app.server.redis.hgetall(key));
        if (type === "stream") return JSON.stringify(await app.server.redis.xrange(key, "-", "+"));
        return type === "string" && !key.includes(":outcome:") ? app.server.redis.get(key) : "";
      }),
    );
    expect(texts.join()).not.toContain("user-7f3a-22");
  });

  it.each([
    ["a Redis", (url: string) => new Redis(url)],
    ["a Redis with lazyConnect", (url: string) => new Redis(url, { lazyConnect: true })],
  ])("duplicates %s that is given as connection, and leaves it open", async (_what, connect) => {
    const instance = connect(app.server.url);
    const own = redisQueue({ ...app.options, connection: instance });
    await own.ready();
    expect(await own.store(queuedParams([["uuid", "own"]]), Number.POSITIVE_INFINITY)).toBe("new");
    expect(await app.queue.stats()).toMatchObject({ waiting: 1 });
    await own.close();
    expect(await instance.ping()).toBe("PONG");
    instance.disconnect();
  });
});
