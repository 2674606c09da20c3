import type { Redis } from "ioredis";
import { createNeutralCause } from "../../errors/neutral-cause";
import { QueueError } from "../queue-error";
import {
  describeRedisError,
  findRedisRejection,
  listServers,
  readInfo,
  readInfoField,
} from "./connection";
import type { RedisSettings } from "./options";

/** The lines that redis.conf must have: with `everysec` a power cut loses the last second. */
const REQUIRED = {
  appendonly: "yes",
  appendfsync: "always",
  "maxmemory-policy": "noeviction",
} as const;
const ADVICE =
  'With a managed service, check that it keeps every confirmed write (appendonly yes, appendfsync always or a transaction log, maxmemory-policy noeviction), then set durability: "provider".';

/**
 * Creates the check that the servers of a connection can be used, and lose nothing that they
 * confirmed; it throws QueueError, or Error for an outage.
 */
export function createSetupCheck(redis: Redis, settings: RedisSettings): () => Promise<void> {
  const { durability, logger } = settings;
  let lastWarning: string | undefined;

  async function checkServer(server: Redis): Promise<void> {
    const info = await readInfo(server);
    if (readInfoField(info, "cluster_enabled") === "1" && !redis.isCluster) {
      throw createRejection(
        "redisQueue: connection is a node of a Redis Cluster. Pass connection: { cluster: [{ host, port }] }.",
      );
    }
    if (readInfoField(info, "role") === "slave" && !redis.isCluster) {
      throw createRejection(
        "redisQueue: connection is a replica, which stores nothing. Pass its primary, or the sentinels that know it.",
      );
    }
    if (durability === "trust") return;
    const problem = await findDurabilityProblem(server, durability);
    if (problem === undefined) return;
    if (durability !== "warn") throw new QueueError("REDIS_NOT_DURABLE", problem);
    if (problem === lastWarning) return;
    lastWarning = problem;
    if (logger === undefined) process.emitWarning(problem, { type: "DurabilityWarning" });
    else logger.warn({}, problem);
  }

  return async function checkSetup() {
    const servers = listServers(redis);
    if (servers.length === 0) throw new Error("The cluster has no primary.");
    for (const server of servers) await checkServer(server);
  };
}

/** Returns the QueueError of a Redis that rejects a connection or a command, or else a plain Error. */
export function toConnectionError(error: unknown): Error {
  if (error instanceof QueueError) return error;
  const words = describeRedisError(error);
  const { code } = Object(error) as NodeJS.ErrnoException;
  if (findRedisRejection(error) === undefined) {
    return Object.assign(new Error(words), code !== undefined && { code });
  }
  const message = `redisQueue: Redis rejects the queue: ${words.replace(/\.?$/, ".")} ${findAdvice(words)}`;
  return createRejection(message, createNeutralCause(error));
}

function createRejection(message: string, cause?: Error): QueueError {
  return new QueueError("REDIS_REJECTED", message, cause && { cause });
}

function findAdvice(words: string): string {
  if (words.startsWith("NOPERM")) {
    return "The user of connection needs every command of BullMQ.";
  }
  if (/^(WRONGPASS|NOAUTH)\b|\b(auth|password)\b/i.test(words)) {
    return "Check username, password and the other options of connection.";
  }
  return "Check the options of connection, the commands that redis.conf renames, and any proxy: the queue needs every command of BullMQ, INFO included.";
}

async function findDurabilityProblem(
  server: Redis,
  durability: RedisSettings["durability"],
): Promise<string | undefined> {
  const wrong: string[] = [];
  let unknown: string | undefined;
  for (const [name, required] of Object.entries(REQUIRED)) {
    try {
      const [, value] = (await server.config("GET", name)) as (string | undefined)[];
      if (value === undefined) unknown ??= `CONFIG GET ${name} replied nothing`;
      else if (value !== required) wrong.push(`  ${name} ${required}`);
    } catch (error) {
      if (findRedisRejection(error) === undefined) throw error;
      unknown ??= `CONFIG GET ${name} replied "${describeRedisError(error)}"`;
    }
  }
  if (wrong.length > 0) {
    return `redisQueue: this Redis may lose events that got a 200. Change in redis.conf, and restart it:\n${wrong.join("\n")}\nOr set durability: "warn" to run like this.`;
  }
  if (unknown === undefined || durability === "provider") return undefined;
  return `redisQueue: this Redis does not say whether it keeps every event: ${unknown}. ${ADVICE}`;
}
