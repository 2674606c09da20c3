import { ErrorCode, type Job, type Queue } from "bullmq";
import type { Redis } from "ioredis";
import { readEventNames } from "../event-names";
import type { QueueStore, StoredDeadLetter } from "../storage";
import { hashKey } from "../stored-event";
import { jobPatternOf } from "./job-id";
import type { RedisSettings } from "./options";
import { RETRIED_FIELD } from "./stats";

/** How many identifiers Redis compares at a time: about 1 ms of its time. */
const SCAN_COUNT = 1_000;
const PAGE_LENGTH = 100;
/** ARGV: the position after which the page begins. Its dead letter may have been removed. */
const PAGE = `
  local rank = redis.call("ZRANK", KEYS[1], ARGV[2])
  local first = rank and rank + 1 or redis.call("ZCOUNT", KEYS[1], "-inf", "(" .. ARGV[1])
  return redis.call("ZRANGE", KEYS[1], first, first + ${PAGE_LENGTH - 1})`;
const MARK_RETRIED = `
  if redis.call("EXISTS", KEYS[1]) == 1 then
    redis.call("HSET", KEYS[1], "${RETRIED_FIELD}", ARGV[1])
  end`;
/**
 * BullMQ would also remove a job that was retried meanwhile, and its uuid: a replay would be handled.
 */
const DISCARD = `
  local count = redis.call("ZREM", KEYS[1], ARGV[1])
  if count == 1 then
    redis.call("DEL", KEYS[2])
  end
  return count`;

/** Creates the operations on the dead letters of a queue, which are the failed jobs of BullMQ. */
export function createRedisDeadLetters(
  getQueue: () => Queue,
  redis: Redis,
  { prefix, name }: RedisSettings,
) {
  const failedKey = `${prefix}:${name}:failed`;
  const keyOf = (jobId: string) => `${prefix}:${name}:${jobId}`;

  async function readAll(jobIds: readonly string[]): Promise<Job[]> {
    const jobs: (Job | undefined)[] = await Promise.all(jobIds.map((id) => getQueue().getJob(id)));
    // Another process may have retried or discarded some meanwhile.
    return jobs.filter((job) => job?.finishedOn !== undefined) as Job[];
  }

  async function retryOne(jobId: string): Promise<number> {
    const [job] = await readAll([jobId]);
    if (job === undefined) return 0;
    // In the same round trip, first: a worker may remove the job right after the retry. A full Redis
    // rejects it and accepts the retry: stats() then counts from the time when the event was stored.
    redis.eval(MARK_RETRIED, 1, keyOf(jobId), Date.now()).catch(() => {});
    try {
      await job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
      return 1;
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === ErrorCode.JobNotExist || code === ErrorCode.JobNotInState) return 0;
      throw error;
    }
  }

  async function discardOne(jobId: string): Promise<number> {
    return Number(await redis.eval(DISCARD, 2, failedKey, keyOf(jobId), jobId));
  }

  return {
    count: () => redis.zcard(failedKey),
    async deadLetters(after = { id: "", failedAtMs: 0 }) {
      const jobIds = await redis.eval(PAGE, 1, failedKey, after.failedAtMs, after.id);
      return (await readAll(jobIds as string[])).map(storedLetterOf);
    },
    /** Compares identifiers, and reads only the jobs that may be of the uuid. */
    async findDeadLetters(uuidHash) {
      const jobIds = new Set<string>();
      let cursor = "0";
      do {
        const scan = ["MATCH", jobPatternOf(uuidHash), "COUNT", SCAN_COUNT] as const;
        const [next, found] = await redis.zscan(failedKey, cursor, ...scan);
        cursor = next;
        // The identifiers alternate with the times of failure.
        for (const [index, item] of found.entries()) {
          if (index % 2 === 0) jobIds.add(item);
        }
      } while (cursor !== "0");
      const jobs = await readAll([...jobIds]);
      const isOfUuid = ({ data }: Job) => hashKey(name, readEventNames(data).uuid) === uuidHash;
      return jobs.filter(isOfUuid).map(storedLetterOf);
    },
    retry: (ids) => addAll(ids.map(retryOne)),
    discard: (ids) => addAll(ids.map(discardOne)),
  } satisfies Pick<QueueStore, "deadLetters" | "findDeadLetters" | "retry" | "discard"> & {
    count: () => Promise<number>;
  };
}

async function addAll(counts: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

function storedLetterOf(job: Job): StoredDeadLetter {
  const { id = "", data, failedReason, attemptsStarted, finishedOn = 0 } = job;
  return {
    id,
    body: JSON.stringify(data),
    error: failedReason,
    started: attemptsStarted,
    failedAtMs: finishedOn,
    // By the clocks of processes, which may differ.
    listedAtMs: Math.max(Date.now(), finishedOn),
  };
}
