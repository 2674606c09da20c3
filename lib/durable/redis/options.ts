import { oneOf, wholeNumber, type OptionRules } from "../../validation/validate-options";
import type { Logger } from "../../observability/logger";
import type { Backoff } from "../backoff";
import { isName, QUEUE_RULES, resolveQueueOptions, type QueueSettings } from "../queue-options";
import {
  CONNECTION_RULE,
  hasSentinels,
  isClusterConnection,
  type RedisConnection,
} from "./connection-option";

/** Options of `redisQueue`. */
export interface DurableQueueOptions {
  /**
   * The Redis that stores events: a URL, options of ioredis with `host`, `sentinels` or `cluster`, or
   * an instance of ioredis, which is duplicated.
   */
  connection: RedisConnection;
  /**
   * The name of the queue. Processes share the events of a queue: name it after the app and the
   * environment, so that staging and production on one Redis do not.
   */
  name: string;
  /** The beginning of every key; in a cluster it becomes the hash tag `{push}`. @default "push" */
  prefix?: string | undefined;
  /**
   * The check that Redis loses no event that it confirmed (`appendonly yes`, `appendfsync always`,
   * `maxmemory-policy noeviction`). `"require"` stores nothing otherwise. `"provider"` does too, but
   * counts on the promise of a managed service for a setting that its Redis does not show. `"warn"`
   * logs a wrong or unknown setting. `"trust"` does not ask. @default "require"
   */
  durability?: "require" | "provider" | "warn" | "trust" | undefined;
  /**
   * The number of replicas that must have an event before it counts as stored.
   * @default 1 with sentinels, otherwise 0
   */
  replicas?: number | undefined;
  /** How long a uuid is kept, in milliseconds: the replay window. @default 86_400_000 (24 h) */
  dedupeTtlMs?: number | undefined;
  /** How often the handlers of an event run before it is a dead letter. @default 8 */
  attempts?: number | undefined;
  /**
   * The pauses between attempts, or a fixed one in milliseconds.
   * @default { type: "exponential", delayMs: 500, jitter: 0.5 }
   */
  backoff?: number | Backoff | undefined;
  /**
   * The number of dead letters that are kept. Beyond it, the oldest one of the account that has the
   * most is discarded and logged; its uuid stays known for the rest of dedupeTtlMs. @default 10_000
   */
  maxDeadLetters?: number | undefined;
  /** How long an operation is retried while Redis fails, in milliseconds. @default 8_000 */
  storeTimeoutMs?: number | undefined;
  /** The number of events that may be on their way into Redis. @default 5_000 */
  maxPending?: number | undefined;
  /** How long an outcome is kept, in milliseconds; at least dedupeTtlMs. @default dedupeTtlMs */
  outcomeTtlMs?: number | undefined;
  /** The number of waits that may be pending in this process. @default 10_000 */
  maxWaiting?: number | undefined;
  /**
   * Logs outages of Redis, failures of workers and dead letters.
   * @default none: a Redis that cannot be used emits a process warning, such as
   * `REDIS_UNREACHABLE`; dead letters emit none
   */
  logger?: Logger | undefined;
}

/** Options with every default filled in. */
export interface DurableSettings extends QueueSettings {
  connection: RedisConnection;
  prefix: string;
  durability: "require" | "provider" | "warn" | "trust";
  replicas: number;
  maxDeadLetters: number;
}

const RULES: OptionRules<DurableQueueOptions> = {
  ...QUEUE_RULES,
  connection: CONNECTION_RULE,
  prefix: { accepts: isName, expected: "up to 100 characters without colons and spaces" },
  durability: oneOf("require", "provider", "warn", "trust"),
  replicas: wholeNumber(0, 100, "replicas"),
  maxDeadLetters: wholeNumber(1, 1_000_000, "dead letters"),
};

/**
 * Validates the options of `redisQueue` and fills in the defaults.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function resolveDurableOptions(options: DurableQueueOptions): DurableSettings {
  const settings = resolveQueueOptions("redisQueue", options, RULES);
  return {
    ...settings,
    connection: options.connection,
    prefix: toKeyPrefix(options),
    durability: options.durability ?? "require",
    replicas: options.replicas ?? (hasSentinels(options.connection) ? 1 : 0),
    maxDeadLetters: options.maxDeadLetters ?? 10_000,
  };
}

/** A cluster keeps the keys of a script on one node only if they share a hash tag. */
function toKeyPrefix({ connection, prefix = "push" }: DurableQueueOptions): string {
  return isClusterConnection(connection) && !/\{.+\}/.test(prefix) ? `{${prefix}}` : prefix;
}
