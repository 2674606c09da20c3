import { QUEUE_NAME as name } from "./durable";
import { runSuite, type EngineSuite } from "./engine";
import { describeWithRedis, startRedis, stopRedis, type RedisServer } from "./redis";

/** Runs a suite with a Redis for each test. */
export function describeOnRedis(
  title: string,
  suite: EngineSuite<{ server(): RedisServer }>,
): void {
  describeWithRedis(`redisQueue: ${title}`, () => {
    let server: RedisServer;
    const freeze = { name: "is frozen", begin: () => server.freeze(), end: () => server.thaw() };
    const end = () => server.start();
    const kill = { name: "is killed", begin: () => server.stop("SIGKILL"), end };

    runSuite(suite, {
      kind: "redis",
      server: () => server,
      async start() {
        server = await startRedis();
      },
      place: () => ({ name, connection: server.url }),
      stop: stopRedis,
      freeze,
      keepsRuns: false,
      kill,
      outages: [{ name: "is stopped", begin: () => server.stop(), end }, kill, freeze],
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
    });
  });
}
