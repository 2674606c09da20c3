import type { Redis } from "ioredis";
import { createNeutralCause } from "../../errors/neutral-cause";
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
import { isTlsCode } from "./tls";

/** The lines that redis.conf must have: with `everysec` a power cut loses the last second. */
const REQUIRED = {
  appendonly: "yes",
  appendfsync: "always",
  "maxmemory-policy": "noeviction",
} as const;
const ADVICE =
  'With a managed service, check that it keeps every confirmed write (appendonly yes, appendfsync always or a transaction log, maxmemory-policy noeviction), then set durability: "provider".';

/** The message of ioredis for a command without a reply. */
const TIMED_OUT = "Command timed out";

class UnknownSetting extends Error {}

/**
 * Creates the check that the servers of a connection can be used, and lose nothing that they
 * confirmed; it throws QueueError, or Error for an outage.
 */
export function createSetupCheck(redis: Redis, settings: RedisSettings): () => Promise<void> {
  const { durability, logger } = settings;
  let lastWarning: string | undefined;
  let isUnanswered = false;

  /**
   * After a reply that never comes, a connection is of no use: the next reply would be taken for it. So
   * the check goes on with a new one, without the question.
   */
  async function readSetting(server: Redis, name: string): Promise<string | undefined> {
    if (isUnanswered) throw new UnknownSetting(`Redis does not reply to CONFIG GET ${name}`);
    try {
      const [, value] = (await server.config("GET", name)) as (string | undefined)[];
      if (value === undefined) throw new UnknownSetting(`CONFIG GET ${name} replied nothing`);
      return value;
    } catch (error) {
      if (findRedisRejection(error) !== undefined) {
        throw new UnknownSetting(`CONFIG GET ${name} replied "${describeRedisError(error)}"`);
      }
      if ((error as Error).message === TIMED_OUT) {
        isUnanswered = true;
        redis.disconnect(true);
      }
      throw error;
    }
  }

  async function findDurabilityProblem(server: Redis): Promise<string | undefined> {
    const wrong: string[] = [];
    let unknown: string | undefined;
    for (const [name, required] of Object.entries(REQUIRED)) {
      try {
        if ((await readSetting(server, name)) !== required) wrong.push(`  ${name} ${required}`);
      } catch (error) {
        if (!(error instanceof UnknownSetting)) throw error;
        unknown ??= error.message;
      }
    }
    if (wrong.length > 0) {
      return `redisQueue: this Redis may lose events that got a 200. Change in redis.conf, and restart it:\n${wrong.join("\n")}\nOr set durability: "warn" to run like this.`;
    }
    if (unknown === undefined || durability === "provider") return undefined;
    return `redisQueue: this Redis does not say whether it keeps every event: ${unknown}. ${ADVICE}`;
  }

  async function checkServer(server: Redis): Promise<void> {
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
    const problem = await findDurabilityProblem(server);
    if (problem === undefined) return;
    if (durability !== "warn") throw new QueueError("REDIS_NOT_DURABLE", problem);
    if (problem === lastWarning) return;
    lastWarning = problem;
    warnOfRisk(problem, logger);
  }

  return async function checkSetup() {
    const servers = listServers(redis);
    if (servers.length === 0) throw new Error("The cluster has no primary.");
    for (const server of servers) await checkServer(server);
    isUnanswered = false;
  };
}

/** Returns the QueueError of a Redis that rejects a connection or a command, or else a plain Error. */
export function toConnectionError(error: unknown, { prefix }: RedisSettings): Error {
  if (error instanceof QueueError) return error;
  const words = describeRedisError(error);
  const { lastNodeError = error } = Object(error) as { lastNodeError?: unknown };
  const { code } = Object(lastNodeError) as NodeJS.ErrnoException;
  const isTls = isTlsCode(code);
  if (findRedisRejection(error) === undefined && !isTls) {
    return Object.assign(new Error(words), code !== undefined && { code });
  }
  const advice = isTls ? TLS_ADVICE : findAdvice(words, prefix);
  const message = `redisQueue: Redis rejects the queue: ${words.replace(/\.?$/, ".")} ${advice}`;
  return createRejectedError(message, createNeutralCause(error));
}

/** Creates the error of a URL with redis:// in place of rediss://, or the reverse. */
export function createTlsError(): QueueError {
  return createRejectedError(`redisQueue: connection and its port differ in TLS. ${TLS_ADVICE}`);
}

function createRejectedError(message: string, cause?: Error): QueueError {
  return new QueueError("REDIS_REJECTED", message, cause && { cause });
}

const TLS_ADVICE =
  "Use rediss:// for a port with TLS, and redis:// for one without. For a certificate of your own, pass connection: { host, port, tls: { ca } }.";

function findAdvice(words: string, prefix: string): string {
  if (/^NOPERM|ACL|permission|can't/.test(words)) {
    return `The user of connection needs these rights: ACL SETUSER <user> +@all -@dangerous +info +config|get ~${prefix}:* &${prefix}:*`;
  }
  if (/^(WRONGPASS|NOAUTH)\b|\b(auth|password)\b/i.test(words)) {
    return "Check username, password and the other options of connection.";
  }
  return "Check the options of connection, the commands that redis.conf renames, and any proxy: the queue needs every command of BullMQ, INFO included.";
}
