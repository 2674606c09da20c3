import type { BackoffOptions } from "bullmq";
import type { RedisOptions } from "ioredis";
import {
  checkOptions,
  hasMethods,
  MAX_TIMER_MS,
  oneOf,
  wholeNumber,
  type OptionRules,
} from "../option-rules";
import type { Logger } from "../reports";

/** How events are kept. */
export interface DurableQueueOptions {
  /** Where Redis is: a URL, or options of ioredis. */
  connection: string | RedisOptions;
  /** The name of the queue at BullMQ. @default "push-webhooks" */
  name?: string;
  /** What every key begins with. @default "push" */
  prefix?: string;
  /**
   * Whether Redis must be set up so that it loses nothing: refuse to store unless it is, warn, or
   * trust that it is, where a provider does not let one look. @default "require"
   */
  durability?: "require" | "warn" | "trust";
  /** How many replicas must have an event, too, before it counts as stored. @default 0 */
  replicas?: number;
  /** How long a uuid is remembered, in milliseconds: also the replay window. @default 86_400_000 */
  dedupeTtlMs?: number;
  /** How often an event's handlers are run before it is a dead letter. @default 8 */
  attempts?: number;
  /** The pauses between the runs, as BullMQ has them; or a fixed one in milliseconds. @default exponential, 500 ms, jitter 0.5 */
  backoff?: number | BackoffOptions;
  /** How long a call is held while Redis does not store it, in milliseconds. @default 8_000 */
  holdMs?: number;
  /** How many calls are on their way into Redis at a time. @default 5_000 */
  maxHeld?: number;
  /** How long the outcome of a challenge is kept, in milliseconds. @default 3_600_000 */
  outcomeTtlMs?: number;
  /** How many may wait for challenges at a time in this process. @default 10_000 */
  maxWaiting?: number;
  /** Where to log what Redis and the workers do. @default nothing is logged */
  logger?: Logger;
}

/** Options with every default filled in. */
export type DurableSettings = Required<Omit<DurableQueueOptions, "logger">> & {
  logger: Logger | undefined;
};

const isObject = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value);
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
  name: { accepts: isName, expected: "up to 100 characters without colons and spaces" },
  prefix: { accepts: isName, expected: "up to 100 characters without colons and spaces" },
  durability: oneOf("require", "warn", "trust"),
  replicas: wholeNumber(0, 100, "replicas"),
  dedupeTtlMs: wholeNumber(1_000, Number.MAX_SAFE_INTEGER, "milliseconds"),
  attempts: wholeNumber(1, 1_000, "attempts"),
  backoff: {
    accepts: (value) =>
      (Number.isInteger(value) && Number(value) >= 0) ||
      (isObject(value) && "type" in (value as object)),
    expected:
      'a number of milliseconds, or options of BullMQ such as { type: "exponential", delay: 500 }',
  },
  holdMs: wholeNumber(0, MAX_TIMER_MS, "milliseconds"),
  maxHeld: wholeNumber(1, 1_000_000, "calls"),
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
  return {
    connection: options.connection,
    name: options.name ?? "push-webhooks",
    prefix: options.prefix ?? "push",
    durability: options.durability ?? "require",
    replicas: options.replicas ?? 0,
    dedupeTtlMs: options.dedupeTtlMs ?? 86_400_000,
    attempts: options.attempts ?? 8,
    backoff: options.backoff ?? { type: "exponential", delay: 500, jitter: 0.5 },
    holdMs: options.holdMs ?? 8_000,
    maxHeld: options.maxHeld ?? 5_000,
    outcomeTtlMs: options.outcomeTtlMs ?? 3_600_000,
    maxWaiting: options.maxWaiting ?? 10_000,
    logger: options.logger,
  };
}
