import {
  redisQueue,
  type DurableQueue,
  type RedisQueueOptions,
} from "express-push-verification/durable";
import { closeLater, closeOpened, QUEUE_NAME as name, silent } from "./durable";
import { runSuite, type EngineSuite } from "./engine";
import { describeWithRedis, startRedis, stopRedis, type RedisServer } from "./redis";

/** Tests that start servers and open queues, which are stopped and closed after each of them. */
export function describeRedisQueues(title: string, define: () => void): void {
  describeWithRedis(title, () => {
    define();
    afterEach(async () => {
      await closeOpened();
      await stopRedis();
    });
  });
}

/** Opens a queue as a process would; it is closed after the test. */
export const openRedisQueue = (
  connection: RedisQueueOptions["connection"],
  options?: Partial<RedisQueueOptions>,
): DurableQueue => closeLater(redisQueue({ name, connection, logger: silent, ...options }));

/** Runs a suite with a Redis for each test; skipped, and counted, where there is no redis-server. */
export function describeOnRedis(title: string, suite: EngineSuite): void {
  describeWithRedis(`redisQueue: ${title}`, () => {
    let server: RedisServer;
    const freeze = {
      name: "is frozen",
      begin: () => server.freeze(),
      end: () => server.thaw(),
    };
    const kill = {
      name: "is killed",
      begin: () => server.stop("SIGKILL"),
      end: () => server.start(),
    };

    runSuite(suite, {
      kind: "redis",
      async start() {
        server = await startRedis();
      },
      place: () => ({ name, connection: server.url }),
      stop: stopRedis,
      freeze,
      keepsRuns: false,
      kill,
      outages: [
        { name: "is stopped", begin: () => server.stop(), end: () => server.start() },
        kill,
        freeze,
      ],
      failures: [
        {
          name: "is out of memory",
          begin: () => server.redis.config("SET", "maxmemory", "1mb"),
          end: () => server.redis.config("SET", "maxmemory", "0"),
          error: "maxmemory",
        },
        {
          name: "is read-only",
          begin: () => server.redis.replicaof("127.0.0.1", "1"),
          end: () => server.redis.replicaof("NO", "ONE"),
          error: "replica",
        },
      ],
      async countConnections() {
        const clients = await server.redis.info("clients");
        const [, count] = /^connected_clients:(\d+)/m.exec(clients) ?? [];
        return Number(count) - 1;
      },
    });
  });
}
