import { createHandlers } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { QUEUE_NAME as name, queuedEvent, silent } from "../../support/durable";
import { describeWithRedis, stopRedis, type RedisServer } from "../../support/redis";
import { until } from "../../support/waiting";
import { startRedisCluster } from "../../support/redis-cluster";

describeWithRedis("a cluster", () => {
  let nodes: RedisServer[];
  let addresses: { host: string; port: number }[];

  beforeAll(async () => {
    nodes = await startRedisCluster(3);
    addresses = nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
  }, 30_000);
  afterAll(stopRedis);

  it("stores events, and runs their handlers", async () => {
    const connection = { cluster: addresses };
    const queue = redisQueue({ name, connection, durability: "trust", logger: silent });
    await queue.ready();
    const handled: string[] = [];
    queue.work(createHandlers().onAny(({ uuid }) => void handled.push(uuid)));
    const event = eventFixture("challenge.approved", { uuid: "a" });
    expect(await queue.store(queuedEvent(event), Number.POSITIVE_INFINITY)).toBe("new");
    await until(() => handled.length === 1);
    await until(async () => (await queue.stats()).active === 0);
    expect(await queue.stats()).toMatchObject({ waiting: 0, deadLetters: 0, workers: 1 });
    await queue.close();
  });
});
