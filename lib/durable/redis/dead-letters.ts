import { ErrorCode, type Job } from "bullmq";
import type { Redis } from "ioredis";
import { createDeadLetter, type DeadLetter, type DeadLetterOptions } from "../dead-letter";
import { readEventNames } from "../event-names";
import { chooseLetters, createAmbiguityError } from "../letter-choice";
import { dedupeIdOf, uuidPart, type StoredEvent } from "../stored-event";
import type { BullQueue } from "./bull-queue";
import { describeRedisError } from "./connection";
import { createLetterAdoption } from "./letter-adoption";
import { createLetterSet, letterOf } from "./letter-set";
import type { RedisSettings } from "./options";

/** The operations on dead letters; see the methods of `DurableQueue`. */
export interface RedisLetters {
  /** Lists the identifiers of all, the oldest failure first. */
  listIds(): Promise<string[]>;
  /** Returns undefined when another process retried or discarded it meanwhile. */
  read(jobId: string): Promise<DeadLetter | undefined>;
  retry(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  /** Returns whether it was a dead letter still. */
  retryOne(jobId: string): Promise<boolean>;
  discard(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  /** Notes a job that has failed for good; discards and logs what is beyond `maxDeadLetters`. */
  add(job: Job<StoredEvent>): Promise<void>;
}

/** How many identifiers Redis compares at a time: about 1 ms of its time. */
const SCAN_COUNT = 1_000;

/** Creates the view of the failed jobs of a queue, which are its dead letters. */
export function createRedisLetters(
  bull: BullQueue,
  redis: Redis,
  settings: RedisSettings,
): RedisLetters {
  const { prefix, name, maxDeadLetters, logger } = settings;
  const letters = createLetterSet(redis, settings);
  const failedKey = `${prefix}:${name}:failed`;
  let trimming: Promise<void> = Promise.resolve();
  const getJob = (jobId: string) => bull.current().getJob(jobId);
  const adoption = createLetterAdoption({ redis, failedKey, letters, getJob });

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
  async function retryJob(job: Job<StoredEvent>): Promise<boolean> {
    // Before the retry, in the same round trip: a worker may remove the job right after it. A full Redis
    // rejects this and accepts the retry: stats() then counts from the time when the event was stored.
    letters.markRetried(letterOf(job)).catch(() => {});
    try {
      await job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === ErrorCode.JobNotExist || code === ErrorCode.JobNotInState) return false;
      throw error;
    }
    // Without this, its account would count one letter more until the next search for an excess.
    await letters.remove(letterOf(job)).catch(() => {});
    return true;
  }

  function discardJob(job: Job<StoredEvent>): Promise<boolean> {
    const { account } = letterOf(job);
    return letters.discard(letterOf(job), dedupeIdOf({ account, uuid: uuidOf(job) }));
  }

  /** A letter that is not added is adopted when there are too many. */
  function reportUnlisted(error: unknown): void {
    const reason = describeRedisError(error);
    logger?.error({ error: reason }, `A dead letter is not counted for its account: ${reason}`);
  }

  async function trim(): Promise<void> {
    if ((await letters.findExcess()) === undefined) return;
    // A full Redis rejects it; to discard frees its memory.
    await adoption.adopt().catch(reportUnlisted);
    for (;;) {
      const jobId = await letters.findExcess();
      if (jobId === undefined) return;
      const job = await getJob(jobId);
      if (job === undefined) {
        // An identifier without a job, which would be found again and again.
        await redis.zrem(failedKey, jobId);
      } else if (await discardJob(job)) {
        const fields = { uuid: uuidOf(job), error: job.failedReason, maxDeadLetters };
        logger?.error(fields, "A dead letter was discarded: there are too many");
      }
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
    async add(job) {
      await letters.add(letterOf(job)).catch(reportUnlisted);
      // One at a time: several would find the same letter.
      await (trimming = trimming.then(trim, trim));
    },
  };
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
