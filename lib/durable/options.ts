import {
  checkOptions,
  hasMethods,
  MAX_TIMER_MS,
  oneOf,
  wholeNumber,
  type OptionRules,
} from "../option-rules";
import type { Logger } from "../reports";
import { createSafeLogger } from "./safe-logger";

/** Options of a connection to Redis: those of ioredis, of which the usual ones are listed. */
export interface RedisConnectionOptions {
  host?: string | undefined;
  port?: number | undefined;
  username?: string | undefined;
  password?: string | undefined;
  /** The number of the database. */
  db?: number | undefined;
  /** Options of `tls.connect`. */
  tls?: object | undefined;
  sentinels?: readonly { host: string; port: number }[] | undefined;
  /** The name of the group of sentinels. */
  name?: string | undefined;
  [option: string]: unknown;
}

/** The pauses between the attempts of an event. */
export interface Backoff {
  /** `"exponential"`: each pause is twice the one before it. */
  type: "exponential" | "fixed";
  /** The first pause, in milliseconds. */
  delayMs: number;
  /** How much of a pause is random, from 0 to 1. @default 0 */
  jitter?: number | undefined;
}

/** Options of {@link durableQueue}. */
export interface DurableQueueOptions {
  /** Where Redis is: a URL, or options of ioredis. */
  connection: string | RedisConnectionOptions;
  /**
   * The name of the queue. Processes share the events of a queue: name it after the app and the
   * environment, so that staging and production on one Redis do not.
   */
  name: string;
  /** The beginning of every key. @default "push" */
  prefix?: string | undefined;
  /**
   * Whether Redis must be configured to lose nothing: store only then, warn, or trust that it is,
   * where a provider does not show the configuration. @default "require"
   */
  durability?: "require" | "warn" | "trust" | undefined;
  /** How many replicas must have an event before it counts as stored. @default 0 */
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
  /** How long an event is retried while Redis does not store it, in milliseconds. @default 8_000 */
  storeTimeoutMs?: number | undefined;
  /** How many events may be on their way into Redis. @default 5_000 */
  maxPending?: number | undefined;
  /** How long an outcome is kept, in milliseconds; at least dedupeTtlMs. @default dedupeTtlMs */
  outcomeTtlMs?: number | undefined;
  /** How many waits may be pending in this process. @default 10_000 */
  maxWaiting?: number | undefined;
  /** Logs outages of Redis and dead letters. @default nothing is logged */
  logger?: Logger | undefined;
}

/** Options with every default filled in. */
export interface DurableSettings {
  connection: string | RedisConnectionOptions;
  name: string;
  prefix: string;
  durability: "require" | "warn" | "trust";
  replicas: number;
  dedupeTtlMs: number;
  attempts: number;
  backoff: Backoff;
  storeTimeoutMs: number;
  maxPending: number;
  outcomeTtlMs: number;
  maxWaiting: number;
  logger: Logger | undefined;
}

const isObject = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isDelay = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;
// BullMQ joins names with colons.
const isName = (value: unknown) => typeof value === "string" && /^[^:\s]{1,100}$/.test(value);

const RULES: OptionRules<DurableQueueOptions> = {
  connection: {
    accepts: (value) =>
      typeof value === "string" ? /^rediss?:\/\/\S+$/i.test(value) : isObject(value),
    expected: 'a URL such as "redis://127.0.0.1:6379", or options of ioredis',
    required: true,
    secret: true,
  },
  name: {
    accepts: isName,
    expected:
      'the name of the queue, such as "shop-production": up to 100 characters without colons and spaces',
    required: true,
  },
  prefix: { accepts: isName, expected: "up to 100 characters without colons and spaces" },
  durability: oneOf("require", "warn", "trust"),
  replicas: wholeNumber(0, 100, "replicas"),
  dedupeTtlMs: wholeNumber(1_000, Number.MAX_SAFE_INTEGER, "milliseconds"),
  attempts: wholeNumber(1, 1_000, "attempts"),
  backoff: {
    accepts: (value) => isDelay(value) || isBackoff(value),
    expected:
      'milliseconds, or an object such as { type: "exponential", delayMs: 500, jitter: 0.5 }',
  },
  storeTimeoutMs: wholeNumber(0, MAX_TIMER_MS, "milliseconds"),
  maxPending: wholeNumber(1, 1_000_000, "events"),
  outcomeTtlMs: wholeNumber(1_000, Number.MAX_SAFE_INTEGER, "milliseconds"),
  maxWaiting: wholeNumber(1, 1_000_000, "waits"),
  logger: {
    accepts: (value) => hasMethods(value, ["debug", "info", "warn", "error"]),
    expected: "an object with the methods debug, info, warn and error, such as pino() or console",
  },
};

/**
 * Checks the options of a durable queue and fills in the defaults.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function resolveDurableOptions(options: DurableQueueOptions): DurableSettings {
  checkOptions("durableQueue", options, RULES);
  const { dedupeTtlMs = 86_400_000, outcomeTtlMs = dedupeTtlMs } = options;
  const { backoff = { type: "exponential", delayMs: 500, jitter: 0.5 } } = options;
  if (outcomeTtlMs < dedupeTtlMs) {
    throw new TypeError(
      `durableQueue: option outcomeTtlMs must be at least dedupeTtlMs, ${dedupeTtlMs}; received ${outcomeTtlMs}. A replay within dedupeTtlMs must meet the outcome.`,
    );
  }
  return {
    connection: options.connection,
    name: options.name,
    prefix: options.prefix ?? "push",
    durability: options.durability ?? "require",
    replicas: options.replicas ?? 0,
    dedupeTtlMs,
    attempts: options.attempts ?? 8,
    backoff: typeof backoff === "number" ? { type: "fixed", delayMs: backoff } : backoff,
    storeTimeoutMs: options.storeTimeoutMs ?? 8_000,
    maxPending: options.maxPending ?? 5_000,
    outcomeTtlMs,
    maxWaiting: options.maxWaiting ?? 10_000,
    logger: options.logger && createSafeLogger(options.logger),
  };
}

function isBackoff(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { type, delayMs, jitter = 0, ...others } = value as Record<string, unknown>;
  return (
    (type === "exponential" || type === "fixed") &&
    isDelay(delayMs) &&
    typeof jitter === "number" &&
    jitter >= 0 &&
    jitter <= 1 &&
    Object.keys(others).length === 0
  );
}
