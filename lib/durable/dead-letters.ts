import { ErrorCode, type Job, type Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { DeadLetter, DeadLetterOptions } from "./dead-letter";
import type { DurableSettings } from "./options";
import { dedupeIdOf, readStoredEvent, type StoredEvent } from "./stored-event";

/** The operations on dead letters; see the methods of `DurableQueue`. */
export interface DeadLetters {
  list(): AsyncIterableIterator<DeadLetter>;
  retry(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  retryAll(): Promise<number>;
  discard(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
}

/** Creates the view of the failed jobs of a queue: those are its dead letters. */
export function createDeadLetters(
  queue: Queue<StoredEvent>,
  redis: Redis,
  { prefix, name }: DurableSettings,
): DeadLetters {
  async function* findJobs(): AsyncGenerator<Job<StoredEvent>> {
    // All identifiers at once: a list read in pages loses its place when letters are removed.
    for (const jobId of await redis.zrange(`${prefix}:${name}:failed`, "0", "-1")) {
      const job = await queue.getJob(jobId);
      if (job !== undefined) yield job;
    }
  }

  async function findLetters(
    method: string,
    uuid: string,
    { accountSid, receiver }: DeadLetterOptions,
  ): Promise<Job<StoredEvent>[]> {
    const found: Job<StoredEvent>[] = [];
    // The authenticated accounts: the account_sid of an event may be a claim of its signer.
    const accounts = new Set<string>();
    for await (const job of findJobs()) {
      const key = keyOf(job);
      if (key.uuid !== uuid || (accountSid ?? key.accountSid) !== key.accountSid) continue;
      if (receiver !== undefined && receiver !== key.receiver) continue;
      found.push(job);
      accounts.add(job.data.account);
    }
    if (accounts.size > 1) {
      throw new TypeError(
        `${method}: several accounts or receivers have a dead letter of this uuid. Pass those of the letter: ${method}(uuid, { accountSid, receiver }).`,
      );
    }
    return found;
  }

  return {
    async *list() {
      for await (const job of findJobs()) yield toDeadLetter(job);
    },
    async retry(uuid, options = {}) {
      const jobs = await findLetters("retry", uuid, options);
      let isRetried = false;
      for (const job of jobs) isRetried = (await retryJob(job)) || isRetried;
      return isRetried;
    },
    async retryAll() {
      let count = 0;
      for await (const job of findJobs()) {
        if (await retryJob(job)) count++;
      }
      return count;
    },
    async discard(uuid, options = {}) {
      const jobs = await findLetters("discard", uuid, options);
      let isDiscarded = false;
      for (const job of jobs) {
        // BullMQ forgets the uuid with the job that holds it; a replay would be handled again.
        const { account } = job.data;
        const key = `${prefix}:${name}:de:${dedupeIdOf({ account, uuid })}`;
        await redis.set(key, `${job.id}-discarded`, "KEEPTTL", "XX");
        // 0: another process retried it meanwhile, and its handlers run.
        isDiscarded = (await queue.remove(job.id ?? "")) === 1 || isDiscarded;
      }
      return isDiscarded;
    },
  };
}

/** Whether the job was a dead letter still: another process may retry or discard it meanwhile. */
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

function keyOf({ data }: Job<StoredEvent>): Pick<DeadLetter, "accountSid" | "uuid" | "receiver"> {
  const params = new Map(data.params);
  const accountSid = params.get("account_sid") ?? "";
  return { accountSid, uuid: params.get("uuid") ?? "", receiver: data.receiver };
}

function toDeadLetter(job: Job<StoredEvent>): DeadLetter {
  const { data, failedReason, attemptsStarted, finishedOn = 0 } = job;
  let event: DeadLetter["event"];
  try {
    ({ event } = readStoredEvent(data));
  } catch {
    event = undefined;
  }
  return {
    ...keyOf(job),
    event,
    error: failedReason,
    attempts: attemptsStarted,
    failedAt: new Date(finishedOn),
  };
}
