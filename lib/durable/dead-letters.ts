import type { Job, Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { PushEvent, UnknownPushEvent } from "../event";
import type { DurableSettings } from "./options";
import { hasUuid, readStoredEvent, type StoredEvent } from "./stored-event";

/** An event that was not handled, and will not be unless it is revived. */
export interface DeadLetter {
  uuid: string;
  /** Undefined when this version cannot read what another has stored. */
  event: PushEvent | UnknownPushEvent | undefined;
  /** The code and the message of what its handlers threw last. */
  error: string;
  /** How often its handlers were run. */
  attempts: number;
  /** When they failed last. */
  failedAt: Date;
}

/** What is done about dead letters; see the methods of {@link DurableQueue}. */
export interface DeadLetters {
  list(): AsyncIterableIterator<DeadLetter>;
  revive(which: string | { all: true }): Promise<number>;
  discard(uuid: string): Promise<boolean>;
}

/** Makes the view of a queue's failed jobs: those are its dead letters. */
export function createDeadLetters(
  queue: Queue<StoredEvent>,
  redis: Redis,
  { prefix, name }: DurableSettings,
): DeadLetters {
  /** All at once: a list that is read in pages loses its place when letters go meanwhile. */
  async function listJobIds(): Promise<string[]> {
    return redis.zrange(`${prefix}:${name}:failed`, "0", "-1");
  }

  async function* findJobs(uuid?: string): AsyncGenerator<Job<StoredEvent>> {
    for (const jobId of await listJobIds()) {
      if (uuid !== undefined && !hasUuid(jobId, uuid)) continue;
      const job = await queue.getJob(jobId);
      if (job !== undefined) yield job;
    }
  }

  return {
    async *list() {
      for await (const job of findJobs()) yield toDeadLetter(job);
    },
    async revive(which) {
      let revived = 0;
      for await (const job of findJobs(typeof which === "string" ? which : undefined)) {
        await job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
        revived++;
      }
      return revived;
    },
    async discard(uuid) {
      let discarded = false;
      for await (const job of findJobs(uuid)) {
        // BullMQ forgets the uuid with the job that holds it; a replay would be handled again.
        const key = `${prefix}:${name}:de:${uuid}`;
        await redis.set(key, `${job.id}-discarded`, "KEEPTTL", "XX");
        await job.remove();
        discarded = true;
      }
      return discarded;
    },
  };
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
    uuid: new Map(data.params).get("uuid") ?? "",
    event,
    error: failedReason,
    attempts: attemptsStarted,
    failedAt: new Date(finishedOn),
  };
}
