import { redisQueue } from "express-push-verification/durable";
import { describeWithRedis, startRedis, stopRedis, type RedisServer } from "../../support/redis";
import { describeContract } from "../contract";

describeWithRedis("redisQueue", () => {
  let server: RedisServer;
  let prefix: string;

  beforeAll(async () => {
    server = await startRedis();
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
    async stop() {},
  });
});
