import { once } from "node:events";
import * as net from "node:net";
import * as tls from "node:tls";
import type { Redis } from "ioredis";
import { createNeutralCause } from "../../kit/neutral-cause";
import { ResponseTimeout, within } from "../../kit/response-timeout";
import { QueueError } from "../queue-error";
import { warnOfRisk } from "../queue-options";
import {
  describeRedisError,
  findRedisRejection,
  listServers,
  readInfo,
  readInfoField,
} from "./connection";
import type { RedisSettings } from "./options";

/** With `everysec`, a power cut loses the last second. */
const REQUIRED = {
  appendonly: "yes",
  appendfsync: "always",
  "maxmemory-policy": "noeviction",
} as const;
const ADVICE =
  'With a managed service, check that it keeps every confirmed write (appendonly yes, appendfsync always or a transaction log, maxmemory-policy noeviction), then set durability: "provider".';

const PROBE_MS = 1_000;
/** Shorter than the limit of ioredis. */
const REPLY_MS = 1_000;

/** The commands of this package and of BullMQ, before whose arguments a key comes; `=` is the key again. */
const COMMANDS = `SET 1 PX 1000,GET,MGET,EXISTS,PTTL,PEXPIRE 1000,INCR,DEL
HSET f 1,HSETNX f 1,HMSET f 1,HINCRBY f 1,HGET f,HMGET f,HGETALL,HVALS,HSCAN 0,HDEL f
LPUSH x,RPUSH x,LRANGE 0 0,LINDEX 0,LLEN,LPOS x,RPOPLPUSH =,LREM 0 x
SADD x,SCARD,SMEMBERS,SISMEMBER x,SREM x
ZADD 1 x,ZSCORE x,ZRANK x,ZCARD,ZCOUNT 0 0,ZRANGE 0 0,ZRANGEBYSCORE 0 0,ZREVRANGEBYSCORE 0 0
ZSCAN 0,ZREMRANGEBYSCORE 0 0,ZPOPMIN,ZREM x,XADD * f 1,XTRIM MAXLEN 0,DEL`.split(/[,\n]/);
/** An error of Redis 7.0 does not name the command. */
const TRY = `
  local function try(name, ...)
    local reply = redis.pcall(name, ...)
    if type(reply) == "table" and reply.err then
      redis.pcall("DEL", KEYS[1])
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
  try("SCAN", "0", "COUNT", "1")
  try("TIME")
  try("PUBLISH", ARGV[1], "")`;

/** Creates the check that servers lose nothing; it throws QueueError, or Error for an outage. */
export function createSetupCheck(redis: Redis, settings: RedisSettings): () => Promise<void> {
  const { durability, logger } = settings;
  let lastWarning: string | undefined;
  let isUnanswered = false;

  /** After a reply that did not come, the next check does without the question, on a new connection. */
  async function readSetting(
    server: Redis,
    name: string,
    skips: boolean,
  ): Promise<{ value?: string; doubt?: string }> {
    if (skips) return { doubt: `Redis does not reply to CONFIG GET ${name}` };
    try {
      const [, value] = (await within(server.config("GET", name), REPLY_MS)) as (
        string | undefined
      )[];
      return value === undefined ? { doubt: `CONFIG GET ${name} replied nothing` } : { value };
    } catch (error) {
      if (findRedisRejection(error) !== undefined) {
        return { doubt: `CONFIG GET ${name} replied "${describeRedisError(error)}"` };
      }
      if (error instanceof ResponseTimeout) {
        isUnanswered = true;
        redis.disconnect(true);
      }
      throw error;
    }
  }

  async function findDurabilityProblem(server: Redis, skips: boolean): Promise<string | undefined> {
    const wrong: string[] = [];
    let unknown: string | undefined;
    for (const [name, required] of Object.entries(REQUIRED)) {
      const { value, doubt } = await readSetting(server, name, skips);
      unknown ??= doubt;
      if (doubt === undefined && value !== required) wrong.push(`  CONFIG SET ${name} ${required}`);
    }
    if (wrong.length > 0) {
      return `redisQueue: this Redis may lose events that got a 200. Run these in redis-cli, and the queue goes on by itself:\n${wrong.join("\n")}\n  CONFIG REWRITE\nCONFIG REWRITE keeps them in redis.conf; without that file, start Redis with them from now on. Do not restart it before CONFIG SET appendonly yes has written the data (aof_rewrite_in_progress:0 in INFO persistence): a Redis that starts with appendonly yes and without its files is empty. Or set durability: "warn" to run like this.`;
    }
    if (unknown === undefined || durability === "provider") return undefined;
    return `redisQueue: this Redis does not say whether it keeps every event: ${unknown}. ${ADVICE}`;
  }

  async function checkServer(server: Redis, skips: boolean): Promise<void> {
    const info = await readInfo(server);
    if (readInfoField(info, "cluster_enabled") === "1" && !redis.isCluster) {
      throw createRejectedError(
        "redisQueue: connection is a node of a Redis Cluster. Pass connection: { cluster: [{ host, port }] }.",
      );
    }
    if (readInfoField(info, "role") === "slave" && !redis.isCluster) {
      throw createRejectedError(
        "redisQueue: connection is a replica, which stores nothing. Pass its primary, or the sentinels that know it.",
      );
    }
    if (durability === "trust") return;
    // Until then, a Redis that ends starts empty. Not a QueueError: the queue waits.
    const isFirst = readInfoField(info, "aof_base_size") === "0";
    if (isFirst && readInfoField(info, "aof_rewrite_in_progress") === "1") {
      throw new Error("Redis writes its first append-only file.");
    }
    const problem = await findDurabilityProblem(server, skips);
    if (problem === undefined) return;
    if (durability !== "warn") throw new QueueError("REDIS_NOT_DURABLE", problem);
    if (problem === lastWarning) return;
    lastWarning = problem;
    warnOfRisk(problem, logger);
  }

  return async function checkSetup() {
    const servers = listServers(redis);
    if (servers.length === 0) throw new Error("The cluster has no primary.");
    const skips = isUnanswered;
    isUnanswered = false;
    for (const server of servers) await checkServer(server, skips);
  };
}

