import type { Redis } from "ioredis";
import type { Migrations } from "../event-migration";
import { createFormat, planMigration, readFormat, type MigrationPlan } from "../store-migration";
import { findRedisRejection } from "./connection";
import type { RedisSettings } from "./options";

/** The changes of the keys since the first format, as Lua: `ARGV[1]` is how they begin. */
const MIGRATIONS: Migrations<string> = {};

/** Writes the numbers after the changes, unless another process has. */
const writeNumbers = (steps: readonly string[]) => `
  if redis.call("HGET", KEYS[1], "schema") ~= (ARGV[2] ~= "" and ARGV[2]) then
    return
  end
  ${steps.join("\n")}
  redis.call("HSET", KEYS[1], "schema", ARGV[3], "events", ARGV[4], "writtenBy", ARGV[5])`;

/**
 * Migrates the keys of a queue to this version; one without a format is empty.
 *
 * @throws QueueError `REDIS_NEWER`, `REDIS_OLDER`.
 */
export async function prepareFormat(
  redis: Redis,
  { head }: Pick<RedisSettings, "head">,
  migrations = MIGRATIONS,
): Promise<void> {
  const key = `${head}:format`;
  const [found, events, writtenBy] = await redis.hmget(key, "schema", "events", "writtenBy");
  const store = { engine: "REDIS", what: `redisQueue: the queue ${head}` } as const;
  const { steps, format }: MigrationPlan<string> =
    typeof found === "string"
      ? planMigration(store, readFormat(found, events, writtenBy), migrations)
      : { steps: [], format: createFormat(migrations) };
  if (format === undefined) return;
  const numbers = [format.schema, format.events, format.writtenBy];
  // The next connection to a full Redis tries again.
  const values = [head, found ?? "", ...numbers];
  await redis.eval(writeNumbers(steps), 1, key, ...values).catch((error: unknown) => {
    if (findRedisRejection(error)?.message.startsWith("OOM ") !== true) throw error;
  });
}
