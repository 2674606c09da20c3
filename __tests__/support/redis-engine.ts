import { prepareFormat } from "../../lib/durable/redis/migration";
import { resolveRedisOptions } from "../../lib/durable/redis/options";
import { RedisStore } from "../../lib/durable/redis/redis-store";
import { JOURNAL_MS } from "../../lib/durable/storage";
import { QUEUE_NAME as name, silent } from "./durable";
import { runSuite, type EngineSuite } from "./engine";
import { describeWithRedis, startRedis, stopRedis, type RedisServer } from "./redis";

/**
 * ARGV: by how many milliseconds each key that expires does so earlier, except those of workers, and
 * each pause of a job ends earlier, whose score is 2^12 times its end.
 */
const PASS_TIME = `
  for _, kind in ipairs({ "uuid", "de", "outcome", "discarded" }) do
    for _, key in ipairs(redis.call("KEYS", "*:" .. kind .. ":*")) do
      local left = redis.call("PTTL", key)
      if left > 0 then
        redis.call("PEXPIRE", key, left - ARGV[1])
      end
    end
  end
  for _, key in ipairs(redis.call("KEYS", "*:delayed")) do
    for _, id in ipairs(redis.call("ZRANGE", key, 0, -1)) do
      redis.call("ZINCRBY", key, -ARGV[1] * 4096, id)
      local job = string.sub(key, 1, -8) .. id
      local data = cjson.decode(redis.call("HGET", job, "data"))
      data.dueAtMs = data.dueAtMs - ARGV[1]
      redis.call("HSET", job, "data", cjson.encode(data))
    end
  end
  for _, list in ipairs(redis.call("KEYS", "*:journal")) do
    for _, member in ipairs(redis.call("ZRANGE", list, 0, -1)) do
      local id = string.match(member, "^%d+")
      local earlier = string.format("%.0f", id - 1000 * ARGV[1])
      redis.call("ZREM", list, member)
      redis.call("ZADD", list, earlier, earlier .. string.sub(member, #id + 1))
      redis.call("HSET", list .. ":texts", earlier, redis.call("HGET", list .. ":texts", id))
      redis.call("HDEL", list .. ":texts", id)
    end
  end`;

/** The keys of the set-up, those of BullMQ and of the next version, and the secret of the journal among them. */
const SET_UP = /^(meta|id|format|marker|stalled-check|confirmed|note|secret)$/;
/** The kinds of keys that stay until something removes them; the others must expire. */
const LASTING = /^(job|dead|active|wait|delayed|stalled)$/;

/**
 * Lists the kinds of the keys of a queue. One that does not expire within `longestMs`, as it should, is
 * "lasting"; a job that no list has is "lost".
 */
async function listKeys({ redis }: RedisServer, longestMs: number): Promise<string[]> {
  const keys = await redis.keys("push:*");
  const kinds = keys.map(async (key) => {
    const [, queue, first = "", ...rest] = key.split(":");
    if (queue === "queues" || SET_UP.test(first)) return [];
    // BullMQ removes 100 at a time.
    if (first === "events") return (await redis.xlen(key)) > 300 ? ["long events"] : [];
    const isJob = /^[\da-f]{32}-/.test(first);
    if (isJob && rest.length === 0) {
      const head = `push:${queue}`;
      const [waiting, active, delayed] = await Promise.all([
        redis.lpos(`${head}:wait`, first),
        redis.lpos(`${head}:active`, first),
        redis.zscore(`${head}:delayed`, first),
      ]);
      return [(waiting ?? active ?? delayed ?? undefined) === undefined ? "lost job" : "job"];
    }
    const kind = isJob ? "lock" : first.replace("workers", "worker");
    if (LASTING.test(kind)) return [kind];
    const ttlMs = await redis.pttl(key);
    const isLasting = ttlMs === -1 || ttlMs > (kind === "journal" ? JOURNAL_MS : longestMs);
    if (isLasting) return [`lasting ${[kind, ...rest].join(":")}`];
    if (kind !== "journal") return [kind];
    const entries = first === "journal" && rest.length === 0 ? await redis.zcard(key) : 0;
    return entries > 0 && (await redis.hlen(`${key}:texts`)) !== entries ? ["lost text"] : [];
  });
  return (await Promise.all(kinds)).flat().toSorted();
}

/** The server of suites that leave its settings as they are. */
let shared: Promise<RedisServer> | undefined;

afterAll(stopRedis);

/** Runs a suite with a Redis for each test, or with one for all such suites of a file. */
export function describeOnRedis(
  title: string,
  suite: EngineSuite<{ server(): RedisServer }>,
  isShared = false,
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
        server = await (isShared ? (shared ??= startRedis()) : startRedis());
        if (!server.isUp()) await server.start();
        await server.redis.flushall();
      },
      place: () => ({ name, connection: server.url }),
      async stop() {
        server.thaw();
        if (!isShared) await stopRedis();
      },
      freeze,
      keepsRuns: false,
      kill,
      passTime: (ms) => server.redis.eval(PASS_TIME, 0, ms),
      async passLeases() {
        const { redis } = server;
        for (const lock of await redis.keys("*:lock"))
          await redis.pexpire(lock, (await redis.pttl(lock)) - 3_000);
        const workers = `push:${name}:workers`;
        for (const id of await redis.zrange(workers, "0", "-1"))
          await redis.zincrby(workers, -6_000, id);
      },
      createStorage: () =>
        new RedisStore(resolveRedisOptions({ name, connection: server.url, logger: silent })),
      listKept: (longestMs) => (server.isUp() ? listKeys(server, longestMs) : []),
      outages: [{ name: "is stopped", begin: () => server.stop(), end }, kill, freeze],
      format: {
        codes: "REDIS",
        set: (numbers) => server.redis.hset(`push:${name}:format`, numbers),
        async migrate() {
          const step = 'redis.call("SET", ARGV[1] .. ":note", "new", "PX", 600000)';
          await prepareFormat(server.redis, { head: `push:${name}` }, { 2: step });
          return server.redis.get(`push:${name}:note`);
        },
        async dump() {
          const keys = (await server.redis.keys("*")).toSorted();
          const dumps = keys.map(async (key) => {
            const dump = await server.redis.dumpBuffer(key);
            const ttlMs = Math.max(0, await server.redis.pttl(key));
            return [key, ttlMs, dump.toString("base64")];
          });
          return Buffer.from(JSON.stringify(await Promise.all(dumps)));
        },
        async restore(dump) {
          const items = JSON.parse(dump.toString()) as [string, number, string][];
          for (const [key, ttlMs, value] of items) {
            await server.redis.restore(key, ttlMs, Buffer.from(value, "base64"));
          }
        },
      },
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
