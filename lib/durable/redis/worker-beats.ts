import type { Redis } from "ioredis";
import type { RedisSettings } from "./options";

/** The workers that take events, in all processes of a queue. */
export interface WorkerBeats {
  /** Counts a worker for the next 10 s. */
  beat(workerId: string): Promise<void>;
  remove(workerId: string): Promise<void>;
  count(): Promise<number>;
}

const VALID_MS = 10_000;
/** The clock of Redis: those of the processes may differ. */
const NOW = `
  local time = redis.call("TIME")
  local now = time[1] * 1000 + math.floor(time[2] / 1000)`;
const BEAT = `${NOW}
  redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
  redis.call("ZADD", KEYS[1], now + ARGV[2], ARGV[1])
  redis.call("PEXPIRE", KEYS[1], ARGV[2])`;
const COUNT = `${NOW}
  return redis.call("ZCOUNT", KEYS[1], now, "+inf")`;

/** Creates the list of workers, which is kept in Redis. */
export function createWorkerBeats(redis: Redis, { prefix, name }: RedisSettings): WorkerBeats {
  const key = `${prefix}:${name}:workers`;
  return {
    async beat(workerId) {
      await redis.eval(BEAT, 1, key, workerId, VALID_MS);
    },
    async remove(workerId) {
      await redis.zrem(key, workerId);
    },
    count: async () => Number(await redis.eval(COUNT, 1, key)),
  };
}
