import type { Job } from "bullmq";
import type { Redis } from "ioredis";
import { parseJson } from "../../kit/text";
import {
  MAX_DEAD_GROUPS,
  MAX_TIME_MS,
  NO_FAILURE,
  type FailedRun,
  type StoredDeadGroup,
  type StoredDeadLetter,
  type StoredDeadLetterChoice,
  type StoredState,
} from "../storage";
import { ERASED, isJobId, PAUSED, readJobData, startOf, type JobData, type Jobs } from "./jobs";
import type { RedisSettings } from "./options";

/** About 1 ms of Redis. */
const SCAN_COUNT = 1_000;
const PAGE_LENGTH = 100;
const FRESH_MS = 1_000;
/** A later failure of an event has a later time: see REMOVE. Returns 0 if its job was erased. */
const BURY = `
  if redis.call("HGET", KEYS[4], "data") == '${ERASED}' then
    return 0
  end
  local time = redis.call("TIME")
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local last = redis.call("ZSCORE", KEYS[1], ARGV[1])
  if last then
    now = math.max(now, last + 1)
  end
  redis.call("ZADD", KEYS[1], now, ARGV[1])
  redis.call("HSET", KEYS[2], ARGV[1], ARGV[2])
  redis.call("HSET", KEYS[3], ARGV[1], ARGV[3])
  return 1`;
/** ARGV: the position after which the page begins, or before which it ends; its dead letter may be gone. */
const PAGE = `
  local rank = redis.call("ZRANK", KEYS[1], ARGV[2])
  local first = rank and rank + 1 or redis.call("ZCOUNT", KEYS[1], "-inf", "(" .. ARGV[1])
  local last = first + ${PAGE_LENGTH - 1}
  if ARGV[3] == "newest" then
    last = (rank or redis.call("ZCOUNT", KEYS[1], "-inf", ARGV[1])) - 1
    first = math.max(0, last - ${PAGE_LENGTH - 1})
  end
  return last < 0 and {} or redis.call("ZRANGE", KEYS[1], first, last, "WITHSCORES")`;
/** ARGV: the time of the failure, as an event that failed again stays, or "" to discard it. */
const REMOVE = `
  local score = redis.call("ZSCORE", KEYS[1], ARGV[1])
  if not score or (ARGV[2] ~= "" and tonumber(score) ~= tonumber(ARGV[2])) then
    return 0
  end
  if ARGV[2] == "" then
    redis.call("SET", KEYS[4], "", "PX", ARGV[3])
  end
  redis.call("HDEL", KEYS[2], ARGV[1])
  redis.call("HDEL", KEYS[3], ARGV[1])
  return redis.call("ZREM", KEYS[1], ARGV[1])`;

/** The dead letters of a queue, which are kept beside the jobs of BullMQ. */
export class RedisDeadLetters {
  readonly #jobs: Jobs;
  readonly #redis: Redis;
  readonly #dedupeTtlMs: number;
  readonly #head: string;
  /** The sorted set of the identifiers, by the time of the failure. */
  readonly #listKey: string;
  readonly #eventsKey: string;
  readonly #failuresKey: string;
  /** A console lists each group after it has counted them. */
  #failed: { atMs: number; all: Promise<readonly Failed[]> } | undefined;

  constructor(jobs: Jobs, redis: Redis, { head, dedupeTtlMs }: RedisSettings) {
    this.#jobs = jobs;
    this.#redis = redis;
    this.#dedupeTtlMs = dedupeTtlMs;
    this.#head = head;
    this.#listKey = `${head}:dead`;
    this.#eventsKey = `${head}:dead:events`;
    this.#failuresKey = `${head}:dead:failures`;
  }

