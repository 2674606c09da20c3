import type { Redis } from "ioredis";
import { DurabilityError } from "./durability-error";
import type { DurableSettings } from "./options";

/** What redis.conf must say: with `everysec` a power cut loses what the last second stored. */
const REQUIRED = {
  appendonly: "yes",
  appendfsync: "always",
  "maxmemory-policy": "noeviction",
} as const;

/**
 * Checks that Redis loses nothing that it has confirmed.
 *
 * @throws DurabilityError when it may and `durability` is `"require"`; what the connection throws.
 */
export async function checkDurability(redis: Redis, settings: DurableSettings): Promise<void> {
  const { durability, logger } = settings;
  if (durability === "trust") return;
  const problem = await findProblem(redis);
  if (problem === undefined) return;
  if (durability === "require") throw new DurabilityError(problem);
  if (logger === undefined) process.emitWarning(problem, { type: "DurabilityWarning" });
  else logger.warn({}, problem);
}

async function findProblem(redis: Redis): Promise<string | undefined> {
  const found = await readSettings(redis);
  if (found === undefined) {
    return 'durableQueue: this Redis does not say how it is set up (CONFIG GET is denied). Check at its provider that it has appendonly yes, appendfsync always and maxmemory-policy noeviction, and set durability: "trust".';
  }
  const wrong = Object.entries(REQUIRED).filter(([name, value]) => found.get(name) !== value);
  if (wrong.length === 0) return undefined;
  const lines = wrong.map(([name, value]) => `  ${name} ${value}`).join("\n");
  return `durableQueue: this Redis may lose events that were answered 200. Change in redis.conf, and restart it:\n${lines}\nOr set durability: "warn" to run like this.`;
}

async function readSettings(redis: Redis): Promise<Map<string, string> | undefined> {
  const found = new Map<string, string>();
  try {
    for (const name of Object.keys(REQUIRED)) {
      const [, value = ""] = await redis.config("GET", name);
      found.set(name, value);
    }
  } catch (error) {
    if (/^(NOPERM|ERR unknown command)/i.test((error as Error).message)) return undefined;
    throw error;
  }
  return found;
}
