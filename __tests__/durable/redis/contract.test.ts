import { redisQueue } from "express-push-verification/durable";
import { describeWithAnyRedis, stopRedis, useRedis, type RedisServer } from "../../support/redis";
import { describeContract } from "../contract";

describeWithAnyRedis("redisQueue", () => {
  let server: Pick<RedisServer, "url" | "redis">;
  let prefix: string;

  beforeAll(async () => {
    server = await useRedis();
  });
  afterAll(stopRedis);

  describeContract({
    kind: "redis",
    place: () => ({ connection: server.url, prefix, durability: "trust" }),
    async start() {
      prefix = `push-test-${crypto.randomUUID()}`;
    },
    open: (options) =>
      redisQueue({ name: "q", connection: server.url, prefix, durability: "trust", ...options }),
    hasBound: true,
    async stop() {
      const keys = await server.redis.keys(`${prefix}:*`);
      if (keys.length > 0) await server.redis.del(keys);
    },
  });
});