  /** Returns false if the event was erased. */
  async bury(
    id: string,
    letter: JobData & { attempts: number },
    { failure, person }: Pick<FailedRun, "failure" | "person">,
  ): Promise<boolean> {
    const keys = [this.#listKey, this.#eventsKey, this.#failuresKey, this.#jobs.keyOf(id)];
    const values = [letter, [failure, person]].map((value) => JSON.stringify(value));
    return Number(await this.#redis.eval(BURY, 4, ...keys, id, ...values)) === 1;
  }

  /** Forgets the uuid of a job, at the latest when it expires. */
  async forget({ id = "", deduplicationId = "" }: Job<JobData>): Promise<void> {
    const uuidKey = this.#uuidKeyOf(id.slice(0, id.indexOf("-")));
    const forgotten = this.#jobs.queue().removeDeduplicationKey(deduplicationId);
    await Promise.all([this.#redis.hdel(uuidKey, deduplicationId), forgotten]).catch(() => {});
  }

  count(): Promise<number> {
    return this.#redis.zcard(this.#listKey);
  }

  async list(
    { failure, newestFirst }: StoredDeadLetterChoice,
    after?: StoredDeadLetter,
  ): Promise<StoredDeadLetter[]> {
    if (failure !== undefined) return this.#listGroup(failure, newestFirst, after);
    const [atMs, id] = [after?.atMs ?? (newestFirst ? "+inf" : 0), after?.id ?? ""];
    const values = [atMs, id, newestFirst ? "newest" : "oldest"];
    const list = await this.#redis.eval(PAGE, 1, this.#listKey, ...values);
    const letters = await this.#readAll(list as string[]);
    return newestFirst ? letters.toReversed() : letters;
  }

  async groups(): Promise<StoredDeadGroup[]> {
    this.#failed = undefined;
    const groups = new Map<string, StoredDeadGroup & { people: Set<string> }>();
    for (const { failure, person, atMs } of await this.#readFailed()) {
      const group = groups.get(failure);
      const { count = 0, firstAtMs = atMs, people = new Set<string>() } = group ?? {};
      if (person !== undefined) people.add(person);
      const counts = { count: count + 1, users: people.size, firstAtMs, lastAtMs: atMs };
      groups.set(failure, { failure, ...counts, people });
    }
    return [...groups.values()]
      .toSorted((one, other) => other.count - one.count || other.lastAtMs - one.lastAtMs)
      .slice(0, MAX_DEAD_GROUPS)
      .map(({ people: _people, ...group }) => group);
  }

  async find(uuidHash: string): Promise<StoredState[]> {
    const [letters, ids] = await Promise.all([
      this.#findDeadLetters(uuidHash),
      this.#redis.hvals(this.#uuidKeyOf(uuidHash)),
    ]);
    const live = ids.filter((id) => !letters.some((letter) => letter.id === id));
    return [...letters, ...(await Promise.all(live.map((id) => this.#readState(id))))];
  }

  retry(ids: readonly string[]): Promise<number> {
    return addAll(ids.map((id) => this.#retryOne(id)));
  }

  discard(ids: readonly string[]): Promise<number> {
    return addAll(ids.map((id) => this.#remove(id, "")));
  }

  #uuidKeyOf(uuidHash: string): string {
    return `${this.#head}:uuid:${uuidHash}`;
  }

  #discardedKeyOf(id: string): string {
    return `${this.#head}:discarded:${id}`;
  }

  async #listGroup(
    failure: string,
    newestFirst: boolean,
    after: StoredDeadLetter | undefined,
  ): Promise<StoredDeadLetter[]> {
    const isAfter = (one: Failed) => {
      if (after === undefined) return true;
      const later = one.atMs - after.atMs || (one.id > after.id ? 1 : -1);
      return one.id !== after.id && later > 0 !== newestFirst;
    };
    const all = await this.#readFailed();
    const found = all.filter((one) => one.failure === failure && isAfter(one));
    const page = (newestFirst ? found.toReversed() : found).slice(0, PAGE_LENGTH);
    return this.#readAll(page.flatMap(({ id, atMs }) => [id, String(atMs)]));
  }

  /** Reads all failures, the oldest first, unless it has just done so. */
  #readFailed(): Promise<readonly Failed[]> {
    const nowMs = performance.now();
    if (this.#failed === undefined || nowMs - this.#failed.atMs >= FRESH_MS) {
      this.#failed = { atMs: nowMs, all: this.#listFailed() };
    }
    return this.#failed.all;
  }

  async #listFailed(): Promise<Failed[]> {
    const found: Failed[] = [];
    for (let first = 0; ; first += SCAN_COUNT) {
      const last = String(first + SCAN_COUNT - 1);
      const list = await this.#redis.zrange(this.#listKey, String(first), last, "WITHSCORES");
      const ids = list.filter((_, index) => index % 2 === 0);
      if (ids.length === 0) return found;
      const texts = await this.#redis.hmget(this.#failuresKey, ...ids);
      for (const [index, id] of ids.entries()) {
        found.push({ id, atMs: readTime(list[2 * index + 1]), ...readFailure(texts[index]) });
      }
    }
  }

  async #remove(id: string, score: string): Promise<number> {
    const keys = [this.#listKey, this.#eventsKey, this.#failuresKey, this.#discardedKeyOf(id)];
    return Number(await this.#redis.eval(REMOVE, 4, ...keys, id, score, this.#dedupeTtlMs));
  }

  /** Reads the dead letters of a list of identifiers and times. */
  async #readAll(list: readonly string[]): Promise<StoredDeadLetter[]> {
    const ids = list.filter((_, index) => index % 2 === 0);
    if (ids.length === 0) return [];
    const texts = await this.#redis.hmget(this.#eventsKey, ...ids);
    return ids.flatMap((id, index): StoredDeadLetter | [] => {
      const text = texts[index] ?? undefined;
      // Another process may have removed it.
      if (text === undefined) return [];
      const letter = parseJson(text);
      const { body, errors } = readJobData(letter);
      const { attempts } = Object(letter) as { attempts?: unknown };
      const atMs = readTime(list[2 * index + 1]);
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

  async #findDeadLetters(uuidHash: string): Promise<StoredDeadLetter[]> {
    const options = { match: `${startOf(uuidHash)}*`, count: SCAN_COUNT };
    const pages: AsyncIterable<string[]> = this.#redis.zscanStream(this.#listKey, options);
    // A scan may return one of them twice.
    const found = new Map<string, string>();
    for await (const items of pages) {
      for (let index = 0; index < items.length; index += 2) {
        found.set(items[index] as string, items[index + 1] as string);
      }
    }
    return this.#readAll([...found].flat());
  }

  async #readState(id: string): Promise<StoredState> {
    const [job, known] = await Promise.all([
      this.#jobs.read(id),
      this.#jobs.queue().getJobState(id),
    ]);
    // It may have been handled between the two reads.
    if (job === undefined || job.isErased === true || known === "unknown") {
      const isDiscarded = (await this.#redis.exists(this.#discardedKeyOf(id))) === 1;
      const state = isDiscarded ? "discarded" : "handled";
      return { id, state, body: null, attempts: 0, errors: null, atMs: null };
    }
    const { body, attempts, errors, storedAtMs, startedAtMs, dueAtMs = storedAtMs } = job;
    const isDue = (known as string) === PAUSED || (known === "delayed" && dueAtMs <= Date.now());
    return {
      id,
      // Only jobs with priorities, children or results have the other states of BullMQ.
      state: isDue ? "waiting" : (known as StoredState["state"]),
      body,
      attempts,
      errors,
      atMs: (known === "active" ? startedAtMs : dueAtMs) ?? null,
    };
  }

  async #retryOne(id: string): Promise<number> {
    const score = (await this.#redis.zscore(this.#listKey, id)) ?? "";
    const [letter] = await this.#readAll([id, score]);
    if (letter === undefined || score === "") return 0;
    // BullMQ rejects the identifiers of other programs.
    if (!isJobId(id)) return 0;
    const { body, errors } = letter;
    // A process that ends in between leaves both: the event is not lost.
    await this.#jobs.addAgain(id, { body, errors });
    return this.#remove(id, score);
  }
}

/** A dead letter without its event. */
interface Failed extends ReturnType<typeof readFailure> {
  id: string;
  atMs: number;
}

/** Reads what other programs may have written. */
function readFailure(text: string | null | undefined) {
  const pair = parseJson(text ?? "");
  const [failure, person] = Array.isArray(pair) ? (pair as unknown[]) : [];
  return {
    failure: typeof failure === "string" ? failure : NO_FAILURE,
    person: typeof person === "string" ? person : undefined,
  };
}

function readTime(score: string | undefined): number {
  return Math.min(Math.floor(Number(score)) || 0, MAX_TIME_MS);
}

async function addAll(counts: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
