import type { BackoffOptions, Job, Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { QueueStats } from "../durable-queue";
import { pauseAfter, type Backoff } from "../backoff";
import type { RedisSettings } from "./options";

/** Reads how many events a queue holds. */
export async function readStats(
  queue: Queue,
  redis: Redis,
  settings: RedisSettings,
): Promise<QueueStats> {
  const nowMs = Date.now();
  const delayedKey = queue.toKey("delayed");
  // The score of a delayed job is its due time * 4096 and more. A job whose pause is over stays delayed
  // until a worker takes the next job.
  const [counts, due, [, firstScore], [oldest], workers] = await Promise.all([
    queue.getJobCounts("wait", "active", "delayed", "failed"),
    redis.zcount(delayedKey, "-inf", `(${(nowMs + 1) * 4096}`),
    redis.zrange(delayedKey, 0, "0", "WITHSCORES"),
    queue.getWaiting(0, 0),
    createWorkerBeats(redis, settings).count(),
  ]);
  const { wait = 0, active = 0, delayed = 0, failed = 0 } = counts;
  const firstDueMs = due > 0 ? Math.floor(Number(firstScore) / 4096) : nowMs;
  const waitingSinceMs = oldest === undefined ? nowMs : findWaitingSince(oldest);
  return {
    waiting: wait + due,
    active,
    delayed: Math.max(0, delayed - due),
    deadLetters: failed,
    // The clocks of two machines may differ.
    oldestWaitingMs: Math.max(0, nowMs - firstDueMs, nowMs - waitingSinceMs),
    workers,
  };
}

/**
 * A job that failed is due after its pause; BullMQ forgets when, so the longest pause counts. The
 * progress of a job is the time of the last retry as a dead letter, or 0.
 */
function findWaitingSince(job: Job): number {
  const { timestamp, processedOn = 0, attemptsMade, opts } = job;
  const retriedAtMs = Number(job.progress);
  if (attemptsMade === 0) return Math.max(timestamp, retriedAtMs, processedOn);
  // The process that stored the event may have other options than this one.
  const { type, delay: delayMs = 0 } = opts.backoff as BackoffOptions;
  const pauseMs = pauseAfter({ type: type as Backoff["type"], delayMs }, attemptsMade);
  return Math.max(retriedAtMs, processedOn + pauseMs);
}

const VALID_MS = 10_000;
/** Uses the clock of Redis: those of the processes may differ. Without ARGV, it only counts. */
const BEAT = `
  local time = redis.call("TIME")
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
  if ARGV[1] then
    redis.call("ZADD", KEYS[1], now + ${VALID_MS}, ARGV[1])
    redis.call("PEXPIRE", KEYS[1], ${VALID_MS})
  end
  return redis.call("ZCARD", KEYS[1])`;

/** Creates the list of the workers that take events, in all processes: each counts for 10 s after a beat. */
export function createWorkerBeats(redis: Redis, { prefix, name }: RedisSettings) {
  const key = `${prefix}:${name}:workers`;
  return {
    beat: (workerId: string) => redis.eval(BEAT, 1, key, workerId),
    remove: (workerId: string) => redis.zrem(key, workerId),
    count: async () => Number(await redis.eval(BEAT, 1, key)),
  };
}
