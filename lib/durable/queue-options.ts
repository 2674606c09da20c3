import { adaptConsole, createLogger, type Logger } from "../kit/logger";
import { callSafely } from "../kit/safe-call";
import {
  MAX_TIMER_MS,
  oneOf,
  validateOptions,
  wholeNumber,
  type Complete,
  type OptionRule,
  type OptionRules,
} from "../kit/validate-options";
import { LOGGER } from "../kit/option-rules";
import * as z from "zod";

/** The pauses between the attempts of an event. */
export interface Backoff {
  /** `"exponential"`: each pause is twice the one before it. */
  type: "exponential" | "fixed";
  /** The first pause, in milliseconds. */
  delayMs: number;
  /** How much of a pause is random, from 0 to 1. @default 0 */
  jitter?: number | undefined;
}

/** Options that the queues of all three engines have. */
export interface QueueOptions {
  /**
   * The name of the queue, after the app and the environment: processes share the events of a queue,
   * and staging and production must not.
   */
  name: string;
  /** How long a uuid is kept, in milliseconds: the replay window. @default 86_400_000 (24 h) */
  dedupeTtlMs?: number | undefined;
  /** How often the handlers of an event run before it is a dead letter. @default 8 */
  attempts?: number | undefined;
  /**
   * The pauses between attempts, or a fixed one in milliseconds.
   * @default { type: "exponential", delayMs: 500, jitter: 0.5 }
   */
  backoff?: number | Backoff | undefined;
  /** How long an event is retried while it cannot be stored, in milliseconds. @default 8_000 */
  storeTimeoutMs?: number | undefined;
  /** How many events may be on their way into the store. @default 5_000 */
  maxPending?: number | undefined;
  /** How long an outcome is kept, in milliseconds; at least dedupeTtlMs. @default dedupeTtlMs */
  outcomeTtlMs?: number | undefined;
  /** How many waits may be pending in this process. @default 10_000 */
  maxWaiting?: number | undefined;
  /**
   * Whether the store keeps the history that the console shows: requests, attempts and changes, masked,
   * 2,000 of each kind for 24 hours.
   * @default true
   */
  journal?: boolean | undefined;
  /**
   * Logs outages of the store, failures of workers, and dead letters.
   * @default none: a store that cannot be used emits a process warning, such as `QUEUE_FILE`,
   * `POSTGRES_UNREACHABLE` or `REDIS_UNREACHABLE`; dead letters emit none
   */
  logger?: Logger | undefined;
}

/** {@link QueueOptions} with all defaults. */
export type QueueSettings = Complete<Omit<QueueOptions, "backoff" | "logger">> & {
  backoff: Backoff;
  logger: Logger | undefined;
};

/** The options of an engine with all defaults. */
export type EngineSettings<Options extends QueueOptions> = QueueSettings &
  Complete<Omit<Options, keyof QueueOptions>>;

/** Returns whether a value may be a part of a key: colons separate them. */
export function isName(value: unknown): boolean {
  return typeof value === "string" && /^[^:\s]{1,100}$/.test(value);
}

const DELAY_MS = wholeNumber(0, MAX_TIMER_MS, "milliseconds");
const BACKOFF_SCHEMA = z.strictObject({
  type: z.enum(["exponential", "fixed"]),
  delayMs: z.int().min(0).max(MAX_TIMER_MS),
  jitter: z.number().min(0).max(1).optional(),
});
const BACKOFF: OptionRule = {
  accepts: (value) => DELAY_MS.accepts(value) || BACKOFF_SCHEMA.safeParse(value).success,
  expected: `${DELAY_MS.expected}, or an object such as { type: "exponential", delayMs: 500, jitter: 0.5 }`,
};

/** The rules of the options of one engine only. */
export type OwnRules<Options extends QueueOptions> = OptionRules<Omit<Options, keyof QueueOptions>>;

const QUEUE_RULES: OptionRules<QueueOptions> = {
  name: {
    accepts: isName,
    expected:
      'the name of the queue, such as "shop-production": up to 100 characters without colons and spaces',
    required: true,
  },
  dedupeTtlMs: wholeNumber(1_000, Number.MAX_SAFE_INTEGER, "milliseconds"),
  attempts: wholeNumber(1, 1_000, "attempts"),
  backoff: BACKOFF,
  storeTimeoutMs: wholeNumber(0, MAX_TIMER_MS, "milliseconds"),
  maxPending: wholeNumber(1, 1_000_000, "events"),
  outcomeTtlMs: wholeNumber(1_000, Number.MAX_SAFE_INTEGER, "milliseconds"),
  maxWaiting: wholeNumber(1, 1_000_000, "waits"),
  journal: oneOf(true, false),
  logger: LOGGER,
};

const DEFAULTS = {
  dedupeTtlMs: 86_400_000,
  attempts: 8,
  backoff: { type: "exponential", delayMs: 500, jitter: 0.5 },
  storeTimeoutMs: 8_000,
  maxPending: 5_000,
  maxWaiting: 10_000,
  journal: true,
} as const satisfies Partial<QueueOptions>;

/**
 * Validates the options of an engine, and fills in the defaults.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function resolveQueueOptions<Options extends QueueOptions>(
  owner: string,
  options: Options,
  ownRules: OwnRules<Options>,
  defaults: Partial<Options> = {},
): EngineSettings<Options> {
  const rules = { ...QUEUE_RULES, ...ownRules } as unknown as OptionRules<Options>;
  validateOptions(owner, options, rules);
  const names = Object.keys(rules) as (keyof Options & string)[];
  const given = names.filter((name) => options[name] !== undefined);
  const known: object = Object.fromEntries(given.map((name) => [name, options[name]]));
  const settings = { ...DEFAULTS, ...defaults, ...(known as Options) };
  const { backoff, dedupeTtlMs, outcomeTtlMs = dedupeTtlMs, logger } = settings;
  if (outcomeTtlMs < dedupeTtlMs) {
    throw new TypeError(
      `${owner}: option outcomeTtlMs must be at least dedupeTtlMs, ${dedupeTtlMs}; received ${outcomeTtlMs}. A replay within dedupeTtlMs must meet the outcome.`,
    );
  }
  return {
    ...settings,
    outcomeTtlMs,
    backoff: typeof backoff === "number" ? { type: "fixed", delayMs: backoff } : backoff,
    logger: logger && createSafeLogger(logger),
  } as unknown as EngineSettings<Options>;
}

/** An error of the app's logger in a listener of a connection would end the process. */
function createSafeLogger(logger: Logger): Logger {
  const adapted = adaptConsole(logger);
  return createLogger((level, fields, message) =>
    callSafely(logger, () => adapted[level](fields, message)),
  );
}

/** Warns that a store may lose events: the logger, or the process. */
export function warnOfRisk(risk: string, logger: Logger | undefined): void {
  if (logger === undefined) process.emitWarning(risk, { type: "DurabilityWarning" });
  else logger.warn({}, risk);
}
