import type { Redis } from "ioredis";
import type { QueueStats } from "../storage";
import { PAUSED, type Jobs } from "./jobs";
import type { RedisSettings } from "./options";

/** Reads how many events a queue holds. */
export async function readStats(
  jobs: Jobs,
  countDeadLetters: () => Promise<number>,
  redis: Redis,
  settings: RedisSettings,
): Promise<QueueStats> {
  const nowMs = Date.now();
  const [counts, oldestWaiting, oldestPaused, firstDelayed, deadLetters, workers, hold] =
    await Promise.all([
      jobs.queue().getJobCounts("wait", PAUSED, "active", "delayed"),
      jobs.at("wait", 0),
      jobs.at(PAUSED, 0),
      jobs.at("delayed", 0),
      countDeadLetters(),
      createWorkerBeats(redis, settings).count(),
      readHold(redis, settings),
    ]);
  const { wait = 0, paused = 0, active = 0, delayed = 0 } = counts;
  const oldest = oldestWaiting ?? oldestPaused;
  const firstDueAtMs = firstDelayed?.dueAtMs ?? nowMs;
  const due = firstDueAtMs < nowMs ? await countDue(jobs, delayed, nowMs) : 0;
  const { storedAtMs = nowMs, startedAtMs = 0, dueAtMs = 0 } = oldest ?? {};
  return {
    waiting: wait + paused + due,
    active,
    delayed: delayed - due,
    deadLetters,
    // The clocks of two machines may differ.
    oldestWaitingMs: Math.max(
      0,
      nowMs - firstDueAtMs,
      nowMs - Math.max(storedAtMs, startedAtMs, dueAtMs),
    ),
    workers,
    ...(hold !== undefined && { hold }),
  };
}

/** Reads what an operator has set; BullMQ does not tell its workers. */
export async function readHold(redis: Redis, { head }: RedisSettings): Promise<QueueStats["hold"]> {
  const [[paused, ...limits], limitedForMs] = await Promise.all([
    redis.hmget(`${head}:meta`, "paused", "concurrency", "max"),
    redis.pttl(`${head}:limiter`),
  ]);
  if ((paused ?? undefined) !== undefined) return "paused";
  const isLimited = limitedForMs > 0 || limits.some((limit) => (limit ?? undefined) !== undefined);
  return isLimited ? "limited" : undefined;
}

/** Counts the delayed jobs whose pause is over: they stay delayed until a worker takes the next job. */
async function countDue(jobs: Jobs, delayed: number, nowMs: number): Promise<number> {
  let [due, end] = [0, delayed];
  while (due < end) {
    const middle = Math.floor((due + end) / 2);
    const job = await jobs.at("delayed", middle);
    if ((job?.dueAtMs ?? nowMs) <= nowMs) due = middle + 1;
    else end = middle;
  }
  return due;
}

const VALID_MS = 10_000;
/** Without ARGV, it only counts. The clocks of processes may differ. */
const BEAT = `
  local time = redis.call("TIME")
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
  if ARGV[1] then
    redis.call("ZADD", KEYS[1], now + ${VALID_MS}, ARGV[1])
    redis.call("PEXPIRE", KEYS[1], ${VALID_MS})
  end
  return redis.call("ZCARD", KEYS[1])`;

/** Creates the list of the workers of all processes: each counts for 10 s after a beat. */
export function createWorkerBeats(redis: Redis, { head }: RedisSettings) {
  const key = `${head}:workers`;
  return {
    beat: (workerId: string) => redis.eval(BEAT, 1, key, workerId),
    remove: (workerId: string) => redis.zrem(key, workerId),
    count: async () => Number(await redis.eval(BEAT, 1, key)),
  };
}
