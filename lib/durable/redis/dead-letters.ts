import { ErrorCode, type Job, type Queue } from "bullmq";
import type { Redis } from "ioredis";
import { createDeadLetter, type DeadLetter, type DeadLetterOptions } from "../dead-letter";
import { readEventNames } from "../event-names";
import { chooseLetters, createAmbiguityError } from "../letter-choice";
import { uuidPart, type StoredEvent } from "../stored-event";
import type { RedisSettings } from "./options";
import { RETRIED_FIELD } from "./stats";

/** The operations on dead letters, which are the failed jobs of BullMQ. */
export interface RedisDeadLetters {
  count(): Promise<number>;
  /** Lists the identifiers of all, the oldest failure first. */
  listIds(): Promise<string[]>;
  /** Returns undefined when another process retried or discarded it meanwhile. */
  read(jobId: string): Promise<DeadLetter | undefined>;
  retry(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  /** Returns whether it was a dead letter still. */
  retryOne(jobId: string): Promise<boolean>;
  discard(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
}

/** How many identifiers Redis compares at a time: about 1 ms of its time. */
const SCAN_COUNT = 1_000;
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

/** Creates the view of the dead letters of a queue. */
export function createRedisDeadLetters(
  getQueue: () => Queue<StoredEvent>,
  redis: Redis,
  { prefix, name }: RedisSettings,
): RedisDeadLetters {
  const failedKey = `${prefix}:${name}:failed`;
  const keyOf = (jobId: string) => `${prefix}:${name}:${jobId}`;

  async function findDeadLetter(jobId: string): Promise<Job<StoredEvent> | undefined> {
    return getQueue().getJob(jobId);
  }

  /** Finds the jobs of a uuid by their identifiers, without reading the others. */
  async function findJobs(uuid: string): Promise<Job<StoredEvent>[]> {
    const jobIds = new Set<string>();
    const pattern = `${uuidPart(uuid)}-*`;
    let cursor = "0";
    do {
      const page = await redis.zscan(failedKey, cursor, "MATCH", pattern, "COUNT", SCAN_COUNT);
      cursor = page[0];
      // The identifiers alternate with the times of failure.
      for (const [index, item] of page[1].entries()) {
        if (index % 2 === 0) jobIds.add(item);
      }
    } while (cursor !== "0");
    const jobs = await Promise.all([...jobIds].map(findDeadLetter));
    return jobs.filter(
      (job) => job !== undefined && readEventNames(job.data).uuid === uuid,
    ) as Job[];
  }

  async function change(
    method: "retry" | "discard",
    changeOne: (jobId: string) => Promise<boolean>,
    uuid: string,
    options: DeadLetterOptions = {},
  ): Promise<boolean> {
    const chosen = chooseLetters(await findJobs(uuid), ({ data }) => data, options);
    if (chosen === undefined) throw createAmbiguityError(method);
    const changed = await Promise.all(chosen.map(({ id = "" }) => changeOne(id)));
    return changed.includes(true);
  }

  async function retryOne(jobId: string): Promise<boolean> {
    const job = await findDeadLetter(jobId);
    if (job === undefined) return false;
    // In the same round trip, first: a worker may remove the job right after the retry. A full Redis
    // rejects it and accepts the retry: stats() then counts from the time when the event was stored.
    redis.eval(MARK_RETRIED, 1, keyOf(jobId), Date.now()).catch(() => {});
    try {
      await job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
      return true;
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === ErrorCode.JobNotExist || code === ErrorCode.JobNotInState) return false;
      throw error;
    }
  }

  async function discardOne(jobId: string): Promise<boolean> {
    return (await redis.eval(DISCARD, 2, failedKey, keyOf(jobId), jobId)) === 1;
  }

  return {
    count: () => redis.zcard(failedKey),
    // All identifiers at once: a list read in pages loses its place when letters are removed.
    listIds: () => redis.zrange(failedKey, "0", "-1"),
    async read(jobId) {
      const job = await findDeadLetter(jobId);
      return job && toDeadLetter(job);
    },
    retry: (uuid, options) => change("retry", retryOne, uuid, options),
    retryOne,
    discard: (uuid, options) => change("discard", discardOne, uuid, options),
  };
}

function toDeadLetter({ data, failedReason, attemptsStarted, finishedOn = 0 }: Job): DeadLetter {
  return createDeadLetter(data, {
    error: failedReason,
    attempts: attemptsStarted,
    failedAt: new Date(finishedOn),
  });
}
