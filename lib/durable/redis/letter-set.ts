import type { Job } from "bullmq";
import type { Redis } from "ioredis";
import { hashText } from "../../signature/signature";
import { readEventNames } from "../event-names";
import type { StoredEvent } from "../stored-event";
import type { RedisSettings } from "./options";
import { RETRIED_FIELD } from "./stats";

/** A dead letter: its job, and the authenticated account of its event. */
export interface LetterId {
  jobId: string;
  account: string;
}

/**
 * The dead letters of a queue by account. The set of failed jobs of BullMQ says what is a dead letter;
 * the sets here find the one to discard when there are too many.
 */
export interface LetterSet {
  /** Adds a job that has failed. */
  add(letter: LetterId): Promise<void>;
  /** Notes in a job that has failed that it is retried now. */
  markRetried(letter: LetterId): Promise<void>;
  /** Removes a job that was retried, unless it has failed again. */
  remove(letter: LetterId): Promise<void>;
  /**
   * Discards the job of a dead letter. BullMQ would discard one that was retried meanwhile, too. The
   * uuid stays known, unless a newer event has it: a replay would be handled again.
   *
   * @returns whether it was a dead letter still.
   */
  discard(letter: LetterId, dedupeId: string): Promise<boolean>;
  /**
   * Returns the identifier of the oldest job of the account that has the most dead letters; undefined
   * when there are at most `maxDeadLetters`. So no account can push another below an equal share.
   */
  findExcess(): Promise<string | undefined>;
  /**
   * Returns how many dead letters were not added. Letters that were retried by other means and not
   * dropped yet make the number smaller, even negative.
   */
  countUnlisted(): Promise<number>;
}

const ACCOUNT_DIGITS = 16;
/** How many letters that are none any more one search drops: about 5 ms of Redis. */
const MAX_DROPPED = 1_000;

/**
 * KEYS: the failed jobs, and the number of letters of each account; beside that, a key for the letters
 * of each account. The number is counted anew each time, so that it cannot drift.
 */
const COUNT = `
  local function count(account)
    local letters = redis.call("ZCARD", KEYS[2] .. ":" .. account)
    if letters == 0 then
      redis.call("ZREM", KEYS[2], account)
    else
      redis.call("ZADD", KEYS[2], letters, account)
    end
  end`;

const ADD = `${COUNT}
  local failedAt = redis.call("ZSCORE", KEYS[1], ARGV[1])
  if failedAt then
    redis.call("ZADD", KEYS[2] .. ":" .. ARGV[2], failedAt, ARGV[1])
    count(ARGV[2])
  end`;

/** KEYS[3]: the job. */
const MARK_RETRIED = `
  if redis.call("ZSCORE", KEYS[1], ARGV[1]) then
    redis.call("HSET", KEYS[3], "${RETRIED_FIELD}", ARGV[2])
  end`;

const REMOVE = `${COUNT}
  if not redis.call("ZSCORE", KEYS[1], ARGV[1]) then
    redis.call("ZREM", KEYS[2] .. ":" .. ARGV[2], ARGV[1])
    count(ARGV[2])
  end`;

/** ZREM comes first: a Redis without free memory rejects SET unless the script has written already. */
const DISCARD = `${COUNT}
  if redis.call("ZREM", KEYS[1], ARGV[1]) == 0 then
    return 0
  end
  redis.call("ZREM", KEYS[2] .. ":" .. ARGV[2], ARGV[1])
  count(ARGV[2])
  redis.call("DEL", KEYS[4], KEYS[5])
  if redis.call("GET", KEYS[3]) == ARGV[1] then
    redis.call("SET", KEYS[3], ARGV[1] .. "-discarded", "KEEPTTL")
  end
  return 1`;

/**
 * Drops letters that were retried by other means. Without an account, the oldest of all: a full Redis
 * rejects ADD, and what is discarded frees its memory.
 */
const FIND = `${COUNT}
  for _ = 1, ${MAX_DROPPED} do
    if redis.call("ZCARD", KEYS[1]) <= tonumber(ARGV[1]) then
      return false
    end
    local account = redis.call("ZRANGE", KEYS[2], -1, -1)[1]
    if not account then
      return redis.call("ZRANGE", KEYS[1], 0, 0)[1]
    end
    local jobId = redis.call("ZRANGE", KEYS[2] .. ":" .. account, 0, 0)[1]
    if jobId and redis.call("ZSCORE", KEYS[1], jobId) then
      return jobId
    end
    redis.call("ZREM", KEYS[2] .. ":" .. account, jobId or "")
    count(account)
  end
  return false`;

/** Goes through the distinct numbers of letters: of 10,000 letters, there are at most 140. */
const COUNT_UNLISTED = `
  local listed, letters = 0, "0"
  while true do
    local found = redis.call(
      "ZRANGEBYSCORE", KEYS[2], "(" .. letters, "+inf", "WITHSCORES", "LIMIT", 0, 1)
    if not found[2] then
      return redis.call("ZCARD", KEYS[1]) - listed
    end
    letters = found[2]
    listed = listed + tonumber(letters) * redis.call("ZCOUNT", KEYS[2], letters, letters)
  end`;

/** Creates the view of the dead letters by account. */
export function createLetterSet(
  redis: Redis,
  { prefix, name, maxDeadLetters }: RedisSettings,
): LetterSet {
  const head = `${prefix}:${name}`;
  const keys = [`${head}:failed`, `${head}:letters`];
  const run = (script: string, ...args: (string | number)[]) =>
    redis.eval(script, keys.length, ...keys, ...args);

  return {
    async add(letter) {
      await run(ADD, ...toArgs(letter));
    },
    async markRetried({ jobId }) {
      const all = [...keys, `${head}:${jobId}`];
      await redis.eval(MARK_RETRIED, all.length, ...all, jobId, Date.now());
    },
    async remove(letter) {
      await run(REMOVE, ...toArgs(letter));
    },
    async discard(letter, dedupeId) {
      const jobKey = `${head}:${letter.jobId}`;
      const all = [...keys, `${head}:de:${dedupeId}`, jobKey, `${jobKey}:logs`];
      return (await redis.eval(DISCARD, all.length, ...all, ...toArgs(letter))) === 1;
    },
    async findExcess() {
      return ((await run(FIND, maxDeadLetters)) as string | null) ?? undefined;
    },
    async countUnlisted() {
      return (await run(COUNT_UNLISTED)) as number;
    },
  };
}

/** Returns the dead letter of a job that has failed. */
export function letterOf({ id = "", data }: Job<StoredEvent>): LetterId {
  return { jobId: id, account: readEventNames(data).account };
}

function toArgs({ jobId, account }: LetterId): [jobId: string, account: string] {
  return [jobId, hashText(account).slice(0, ACCOUNT_DIGITS)];
}
