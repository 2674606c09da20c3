import type { Job } from "bullmq";
import type { Redis } from "ioredis";
import { parseJson } from "../../kit/text";
import { MAX_TIME_MS, type Storage, type StoredDeadLetter, type StoredState } from "../storage";
import { readJobData, startOf, type JobData, type Jobs } from "./jobs";
import type { RedisSettings } from "./options";

/** How many identifiers Redis compares at a time: about 1 ms of its time. */
const SCAN_COUNT = 1_000;
const PAGE_LENGTH = 100;
/** A later failure of an event has a later time: see REMOVE. */
const BURY = `
  local time = redis.call("TIME")
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local last = redis.call("ZSCORE", KEYS[1], ARGV[1])
  if last then
    now = math.max(now, last + 1)
  end
  redis.call("ZADD", KEYS[1], now, ARGV[1])
  redis.call("HSET", KEYS[2], ARGV[1], ARGV[2])`;
/** ARGV: the position after which the page begins. Its dead letter may have been removed. */
const PAGE = `
  local rank = redis.call("ZRANK", KEYS[1], ARGV[2])
  local first = rank and rank + 1 or redis.call("ZCOUNT", KEYS[1], "-inf", "(" .. ARGV[1])
  return redis.call("ZRANGE", KEYS[1], first, first + ${PAGE_LENGTH - 1}, "WITHSCORES")`;
/** ARGV: the time of the failure, or "" to discard it: an event that was retried and failed again stays. */
const REMOVE = `
  local score = redis.call("ZSCORE", KEYS[1], ARGV[1])
  if not score or (ARGV[2] ~= "" and tonumber(score) ~= tonumber(ARGV[2])) then
    return 0
  end
  if ARGV[2] == "" then
    redis.call("SET", KEYS[3], "", "PX", ARGV[3])
  end
  redis.call("HDEL", KEYS[2], ARGV[1])
  return redis.call("ZREM", KEYS[1], ARGV[1])`;

/** See {@link createRedisDeadLetters}. */
export type RedisDeadLetters = ReturnType<typeof createRedisDeadLetters>;

/** Creates the operations on the dead letters of a queue, which are kept beside the jobs of BullMQ. */
export function createRedisDeadLetters(
  jobs: Jobs,
  redis: Redis,
  { prefix, name, dedupeTtlMs }: RedisSettings,
) {
  const head = `${prefix}:${name}`;
  const listKey = `${head}:dead`;
  const eventsKey = `${head}:dead:events`;
  const discardedKeyOf = (id: string) => `${head}:discarded:${id}`;

  async function bury(id: string, letter: JobData & { attempts: number }): Promise<void> {
    await redis.eval(BURY, 2, listKey, eventsKey, id, JSON.stringify(letter));
  }

  async function remove(id: string, score: string): Promise<number> {
    const keys = [listKey, eventsKey, discardedKeyOf(id)];
    return Number(await redis.eval(REMOVE, 3, ...keys, id, score, dedupeTtlMs));
  }

  /** Reads the dead letters of a list of identifiers, each before its time. */
  async function readAll(list: readonly string[]): Promise<StoredDeadLetter[]> {
    const ids = list.filter((_, index) => index % 2 === 0);
    if (ids.length === 0) return [];
    const texts = await redis.hmget(eventsKey, ...ids);
    return ids.flatMap((id, index): StoredDeadLetter | [] => {
      const text = texts[index] ?? undefined;
      // Another process may have retried or discarded it meanwhile.
      if (text === undefined) return [];
      const letter = parseJson(text);
      const { body, errors } = readJobData(letter);
      const { attempts } = Object(letter) as { attempts?: unknown };
      const atMs = Math.min(Math.floor(Number(list[2 * index + 1])) || 0, MAX_TIME_MS);
      return {
        id,
        state: "dead",
        body,
        errors,
        attempts: Number.isSafeInteger(attempts) ? (attempts as number) : 0,
        atMs,
        // The clocks of processes may differ.
        listedAtMs: Math.max(Date.now(), atMs),
      };
    });
  }

  async function findDeadLetters(uuidHash: string): Promise<StoredDeadLetter[]> {
    const options = { match: `${startOf(uuidHash)}*`, count: SCAN_COUNT };
    const pages: AsyncIterable<string[]> = redis.zscanStream(listKey, options);
    // A scan may return one of them twice.
    const found = new Map<string, string>();
    for await (const items of pages) {
      for (let index = 0; index < items.length; index += 2) {
        found.set(items[index] as string, items[index + 1] as string);
      }
    }
    return readAll([...found].flat());
  }

  async function readState(id: string): Promise<StoredState> {
    const [job, known] = await Promise.all([jobs.read(id), jobs.queue().getJobState(id)]);
    // It may have been handled between the two reads.
    if (job === undefined || known === "unknown") {
      const isDiscarded = (await redis.exists(discardedKeyOf(id))) === 1;
      const state = isDiscarded ? "discarded" : "handled";
      return { id, state, body: null, attempts: 0, errors: null, atMs: null };
    }
    const { body, attempts, errors, storedAtMs, startedAtMs, dueAtMs = storedAtMs } = job;
    const isDue = known === "delayed" && dueAtMs <= Date.now();
    return {
      id,
      // The other states of BullMQ are those of jobs with priorities, children and results.
      state: isDue ? "waiting" : (known as StoredState["state"]),
      body,
      attempts,
      errors,
      atMs: (known === "active" ? startedAtMs : dueAtMs) ?? null,
    };
  }

  async function retryOne(id: string): Promise<number> {
    const score = (await redis.zscore(listKey, id)) ?? "";
    const [letter] = await readAll([id, score]);
    if (letter === undefined || score === "") return 0;
    const { body, errors } = letter;
    // A process that ends in between leaves the dead letter beside the job: the event is not lost.
    await jobs.addAgain(id, { body, errors });
    return remove(id, score);
  }

  return {
    bury,
    /** Forgets the uuid of a job; if this fails, the uuid stays until it expires. */
    async forget({ id = "", deduplicationId = "" }: Job<JobData>): Promise<void> {
      const uuidKey = `${head}:uuid:${id.slice(0, id.indexOf("-"))}`;
      const forgotten = jobs.queue().removeDeduplicationKey(deduplicationId);
      await Promise.all([redis.hdel(uuidKey, deduplicationId), forgotten]).catch(() => {});
    },
    countDeadLetters: () => redis.zcard(listKey),
    async deadLetters(after) {
      const list = await redis.eval(PAGE, 1, listKey, after?.atMs ?? 0, after?.id ?? "");
      return readAll(list as string[]);
    },
    async find(uuidHash) {
      const [letters, ids] = await Promise.all([
        findDeadLetters(uuidHash),
        redis.hvals(`${head}:uuid:${uuidHash}`),
      ]);
      const live = ids.filter((id) => !letters.some((letter) => letter.id === id));
      return [...letters, ...(await Promise.all(live.map(readState)))];
    },
    retry: (ids) => addAll(ids.map(retryOne)),
    discard: (ids) => addAll(ids.map((id) => remove(id, ""))),
  } satisfies Partial<Storage> & Record<string, unknown>;
}

async function addAll(counts: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
