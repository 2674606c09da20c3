import type { Job } from "bullmq";
import type { Redis } from "ioredis";
import type { StoredEvent } from "../stored-event";
import { letterOf, type LetterSet } from "./letter-set";

/** Adds dead letters that are in the set of no account to the set of theirs. */
export interface LetterAdoption {
  /**
   * Reads up to 1,000 dead letters when some are in no set; the next call goes on behind them. Does
   * nothing within 1 s of the last success. A letter is in no set when Redis was full or a process
   * died before it was added, or when a version without sets stored it.
   *
   * @throws what Redis rejects, such as a letter when its memory is full.
   */
  adopt(): Promise<void>;
}

/** The parts of the dead letters that an adoption uses. */
export interface AdoptionParts {
  redis: Redis;
  /** The key of the failed jobs. */
  failedKey: string;
  letters: LetterSet;
  getJob(jobId: string): Promise<Job<StoredEvent> | undefined>;
}

const PAGE_LENGTH = 100;
const MAX_PAGES = 10;
/** While many events fail, some are always in no set yet: a worker adds each just after its failure. */
const PAUSE_MS = 1_000;

/** Creates the adoption of dead letters, which starts with the oldest. */
export function createLetterAdoption(parts: AdoptionParts): LetterAdoption {
  const { redis, failedKey, letters, getJob } = parts;
  let position = 0;
  let pausedUntilMs = 0;

  async function adoptJob(jobId: string): Promise<void> {
    const job = await getJob(jobId);
    if (job !== undefined) return letters.add(letterOf(job));
    // An identifier without a job is in no set for ever.
    await redis.zrem(failedKey, jobId);
  }

  async function adoptPage(): Promise<void> {
    const jobIds = await redis.zrange(failedKey, `${position}`, `${position + PAGE_LENGTH - 1}`);
    await Promise.all(jobIds.map(adoptJob));
    // Letters that are removed meanwhile move others past the position: the next pass finds those.
    position = jobIds.length < PAGE_LENGTH ? 0 : position + PAGE_LENGTH;
  }

  async function adoptPages(): Promise<void> {
    for (let page = 0; page < MAX_PAGES; page++) {
      if ((await letters.countUnlisted()) <= 0) {
        position = 0;
        return;
      }
      await adoptPage();
      if (position === 0) return;
    }
  }

  return {
    async adopt() {
      if (performance.now() < pausedUntilMs) return;
      await adoptPages();
      // No pause after an error: a letter that is added next would be the only one to discard.
      pausedUntilMs = performance.now() + PAUSE_MS;
    },
  };
}
