import type { Redis } from "ioredis";
import { findRedisRejection } from "./connection";
import type { RedisSettings } from "./options";

/** The commands of this package and of BullMQ, each with a key of no other use; `=` is this key again. */
const COMMANDS = `SET 1 PX 1000,GET,MGET,EXISTS,PTTL,PEXPIRE 1000,INCR,DEL
HSET f 1,HSETNX f 1,HMSET f 1,HINCRBY f 1,HGET f,HMGET f,HGETALL,HVALS,HDEL f
LPUSH x,RPUSH x,LRANGE 0 0,LINDEX 0,LLEN,LPOS x,RPOPLPUSH =,LREM 0 x
SADD x,SCARD,SMEMBERS,SISMEMBER x,SREM x
ZADD 1 x,ZSCORE x,ZRANK x,ZCARD,ZCOUNT 0 0,ZRANGE 0 0,ZRANGEBYSCORE 0 0,ZREVRANGEBYSCORE 0 0
ZSCAN 0,ZREMRANGEBYSCORE 0 0,ZPOPMIN,ZREM x,XADD * f 1,XTRIM MAXLEN 0,DEL`.split(/[,\n]/);
/** An error of Redis 7.0 does not name the command. */
const TRY = `
  local function try(name, ...)
    local reply = redis.pcall(name, ...)
    if type(reply) == "table" and reply.err then
      error({ err = reply.err .. " (" .. name .. ")" })
    end
  end
  for index = 2, #ARGV do
    local words = {}
    for word in string.gmatch(ARGV[index], "%S+") do
      table.insert(words, word == "=" and KEYS[1] or word)
    end
    try(words[1], KEYS[1], unpack(words, 2))
  end
  try("TIME")
  try("PUBLISH", ARGV[1], "")`;

/**
 * Does once, without a trace, what the queue does later.
 *
 * @throws ReplyError of the first command that Redis rejects.
 */
export async function tryCommands(
  redis: Redis,
  channel: string,
  { prefix, name, replicas }: RedisSettings,
): Promise<void> {
  const key = `${prefix}:${name}:check`;
  await redis.eval(TRY, 1, key, channel, ...COMMANDS).catch(ignore("OOM"));
  await redis.evalsha("0".repeat(40), 1, key).catch(ignore("NOSCRIPT"));
  await redis.bzpopmin(key, 0.01);
  if (replicas !== 0 && !redis.isCluster) await redis.wait(0, 1);
}

/** A full Redis is no missing right: events are not stored, but workers and operators can empty it. */
const ignore = (code: string) => (error: unknown) => {
  if (findRedisRejection(error)?.message.includes(code) !== true) throw error;
};
