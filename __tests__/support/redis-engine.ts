import { QUEUE_NAME as name } from "./durable";
import { openQueue, type StoppableEngine } from "./engine";
import { describeWithRedis, startRedis, stopRedis, type RedisServer } from "./redis";

/** Runs a suite with a Redis for each test; skipped, and counted, where there is no redis-server. */
export function describeOnRedis(title: string, suite: (engine: StoppableEngine) => void): void {
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

    suite({
      async start() {
        server = await startRedis();
      },
      open: (options) => openQueue("redis", server.url, { name, ...options }),
      stop: stopRedis,
      listArguments: () => ["redis", server.url, name],
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
