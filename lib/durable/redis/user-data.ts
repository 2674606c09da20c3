import type { Redis } from "ioredis";
import { parseJson } from "../../kit/text";
import type { StoredText, TextSlice } from "../storage";
import { ERASED, isJobId, readJobData, type Jobs } from "./jobs";
import type { RedisSettings } from "./options";

/** About 1 ms of Redis. */
const SCAN_COUNT = 500;
/** KEYS[1] is any key of the queue: in a cluster, its node has all of them. */
const SCAN = `return redis.call("SCAN", ARGV[1], "MATCH", ARGV[2], "COUNT", ${SCAN_COUNT})`;
/** KEYS: the lists of delayed and of active jobs, and jobs, whose identifiers are ARGV. */
const READ_JOBS = `
  local found = {}
  for index, id in ipairs(ARGV) do
    local data = redis.pcall("HGET", KEYS[index + 2], "data")
    local state = "waiting"
    if redis.call("ZSCORE", KEYS[1], id) then
      state = "delayed"
    elseif redis.call("LPOS", KEYS[2], id) then
      state = "active"
    end
    table.insert(found, { state, type(data) == "string" and data or "" })
  end
  return found`;
/** KEYS: a job, the list, events and failures of dead letters, and the mark of a discarded one. */
const ERASE = `
  if type(redis.pcall("HGET", KEYS[1], "data")) == "string" then
    redis.call("HSET", KEYS[1], "data", '${ERASED}')
  end
  redis.call("ZREM", KEYS[2], ARGV[1])
  redis.call("HDEL", KEYS[3], ARGV[1])
  redis.call("HDEL", KEYS[4], ARGV[1])
  redis.call("SET", KEYS[5], "", "PX", ARGV[2])`;

/** Creates the methods of the storage that read and erase all texts of a queue. */
export function createRedisUserData(
  jobs: Jobs,
  redis: Redis,
  { head, dedupeTtlMs }: RedisSettings,
) {
  const outcomeHead = `${head}:outcome:`;
  const pattern = head.replaceAll(/[\\*?[\]^]/g, "\\$&");
  const letters = {
    list: `${head}:dead`,
    events: `${head}:dead:events`,
    failures: `${head}:dead:failures`,
  };

  async function scanKeys(cursor: string, start: string) {
    const values = [cursor, `${pattern}:${start}*`];
    const reply = await redis.eval(SCAN, 1, letters.list, ...values);
    const [next, keys] = reply as [string, string[]];
    return { next, keys };
  }

  async function scanJobs(cursor: string) {
    const { next, keys } = await scanKeys(cursor, "");
    const ids = keys.map((key) => key.slice(head.length + 1)).filter(isJobId);
    if (ids.length === 0) return { texts: [], next };
    const all = [`${head}:delayed`, `${head}:active`, ...ids.map(jobs.keyOf)];
    const rows = await redis.eval(READ_JOBS, all.length, ...all, ...ids);
    const texts = (rows as [StoredText["state"], string][]).map(([state, data], index) => {
      return { id: ids[index] ?? "", state, text: readJobData(parseJson(data)).body };
    });
    return { texts, next };
  }

  async function scanDeadLetters(cursor: string) {
    const [next, pairs] = await redis.hscan(letters.events, cursor, "COUNT", SCAN_COUNT);
    const texts: StoredText[] = [];
    for (let index = 0; index < pairs.length; index += 2) {
      const { body } = readJobData(parseJson(pairs[index + 1] ?? ""));
      texts.push({ id: pairs[index] ?? "", state: "dead", text: body });
    }
    return { texts, next };
  }

  async function scanOutcomes(cursor: string) {
    const { next, keys } = await scanKeys(cursor, "outcome:");
    const values = keys.length > 0 ? await redis.mget(keys) : [];
    const texts = keys.map((key, index): StoredText => {
      const id = key.slice(outcomeHead.length);
      return { id, state: "outcome", text: values[index] ?? "" };
    });
    return { texts, next };
  }

  /** Jobs first: those that fail meanwhile become dead letters. */
  const scans = { jobs: scanJobs, dead: scanDeadLetters, outcomes: scanOutcomes };

  return {
    async scan(kind: "event" | "outcome", from?: string): Promise<TextSlice> {
      const start = kind === "event" ? "jobs:0" : "outcomes:0";
      const [what, cursor] = (from ?? start).split(":") as [keyof typeof scans, string];
      const { texts, next } = await scans[what](cursor);
      if (next !== "0") return { texts, next: `${what}:${next}` };
      return { texts, next: what === "jobs" ? "dead:0" : undefined };
    },
    async erase(kind: "event" | "outcome", ids: readonly string[]): Promise<unknown> {
      if (kind === "outcome") return redis.del(ids.map((id) => outcomeHead + id));
      const erasing = ids.map((id) => {
        const keys = [jobs.keyOf(id), ...Object.values(letters), `${head}:discarded:${id}`];
        return redis.eval(ERASE, keys.length, ...keys, id, dedupeTtlMs);
      });
      return Promise.all(erasing);
    },
  };
}
