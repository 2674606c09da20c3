import { isMembers } from "../../core/door";
import { hasMethods, oneOf, wholeNumber } from "../../kit/validate-options";
import {
  resolveQueueOptions,
  type EngineSettings,
  type OwnRules,
  type QueueOptions,
} from "../queue-options";

/** Options of a connection to Postgres: those of pg, of which the usual ones are listed. */
export interface PostgresConnectionOptions {
  /** A host name, or the folder of a Unix socket. */
  host?: string | undefined;
  /** The port. @default that of pg: PGPORT, or 5432 */
  port?: number | undefined;
  /** The user. @default that of pg: PGUSER, or the user of the process */
  user?: string | undefined;
  /** The password, or a function that pg calls for each connection, as for a token that expires. */
  password?: string | (() => string | Promise<string>) | undefined;
  /** The database. @default that of pg: PGDATABASE, or the name of the user */
  database?: string | undefined;
  /** Options of `tls.connect`, or whether to use TLS. */
  ssl?: boolean | object | undefined;
  [option: string]: unknown;
}

/** Options of `postgresQueue`. */
export interface PostgresQueueOptions extends QueueOptions {
  /** Where Postgres is: a URL, or options of pg. Not a pgbouncer in transaction mode. */
  connection: string | PostgresConnectionOptions;
  /** The schema of the tables; created when missing. @default "push" */
  schema?: string | undefined;
  /** Whether to create a schema and a queue that are missing; otherwise `ready()` rejects. @default true */
  create?: boolean | undefined;
  /**
   * Whether Postgres must be configured to lose nothing. `"require"` stores only then; `"provider"`
   * does too, but a service may keep confirmed writes without `fsync` and `full_page_writes`;
   * `"warn"` logs it; `"trust"` does not look.
   * @default "require"
   */
  durability?: "require" | "provider" | "warn" | "trust" | undefined;
  /** How many connections this process opens, at least 3, beside the one that listens. @default 10 */
  maxConnections?: number | undefined;
}

/** Options with every default filled in. */
export type PostgresSettings = EngineSettings<PostgresQueueOptions>;

const RULES: OwnRules<PostgresQueueOptions> = {
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
  create: oneOf(true, false),
  durability: oneOf("require", "provider", "warn", "trust"),
  maxConnections: wholeNumber(3, 1_000, "connections"),
};

/** Validates the options of `postgresQueue` and fills in the defaults; throws TypeError. */
export function resolvePostgresOptions(options: PostgresQueueOptions): PostgresSettings {
  return resolveQueueOptions("postgresQueue", options, RULES, {
    schema: "push",
    create: true,
    durability: "require",
    maxConnections: 10,
  });
}

function isConnection(value: unknown): boolean {
  if (typeof value === "string") return /^postgres(ql)?:\/\/\S+$/i.test(value);
  return isMembers(value) && !hasMethods(value, ["query"]);
}
