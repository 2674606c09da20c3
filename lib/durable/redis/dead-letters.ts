import { ErrorCode, type Job } from "bullmq";
import type { Redis } from "ioredis";
import { createDeadLetter, type DeadLetter, type DeadLetterOptions } from "../dead-letter";
import { readEventNames } from "../event-names";
import { chooseLetters, createAmbiguityError } from "../letter-choice";
import { dedupeIdOf, uuidPart, type StoredEvent } from "../stored-event";
import type { BullQueue } from "./bull-queue";
import type { DurableSettings } from "./options";

/** The operations on dead letters; see the methods of `DurableQueue`. */
export interface DeadLetters {
  /** Lists the identifiers of all, the oldest failure first. */
  listIds(): Promise<string[]>;
  /** Returns undefined when another process retried or discarded it meanwhile. */
  read(jobId: string): Promise<DeadLetter | undefined>;
  retry(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  /** Returns whether it was a dead letter still. */
  retryOne(jobId: string): Promise<boolean>;
  discard(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  /** Discards the oldest beyond `maxDeadLetters`, and logs each. */
  trim(): Promise<void>;
}

/** How many identifiers Redis compares at a time: about 1 ms of its time. */
const SCAN_COUNT = 1_000;

/**
 * Removes a job that is a dead letter still; BullMQ would remove one that was retried meanwhile, too.
 * The uuid stays known, unless a newer event has it: a replay would be handled again. SET comes last:
 * a Redis without free memory rejects it unless the script has written already.
 */
const DISCARD = `
  if redis.call("ZREM", KEYS[1], ARGV[1]) == 0 then
    return 0
  end
  redis.call("DEL", KEYS[3], KEYS[4])
  if redis.call("GET", KEYS[2]) == ARGV[1] then
    redis.call("SET", KEYS[2], ARGV[1] .. "-discarded", "KEEPTTL")
  end
  return 1`;

/** Creates the view of the failed jobs of a queue, which are its dead letters. */
export function createDeadLetters(
  bull: BullQueue,
  redis: Redis,
  { prefix, name, maxDeadLetters, logger }: DurableSettings,
): DeadLetters {
  const failedKey = `${prefix}:${name}:failed`;
  let trimming: Promise<void> = Promise.resolve();
  const getJob = (jobId: string) => bull.current().getJob(jobId);

  /** Finds the jobs of a uuid by their identifiers, without reading the others. */
  async function findJobs(uuid: string): Promise<Job<StoredEvent>[]> {
    const jobIds = new Set<string>();
    let cursor = "0";
    do {
      const [next, found] = await redis.zscan(
        failedKey,
        cursor,
        "MATCH",
        `${uuidPart(uuid)}-*`,
        "COUNT",
        SCAN_COUNT,
      );
      for (const [index, item] of found.entries()) {
        // The identifiers alternate with the times of failure.
        if (index % 2 === 0) jobIds.add(item);
      }
      cursor = next;
    } while (cursor !== "0");
    const jobs = await Promise.all([...jobIds].map(getJob));
    return jobs.filter((job) => job !== undefined).filter((job) => uuidOf(job) === uuid);
  }

  async function findLetters(
    method: "retry" | "discard",
    uuid: string,
    options: DeadLetterOptions,
  ): Promise<Job<StoredEvent>[]> {
    const chosen = chooseLetters(await findJobs(uuid), ({ data }) => data, options);
    if (chosen === undefined) throw createAmbiguityError(method);
    return chosen;
  }

  /** Returns whether the job was a dead letter still: another process may retry or discard it. */
  async function discardJob(job: Job<StoredEvent>): Promise<boolean> {
    const jobId = job.id ?? "";
    const { account } = job.data;
    const dedupeKey = `${prefix}:${name}:de:${dedupeIdOf({ account, uuid: uuidOf(job) })}`;
    const jobKey = `${prefix}:${name}:${jobId}`;
    const keys = [failedKey, dedupeKey, jobKey, `${jobKey}:logs`];
    return (await redis.eval(DISCARD, keys.length, ...keys, jobId)) === 1;
  }

  async function trimOldest(): Promise<void> {
    const excess = (await redis.zcard(failedKey)) - maxDeadLetters;
    if (excess <= 0) return;
    for (const jobId of await redis.zrange(failedKey, "0", String(excess - 1))) {
      const job = await getJob(jobId);
      if (job === undefined || !(await discardJob(job))) continue;
      const fields = { uuid: uuidOf(job), error: job.failedReason, maxDeadLetters };
      logger?.error(fields, "The oldest dead letter was discarded: there are too many");
    }
  }

  return {
    // All identifiers at once: a list read in pages loses its place when letters are removed.
    listIds: () => redis.zrange(failedKey, "0", "-1"),
    async read(jobId) {
      const job = await getJob(jobId);
      return job && toDeadLetter(job);
    },
    async retry(uuid, options = {}) {
      let isRetried = false;
      for (const job of await findLetters("retry", uuid, options)) {
        isRetried = (await retryJob(job)) || isRetried;
      }
      return isRetried;
    },
    async retryOne(jobId) {
      const job = await getJob(jobId);
      return job !== undefined && (await retryJob(job));
    },
    async discard(uuid, options = {}) {
      let isDiscarded = false;
      for (const job of await findLetters("discard", uuid, options)) {
        isDiscarded = (await discardJob(job)) || isDiscarded;
      }
      return isDiscarded;
    },
    // One at a time: two would count a letter that both discard twice.
    trim: () => (trimming = trimming.then(trimOldest, trimOldest)),
  };
}

/** Returns whether the job was a dead letter still: another process may retry or discard it. */
async function retryJob(job: Job<StoredEvent>): Promise<boolean> {
  try {
    await job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
    return true;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === ErrorCode.JobNotExist || code === ErrorCode.JobNotInState) return false;
    throw error;
  }
}

function uuidOf({ data }: Job<StoredEvent>): string {
  return readEventNames(data).uuid;
}

function toDeadLetter(job: Job<StoredEvent>): DeadLetter {
  const { data, failedReason, attemptsStarted, finishedOn = 0 } = job;
  return createDeadLetter(data, {
    error: failedReason,
    attempts: attemptsStarted,
    failedAt: new Date(finishedOn),
  });
}
