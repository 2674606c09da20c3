import type { Redis } from "ioredis";
import { describeRedisError } from "./connection";
import { QueueError } from "../queue-error";
import type { RedisSettings } from "./options";
import { findRedisRejection } from "./redis-reply";

/** The lines that redis.conf must have: with `everysec` a power cut loses the last second. */
const REQUIRED = {
  appendonly: "yes",
  appendfsync: "always",
  "maxmemory-policy": "noeviction",
} as const;
const ADVICE =
  'With a managed service, check that it keeps every confirmed write (appendonly yes, appendfsync always or a transaction log, maxmemory-policy noeviction), then set durability: "provider".';

/**
 * Creates the check that a server loses nothing that it has confirmed. A problem is logged once.
 *
 * @throws (by the check) QueueError when Redis may lose events and `durability` is `"require"`,
 *   or `"provider"` and Redis shows a wrong setting.
 */
export function createDurabilityCheck(settings: RedisSettings) {
  const { durability, logger } = settings;
  let lastReported: string | undefined;

  function report(problem: string): void {
    if (problem === lastReported) return;
    lastReported = problem;
    if (logger === undefined) process.emitWarning(problem, { type: "DurabilityWarning" });
    else logger.warn({}, problem);
  }

  async function findProblem(server: Redis): Promise<string | undefined> {
    const wrong: string[] = [];
    let unknown: string | undefined;
    for (const [name, required] of Object.entries(REQUIRED)) {
      const value = await readSetting(server, name);
      if (typeof value !== "string") unknown ??= value.reason;
      else if (value !== required) wrong.push(`  ${name} ${required}`);
    }
    if (wrong.length > 0) {
      return `redisQueue: this Redis may lose events that got a 200. Change in redis.conf, and restart it:\n${wrong.join("\n")}\nOr set durability: "warn" to run like this.`;
    }
    if (unknown === undefined || durability === "provider") return undefined;
    return `redisQueue: this Redis does not say whether it keeps every event: ${unknown}. ${ADVICE}`;
  }

  return async function checkDurability(server: Redis): Promise<void> {
    if (durability === "trust") return;
    const problem = await findProblem(server);
    if (problem === undefined) return;
    if (durability !== "warn") throw new QueueError("REDIS_NOT_DURABLE", problem);
    report(problem);
  };
}

async function readSetting(server: Redis, name: string): Promise<string | Unknown> {
  try {
    const [, value] = (await server.config("GET", name)) as (string | undefined)[];
    return value ?? { reason: `CONFIG GET ${name} replied nothing` };
  } catch (error) {
    if (findRedisRejection(error) === undefined) throw error;
    return { reason: `CONFIG GET ${name} replied "${describeRedisError(error)}"` };
  }
}

/** A setting that Redis does not show. */
interface Unknown {
  reason: string;
}
