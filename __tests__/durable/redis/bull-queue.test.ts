import { redisQueue, type DurableQueue } from "express-push-verification/durable";
import { QUEUE_NAME as name, queuedParams, silent } from "../../support/durable";
import { describeWithRedis, startRedis, stopRedis, type RedisServer } from "../../support/redis";
import { startRedisProxy, type RedisProxy } from "../../support/redis-proxy";

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const store = (queue: DurableQueue, uuid: string) =>
  queue.store(queuedParams([["uuid", uuid]]), Number.POSITIVE_INFINITY);

describeWithRedis("the start of a queue", () => {
  let server: RedisServer;
  let proxy: RedisProxy;
  let queue: DurableQueue;
  const open = (connection: string) =>
    redisQueue({ name, connection, durability: "trust", logger: silent });

  beforeEach(async () => {
    server = await startRedis();
    proxy = await startRedisProxy(server.port);
  });
  afterEach(async () => {
    await queue.close({ deadlineMs: 200 });
    proxy.close();
    await stopRedis();
  });

  it("succeeds after the reply to the INFO of BullMQ was lost", async () => {
    queue = open(proxy.url);
    // The first INFO of a connection is that of ioredis.
    await proxy.loseReplyTo("info");
    await proxy.loseReplyTo("info");
    await queue.ready();
    expect(await store(queue, "a")).toBe("new");
    expect(await queue.stats()).toMatchObject({ waiting: 1 });
  }, 20_000);

  it("succeeds after Redis was killed 0 to 6 ms later", async () => {
    for (let killAfterMs = 0; killAfterMs <= 6; killAfterMs += 0.5) {
      queue = open(server.url);
      await later(killAfterMs);
      await server.stop("SIGKILL");
      await server.start();
      await queue.ready();
      expect(await store(queue, `killed after ${killAfterMs} ms`)).toBe("new");
      await queue.close({ deadlineMs: 200 });
    }
  }, 60_000);
});
