import type { Redis } from "ioredis";
import type { Count } from "../../core/door";
import {
  JOURNAL_MS,
  MAX_KEPT_ENTRIES,
  MAX_SLICE_ENTRIES,
  type Storage,
  type StoredText,
} from "../storage";
import type { RedisSettings } from "./options";

const MINUTE_MS = 60_000;
/** How many entries Redis removes at a time: about 1 ms of its time. */
const REMOVED_ENTRIES = 500;
/** An identifier is the time in microseconds, or one more than the last: an emptied Redis repeats none. */
const NOW = `
  local time = redis.call("TIME")
  local now = time[1] * 1000000 + time[2]`;
/**
 * KEYS: the list, the texts, then the counters of minutes. ARGV: how many entries follow, kind, share and
 * text of each; then the key, the name and the number of each count.
 */
const APPEND = `
  ${NOW}
  local last = redis.call("ZRANGE", KEYS[1], -1, -1, "WITHSCORES")[2]
  local id = math.max(now, (tonumber(last) or 0) + 1)
  local first_count = 2 + ARGV[1] * 3
  for index = 2, first_count - 1, 3 do
    local digits = string.format("%.0f", id)
    redis.call("ZADD", KEYS[1], digits, digits .. ":" .. ARGV[index] .. ":" .. ARGV[index + 1])
    redis.call("HSET", KEYS[2], digits, ARGV[index + 2])
    id = id + 1
  end
  for index = first_count, #ARGV, 3 do
    redis.call("HINCRBY", KEYS[tonumber(ARGV[index])], ARGV[index + 1], ARGV[index + 2])
  end
  for index = 1, #KEYS do
    redis.call("PEXPIRE", KEYS[index], ${JOURNAL_MS})
  end`;
/** ARGV: the identifier after which the slice begins. */
const READ = `
  local members = redis.call("ZRANGEBYSCORE", KEYS[1], "(" .. ARGV[1], "+inf", "LIMIT", 0, ${MAX_SLICE_ENTRIES})
  local found = {}
  for _, member in ipairs(members) do
    local id = string.match(member, "^%d+")
    table.insert(found, { id or "", id and redis.call("HGET", KEYS[2], id) or "" })
  end
  return found`;
const LIST = `
  ${NOW}
  return { string.format("%.0f", now), redis.call("ZRANGE", KEYS[1], 0, -1) }`;
/** ARGV: identifiers. */
const REMOVE = `
  for _, id in ipairs(ARGV) do
    redis.call("ZREMRANGEBYSCORE", KEYS[1], id, id)
    redis.call("HDEL", KEYS[2], id)
  end`;
const READ_COUNTS = `
  local found = {}
  for _, key in ipairs(KEYS) do
    table.insert(found, redis.call("HGETALL", key))
  end
  return found`;

/** Creates the methods of the storage that keep the journal of a queue. */
export function createRedisJournal(
  redis: Redis,
  { prefix, name }: RedisSettings,
): Pick<Storage, "appendEntries" | "readCounts" | "trimEntries" | "secret"> & RedisEntries {
  const head = `${prefix}:${name}`;
  /** A sorted set of identifier, kind and share, and a hash of the texts. */
  const keys = [`${head}:journal`, `${head}:journal:texts`];
  const secretKey = `${head}:secret`;
  const minuteKeyOf = (minuteMs: number) => `${head}:journal:${minuteMs}`;

  async function erase(ids: readonly string[]): Promise<void> {
    for (let first = 0; first < ids.length; first += REMOVED_ENTRIES) {
      await redis.eval(REMOVE, 2, ...keys, ...ids.slice(first, first + REMOVED_ENTRIES));
    }
  }

  return {
    erase,
    async scan(from = "0") {
      const rows = await redis.eval(READ, 2, ...keys, from);
      const texts = (rows as [string, string][]).map(([id, text]): StoredText => {
        return { id, state: "entry", text };
      });
      return { texts, next: texts.at(-1)?.id };
    },
    async appendEntries(entries, counts) {
      const minuteKeys = [...new Set(counts.map(({ minuteMs }) => minuteKeyOf(minuteMs)))];
      const all = [...keys, ...minuteKeys];
      const added = entries.flatMap(({ kind, share, text }) => [kind, share, text]);
      const counted = counts.flatMap(({ minuteMs, name: counter, count }) => {
        return [all.indexOf(minuteKeyOf(minuteMs)) + 1, counter, count];
      });
      await redis.eval(APPEND, all.length, ...all, entries.length, ...added, ...counted);
    },
    async readCounts(fromMs) {
      const minutes: number[] = [];
      let minuteMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
      const endMs = Math.max(fromMs, minuteMs - JOURNAL_MS + 1);
      for (; minuteMs >= endMs; minuteMs -= MINUTE_MS) minutes.unshift(minuteMs);
      if (minutes.length === 0) return [];
      const found = await redis.eval(READ_COUNTS, minutes.length, ...minutes.map(minuteKeyOf));
      return (found as string[][]).flatMap((pairs, index) =>
        toCounts(minutes[index] as number, pairs),
      );
    },
    async trimEntries() {
      const [now, members] = (await redis.eval(LIST, 1, ...keys)) as [string, string[]];
      await erase(listOverBounds(members, Number(now) - 1_000 * JOURNAL_MS));
    },
    async secret(candidate) {
      await redis.set(secretKey, candidate, "NX");
      return (await redis.get(secretKey)) ?? candidate;
    },
  };
}

/** How the entries are read and erased. */
interface RedisEntries {
  scan(from?: string): ReturnType<Storage["scan"]>;
  erase(ids: readonly string[]): Promise<unknown>;
}

function toCounts(minuteMs: number, pairs: readonly string[]): Count[] {
  const counts: Count[] = [];
  for (let index = 0; index < pairs.length; index += 2) {
    const name = pairs[index] as Count["name"];
    counts.push({ minuteMs, name, count: Number(pairs[index + 1]) });
  }
  return counts;
}

/** Lists the identifiers of the entries that a trim removes, of members from the oldest to the newest. */
function listOverBounds(members: readonly string[], oldest: number): string[] {
  const kinds = new Map<string, { id: string; turn: number }[]>();
  /** How many newer entries its share has in its kind. */
  const turns = new Map<string, number>();
  for (const member of members.toReversed()) {
    const [id = "", kind = ""] = member.split(":", 2);
    const share = member.slice(id.length);
    const turn = turns.get(share) ?? 0;
    turns.set(share, turn + 1);
    const entries = kinds.get(kind) ?? [];
    entries.push({ id, turn });
    kinds.set(kind, entries);
  }
  return [...kinds.values()].flatMap((entries) => {
    // Stable: of one turn, the newest comes first.
    const places = entries.toSorted((one, other) => one.turn - other.turn);
    return places
      .filter(({ id }, place) => place >= MAX_KEPT_ENTRIES || Number(id) < oldest)
      .map(({ id }) => id);
  });
}
