import type { JobsOptions } from "bullmq";
import type { Redis } from "ioredis";
import type { QueueStats } from "../durable-queue";
import { pauseAfter, type Backoff } from "../queue-options";
import type { RedisSettings } from "./options";

/** The field of a job with the time of the last retry as a dead letter, in Unix milliseconds. */
export const RETRIED_FIELD = "retriedAt";

/**
 * KEYS: the lists and sets of BullMQ. The score of a delayed job is its due time * 4096 and more. A job
 * whose pause is over stays delayed until a worker takes the next job.
 */
const READ = `
  local due = (ARGV[1] + 1) * 4096 - 1
  local delayed = redis.call("ZRANGE", KEYS[3], 0, 0, "WITHSCORES")
  local jobId = redis.call("LINDEX", KEYS[1], -1)
  return {
    redis.call("LLEN", KEYS[1]),
    redis.call("LLEN", KEYS[2]),
    redis.call("ZCOUNT", KEYS[3], "-inf", due),
    redis.call("ZCARD", KEYS[3]),
    redis.call("ZCARD", KEYS[4]),
    delayed[2] or false,
    jobId and redis.call(
      "HMGET", ARGV[2] .. jobId, "timestamp", "${RETRIED_FIELD}", "processedOn", "atm", "opts") or false
  }`;

/** Reads how many events a queue holds. */
export async function readStats(
  redis: Redis,
  beats: WorkerBeats,
  { prefix, name }: RedisSettings,
): Promise<QueueStats> {
  const head = `${prefix}:${name}`;
  const keys = ["wait", "active", "delayed", "failed"].map((state) => `${head}:${state}`);
  const now = Date.now();
  const [reply, workers] = await Promise.all([
    redis.eval(READ, keys.length, ...keys, now, `${head}:`),
    beats.count(),
  ]);
  const [wait, active, due, delayed, failed, firstScore, job] = reply as StatsReply;
  const firstDueMs = due > 0 ? Math.floor(Number(firstScore) / 4096) : now;
  const waitingSinceMs = job === null ? now : findWaitingSince(job);
  return {
    waiting: wait + due,
    active,
    delayed: delayed - due,
    deadLetters: failed,
    // The clocks of two machines may differ.
    oldestWaitingMs: Math.max(0, now - firstDueMs, now - waitingSinceMs),
    workers,
  };
}

/** A missing item ends a list in Lua, but false becomes null. */
type StatsReply = [
  wait: number,
  active: number,
  due: number,
  delayed: number,
  failed: number,
  firstScore: string | null,
  job: (string | null)[] | null,
];

/** A job that failed is due after its pause; BullMQ forgets when, so the longest pause counts. */
function findWaitingSince(job: (string | null)[]): number {
  const [storedAtMs = 0, retriedAtMs = 0, startedAtMs = 0, failures = 0] = job.map(Number);
  if (failures === 0) return Math.max(storedAtMs, retriedAtMs, startedAtMs);
  // Of the process that stored it, which writes an object.
  const { backoff } = JSON.parse(job.at(-1) ?? "{}") as Pick<JobsOptions, "backoff">;
  const { type, delay: delayMs = 0 } = Object(backoff) as {
    type?: Backoff["type"];
    delay?: number;
  };
  const pauseMs = pauseAfter({ type: type ?? "exponential", delayMs }, failures);
  return Math.max(retriedAtMs, startedAtMs + pauseMs);
}

/** The workers that take events, in all processes of a queue: each counts for 10 s after a beat. */
export type WorkerBeats = ReturnType<typeof createWorkerBeats>;

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
export function createWorkerBeats(redis: Redis, { prefix, name }: RedisSettings) {
  const key = `${prefix}:${name}:workers`;
  return {
    beat: (workerId: string) => redis.eval(BEAT, 1, key, workerId, VALID_MS),
    remove: (workerId: string) => redis.zrem(key, workerId),
    count: async () => Number(await redis.eval(COUNT, 1, key)),
  };
}