/** Does once what the queue does later; throws the first rejection. */
export async function tryCommands(
  redis: Redis,
  channel: string,
  { head, replicas }: RedisSettings,
): Promise<void> {
  const key = `${head}:check`;
  await redis.eval(TRY, 1, key, channel, ...COMMANDS).catch(ignore("OOM"));
  await redis.evalsha("0".repeat(40), 1, key).catch(ignore("NOSCRIPT"));
  await redis.bzpopmin(key, 0.01);
  if (replicas !== 0 && !redis.isCluster) await redis.wait(0, 1);
}

/** Workers and operators can empty a full Redis. */
const ignore = (code: string) => (error: unknown) => {
  if (codeOfReply(findRedisRejection(error)) !== code) throw error;
};

/** Returns the first word of an error reply, which is its code. */
const codeOfReply = (error: Error | undefined) => /^\w*/.exec(error?.message ?? "")?.[0];

/** Returns the QueueError of a rejection, or else a plain Error. */
export function toConnectionError(error: unknown, { prefix }: RedisSettings): Error {
  if (error instanceof QueueError) return error;
  const words = describeRedisError(error);
  const { lastNodeError = error } = Object(error) as { lastNodeError?: unknown };
  const { code } = Object(lastNodeError) as NodeJS.ErrnoException;
  const isTls = isTlsCode(code);
  const rejection = findRedisRejection(error);
  if (rejection === undefined && !isTls) {
    return Object.assign(new Error(words), code !== undefined && { code });
  }
  const advice = isTls ? TLS_ADVICE : findAdvice(codeOfReply(rejection), prefix);
  const message = `redisQueue: Redis rejects the queue: ${words.replace(/\.?$/, ".")} ${advice}`;
  return createRejectedError(message, createNeutralCause(error));
}

/** Finds the error of a URL with redis:// in place of rediss://, or the reverse. */
export async function findTlsError(redis: Redis): Promise<QueueError | undefined> {
  if (!(await differsInTls(redis))) return undefined;
  return createRejectedError(`redisQueue: connection and its port differ in TLS. ${TLS_ADVICE}`);
}

async function differsInTls({ options, isCluster }: Redis): Promise<boolean> {
  const { host, port, path } = options;
  if (isCluster || path !== undefined || port === undefined) return false;
  const hasTls = options.tls !== undefined;
  const probe = hasTls
    ? net.connect({ host, port })
    : tls.connect({ host, port, rejectUnauthorized: false });
  try {
    if (hasTls) probe.write("PING\r\n");
    await once(probe, hasTls ? "data" : "secureConnect", { signal: AbortSignal.timeout(PROBE_MS) });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A server that asks for a certificate sends the other alerts.
    return !hasTls && code !== "ERR_SSL_WRONG_VERSION_NUMBER" && isTlsCode(code);
  } finally {
    probe.on("error", () => {}).destroy();
  }
}

function createRejectedError(message: string, cause?: Error): QueueError {
  return new QueueError("REDIS_REJECTED", message, cause && { cause });
}

const TLS_ADVICE =
  "Use rediss:// for a port with TLS, and redis:// for one without. For a certificate of your own, pass connection: { url, tls: { ca } }.";

function findAdvice(code: string | undefined, prefix: string): string {
  if (code === "WRONGPASS" || code === "NOAUTH") {
    return "Check username and password of connection.";
  }
  const rights = `Give the queue a user of its own with these rights (-@dangerous would take others from a user that exists): ACL SETUSER <user> on ><password> +@all -@dangerous +info +config|get ~${prefix}:* &${prefix}:*`;
  if (code === "NOPERM") return rights;
  return `Check the options of connection, the commands that redis.conf renames, and any proxy: the queue needs every command of BullMQ, INFO included. ${rights}`;
}

/** Returns whether a connection failed because of TLS. */
function isTlsCode(code: unknown): boolean {
  return /^(CERT|ERR_SSL|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME|EPROTO)/.test(
    String(code),
  );
}
