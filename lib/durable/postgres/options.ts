import type { Logger } from "../../observability/logger";
import {
  hasMethods,
  oneOf,
  wholeNumber,
  type OptionRules,
} from "../../validation/validate-options";
import type { Backoff } from "../backoff";
import { QUEUE_RULES, resolveQueueOptions, type QueueSettings } from "../queue-options";

/** Options of a connection to Postgres: those of pg, of which the usual ones are listed. */
export interface PostgresConnectionOptions {
  /** A host name, or the folder of a Unix socket. */
  host?: string | undefined;
  port?: number | undefined;
  user?: string | undefined;
  /** The password, or a function that pg calls for each connection, as for a token that expires. */
  password?: string | (() => string | Promise<string>) | undefined;
  database?: string | undefined;
  /** Options of `tls.connect`, or whether to use TLS. */
  ssl?: boolean | object | undefined;
  [option: string]: unknown;
}

/** Options of `postgresQueue`. */
export interface PostgresQueueOptions {
  /** Where Postgres is: a URL, or options of pg. Not a pgbouncer in transaction mode. */
  connection: string | PostgresConnectionOptions;
  /**
   * The name of the queue. Processes share the events of a queue: name it after the app and the
   * environment, so that staging and production in one schema do not.
   */
  name: string;
  /** The schema of the tables and of Graphile Worker; created when missing. @default "push" */
  schema?: string | undefined;
  /**
   * Whether Postgres must be configured to lose nothing: store only then, warn, or trust that it is.
   * @default "require"
   */
  durability?: "require" | "warn" | "trust" | undefined;
  /** How many connections this process opens beside the one that listens. @default 10 */
  maxConnections?: number | undefined;
  /** How long a uuid is kept, in milliseconds: the replay window. @default 86_400_000 (24 h) */
  dedupeTtlMs?: number | undefined;
  /** How often the handlers of an event run before it is a dead letter. @default 8 */
  attempts?: number | undefined;
  /**
   * The pauses between attempts, or a fixed one in milliseconds.
   * @default { type: "exponential", delayMs: 500, jitter: 0.5 }
   */
  backoff?: number | Backoff | undefined;
  /** How long an event is retried while Postgres does not store it, in milliseconds. @default 8_000 */
  storeTimeoutMs?: number | undefined;
  /** How many events may be on their way into Postgres. @default 5_000 */
  maxPending?: number | undefined;
  /** How long an outcome is kept, in milliseconds; at least dedupeTtlMs. @default dedupeTtlMs */
  outcomeTtlMs?: number | undefined;
  /** How many waits may be pending in this process. @default 10_000 */
  maxWaiting?: number | undefined;
  /**
   * Logs outages of Postgres and dead letters.
   * @default none: a Postgres that cannot be used emits a process warning, such as
   * `POSTGRES_UNREACHABLE`; dead letters emit none
   */
  logger?: Logger | undefined;
}

/** Options with every default filled in. */
export interface PostgresSettings extends QueueSettings {
  connection: string | PostgresConnectionOptions;
  schema: string;
  durability: "require" | "warn" | "trust";
  maxConnections: number;
}

const RULES: OptionRules<PostgresQueueOptions> = {
  ...QUEUE_RULES,
  connection: {
    accepts: isConnection,
    expected:
      'a URL such as "postgres://user:password@127.0.0.1:5432/app", or options of pg; not a Pool or a Client',
    required: true,
    secret: true,
  },
  schema: {
    accepts: (value) => typeof value === "string" && /^(?!pg_)[a-z_][a-z0-9_]{0,40}$/.test(value),
    expected: "up to 41 lower-case letters, digits and underscores; not pg_…",
  },
  durability: oneOf("require", "warn", "trust"),
  maxConnections: wholeNumber(3, 1_000, "connections"),
};

/**
 * Validates the options of `postgresQueue` and fills in the defaults.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function resolvePostgresOptions(options: PostgresQueueOptions): PostgresSettings {
  const settings = resolveQueueOptions("postgresQueue", options, RULES);
  return {
    ...settings,
    connection: options.connection,
    schema: options.schema ?? "push",
    durability: options.durability ?? "require",
    maxConnections: options.maxConnections ?? 10,
  };
}

function isConnection(value: unknown): boolean {
  if (typeof value === "string") return /^postgres(ql)?:\/\/\S+$/i.test(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !hasMethods(value, ["query"]);
}
