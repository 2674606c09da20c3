import { oneOf, wholeNumber, type OptionRules } from "../../validation/validate-options";
import {
  isName,
  QUEUE_RULES,
  resolveQueueOptions,
  type QueueOptions,
  type QueueSettings,
} from "../queue-options";
import {
  CONNECTION_RULE,
  hasSentinels,
  isClusterConnection,
  type RedisConnection,
} from "./connection-option";

/** Options of `redisQueue`. */
export interface RedisQueueOptions extends QueueOptions {
  /**
   * The Redis that stores events: a URL, options of ioredis with `host`, `sentinels` or `cluster`, or
   * an instance of ioredis, which is duplicated.
   */
  connection: RedisConnection;
  /** The beginning of every key; in a cluster it becomes the hash tag `{push}`. @default "push" */
  prefix?: string | undefined;
  /**
   * The check that Redis loses no event that it confirmed (`appendonly yes`, `appendfsync always`,
   * `maxmemory-policy noeviction`). `"require"` stores nothing otherwise. `"provider"` does too, but
   * counts on the promise of a managed service for a setting that its Redis does not show. `"warn"`
   * logs a wrong or unknown setting. `"trust"` checks nothing. @default "require"
   */
  durability?: "require" | "provider" | "warn" | "trust" | undefined;
  /**
   * The number of replicas that must have an event before it counts as stored. `"all"`: each one that
   * is connected to the primary, and at least one. @default "all" with sentinels, otherwise 0
   */
  replicas?: number | "all" | undefined;
  /**
   * The number of dead letters that are kept. Beyond it, the oldest one is discarded; its uuid is kept
   * for the rest of dedupeTtlMs. @default 10_000
   */
  maxDeadLetters?: number | undefined;
  /**
   * Telemetry of BullMQ, such as `new BullMQOtel({ tracerName })` of the package bullmq-otel: spans of
   * its commands. `express-push-verification/otel` does not need it. @default none
   */
  telemetry?: object | undefined;
}

/** Options with every default filled in. */
export type RedisSettings = QueueSettings & {
  [Name in Exclude<keyof RedisQueueOptions, keyof QueueOptions | "telemetry">]-?: NonNullable<
    RedisQueueOptions[Name]
  >;
} & { telemetry: object | undefined };

const REPLICA_COUNT = wholeNumber(0, 100, "replicas");
const RULES: OptionRules<RedisQueueOptions> = {
  ...QUEUE_RULES,
  connection: CONNECTION_RULE,
  prefix: { accepts: isName, expected: "up to 100 characters without colons and spaces" },
  durability: oneOf("require", "provider", "warn", "trust"),
  replicas: {
    ...REPLICA_COUNT,
    accepts: (value) => value === "all" || REPLICA_COUNT.accepts(value),
    expected: `"all", or ${REPLICA_COUNT.expected}`,
  },
  maxDeadLetters: wholeNumber(1, 1_000_000, "dead letters"),
  telemetry: {
    accepts: (value) => ["tracer", "contextManager"].every((name) => name in Object(value)),
    expected: "the telemetry of BullMQ, such as new BullMQOtel() of the package bullmq-otel",
  },
};

/**
 * Validates the options of `redisQueue` and fills in the defaults.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function resolveRedisOptions(options: RedisQueueOptions): RedisSettings {
  const settings = resolveQueueOptions("redisQueue", options, RULES);
  return {
    ...settings,
    connection: options.connection,
    prefix: toKeyPrefix(options),
    durability: options.durability ?? "require",
    replicas: options.replicas ?? (hasSentinels(options.connection) ? "all" : 0),
    maxDeadLetters: options.maxDeadLetters ?? 10_000,
    telemetry: options.telemetry,
  };
}

/** A cluster keeps the keys of a script on one node only if they share a hash tag. */
function toKeyPrefix({ connection, prefix = "push" }: RedisQueueOptions): string {
  return isClusterConnection(connection) && !/\{.+\}/.test(prefix) ? `{${prefix}}` : prefix;
}
