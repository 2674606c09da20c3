import { ErrorCode, type Job, type Queue } from "bullmq";
import type { Redis } from "ioredis";
import { parseJson } from "../../form/text";
import type { EventState } from "../durable-queue";
import type { NewEvent, QueueStore, StoredDeadLetter, StoredState } from "../storage";
import { hashKey, readEventNames } from "../stored-event";
import type { RedisSettings } from "./options";

const UUID_DIGITS = 8;

/** How the identifiers of the jobs of a uuid begin; another uuid may share it. */
const startOf = (uuidHash: string) => `${uuidHash.slice(0, UUID_DIGITS)}-`;

/** Returns the identifier of the job of an event: unique, as the content is. */
export function jobIdOf({ uuidHash, content }: NewEvent): string {
  return startOf(uuidHash) + content;
}

/** Returns the content of the event of a job. */
export function contentOf(jobId: string): string {
  return jobId.slice(UUID_DIGITS + 1);
}

/** How many identifiers Redis compares at a time: about 1 ms of its time. */
const SCAN_COUNT = 1_000;
const PAGE_LENGTH = 100;
/** How many digits of the hash of a uuid begin its key. */
const KEY_START = 16;
/** ARGV: the position after which the page begins. Its dead letter may have been removed. */
const PAGE = `
  local rank = redis.call("ZRANK", KEYS[1], ARGV[2])
  local first = rank and rank + 1 or redis.call("ZCOUNT", KEYS[1], "-inf", "(" .. ARGV[1])
  return redis.call("ZRANGE", KEYS[1], first, first + ${PAGE_LENGTH - 1})`;
/** With a key, so that the node of a cluster runs it that has the queue. */
const SCAN = `return redis.call("SCAN", ARGV[1], "MATCH", ARGV[2], "COUNT", ${SCAN_COUNT})`;
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

  const isOfUuid = ({ data }: Job, uuidHash: string) =>
    hashKey(name, readEventNames(data).uuid) === uuidHash;

  /** Reads the state of the job with a key; undefined when there is none, or it is of another uuid. */
  async function readState(key: string, uuidHash: string) {
    const jobId = key.slice(keyOf("").length);
    const [job, state, score] = await Promise.all([
      getQueue().getJob(jobId),
      getQueue().getJobState(jobId),
      redis.zscore(keyOf("delayed"), jobId),
    ]);
    if (job === undefined || state === "unknown" || !isOfUuid(job, uuidHash)) return undefined;
    // The other states of BullMQ are those of jobs with priorities, children and results.
    const known = state === "failed" ? "dead" : (state as EventState);
    // The score of a delayed job is its due time * 4096 and more.
    const dueMs = score === null ? undefined : Math.floor(Number(score) / 4096);
    const { data, attemptsStarted, finishedOn, processedOn, timestamp } = job;
    const startMs = known === "active" ? processedOn : timestamp;
    return {
      state: known === "delayed" && (dueMs ?? 0) <= Date.now() ? ("waiting" as const) : known,
      body: JSON.stringify(data),
      attempts: attemptsStarted,
      errors: errorsOf(job),
      atMs: (known === "dead" ? finishedOn : (dueMs ?? startMs)) ?? null,
      storedAtMs: timestamp,
    };
  }

  async function retryOne(jobId: string): Promise<number> {
    const [job] = await readAll([jobId]);
    if (job === undefined) return 0;
    // A full Redis rejects this update and accepts the retry: stats() then counts from the time when
    // the event was stored. The job may be gone: a worker may have finished it.
    const noted = job.updateProgress(Date.now()).catch(() => {});
    try {
      await job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
      await noted;
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
    async deadLetters(after = { id: "", failedAtMs: 0 }) {
      const jobIds = await redis.eval(PAGE, 1, failedKey, after.failedAtMs, after.id);
      return (await readAll(jobIds as string[])).map(storedDeadLetterOf);
    },
    async findDeadLetters(uuidHash) {
      const start = startOf(uuidHash);
      const found = await scanAll((cursor) =>
        redis.zscan(failedKey, cursor, "MATCH", `${start}*`, "COUNT", SCAN_COUNT),
      );
      // ZSCAN returns each identifier and then its score, the time of the failure.
      const jobs = await readAll(found.filter((item) => item.startsWith(start)));
      return jobs.filter((job) => isOfUuid(job, uuidHash)).map(storedDeadLetterOf);
    },
    async find(uuidHash) {
      // All keys of Redis are compared; not with the prefix, which may have characters of a pattern.
      const pattern = `*:${uuidHash.slice(0, UUID_DIGITS)}*`;
      const keys = await scanAll((cursor) => redis.eval(SCAN, 1, failedKey, cursor, pattern));
      const listKeys = (start: string) => keys.filter((key) => key.startsWith(keyOf(start)));
      const jobs = listKeys(startOf(uuidHash)).filter((key) => !key.endsWith(":lock"));
      const read = await Promise.all(jobs.map((key) => readState(key, uuidHash)));
      const states = read.filter((state) => state !== undefined);
      const kept = listKeys(`de:${uuidHash.slice(0, KEY_START)}`);
      const handled = kept.slice(states.length).map(() => HANDLED);
      return [...handled, ...states.toSorted((one, other) => one.storedAtMs - other.storedAtMs)];
    },
    retry: (ids) => addAll(ids.map(retryOne)),
    discard: (ids) => addAll(ids.map(discardOne)),
  } satisfies Pick<QueueStore, "deadLetters" | "findDeadLetters" | "find" | "retry" | "discard">;
}

/** Lists the items of a scan, which may return one more than once. */
async function scanAll(scan: (cursor: string) => Promise<unknown>): Promise<string[]> {
  const found = new Set<string>();
  let cursor = "0";
  do {
    const [next, items] = (await scan(cursor)) as [string, string[]];
    for (const item of items) found.add(item);
    cursor = next;
  } while (cursor !== "0");
  return [...found];
}

const HANDLED: StoredState = {
  state: "handled",
  body: null,
  attempts: 0,
  errors: null,
  atMs: null,
};

async function addAll(counts: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

function storedDeadLetterOf(job: Job): StoredDeadLetter {
  const { id = "", data, attemptsStarted, finishedOn = 0 } = job;
  return {
    id,
    body: JSON.stringify(data),
    errors: errorsOf(job),
    attempts: attemptsStarted,
    failedAtMs: finishedOn,
    // The clocks of processes may differ.
    listedAtMs: Math.max(Date.now(), finishedOn),
  };
}

/**
 * Returns the failed attempts of a job: each is the stack of its error, except that of BullMQ itself
 * for a job whose workers died too often.
 */
function errorsOf({ stacktrace, finishedOn, timestamp }: Job): string {
  const failures = (stacktrace ?? []).map((stack) => {
    if (parseJson(stack) !== undefined) return stack;
    const [error] = stack.split("\n", 1);
    return JSON.stringify({ at: finishedOn ?? timestamp, error });
  });
  return `[${failures.join()}]`;
}
