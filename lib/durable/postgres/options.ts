import { hasMethods, isMembers, oneOf, wholeNumber } from "../../kit/validate-options";
import { findOptionProblem, HOST, PORT, TEXT } from "../connection-options";
import {
  resolveQueueOptions,
  type EngineSettings,
  type OwnRules,
  type QueueOptions,
} from "../queue-options";
import { readStoreUrl } from "../store-url";

/** Options of pg, of which the usual ones are listed. */
export interface PostgresConnectionOptions {
  /** A host name, or the folder of a Unix socket. */
  host?: string | undefined;
  /** @default as in pg: PGPORT, or 5432 */
  port?: number | string | undefined;
  /** @default as in pg: PGUSER, or the user of the process */
  user?: string | undefined;
  /** A text, or a function that pg calls for each connection, as for a token that expires. */
  password?: string | (() => string | Promise<string>) | undefined;
  /** @default as in pg: PGDATABASE, or the name of the user */
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

/** The package of the engine, with the oldest version that its tests pass with. */
export const PACKAGES = { pg: "8.11.3" };

/** Options with all defaults. */
export type PostgresSettings = EngineSettings<PostgresQueueOptions>;

const RULES: OwnRules<PostgresQueueOptions> = {
  connection: {
    accepts: (value) => findProblem(value) === undefined,
    expected:
      'a URL such as "postgres://user:password@127.0.0.1:5432/app", or options of pg; not a Pool or a Client',
    explain: (value) => findProblem(value) ?? "",
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

/** Returns the fault of a connection; "" for one that the rule names. */
function findProblem(value: unknown): string | undefined {
  if (typeof value === "string") return findUrlProblem(value);
  if (!isMembers(value) || hasMethods(value, ["query"])) return "";
  if ((value.connectionString ?? value.url) !== undefined) {
    return "Pass the URL itself as connection, not in an object.";
  }
  if (String(value.host).includes("://")) {
    return "host is a URL: pass the URL itself as connection.";
  }
  return findOptionProblem(value, OPTION_RULES);
}

const isSsl = (value: unknown) =>
  typeof value === "boolean" || isMembers(value) || value === "no-verify";

const OPTION_RULES = {
  host: HOST,
  port: PORT,
  user: TEXT,
  database: TEXT,
  password: [
    (value: unknown) => typeof value === "string" || typeof value === "function",
    "a text, or a function that returns one",
  ],
  ssl: [isSsl, "true, false, or an object such as { ca }"],
} as const;

const SSL_MODES = [
  "disable",
  "allow",
  "prefer",
  "require",
  "verify-ca",
  "verify-full",
  "no-verify",
];
/** In a URL they come before the options of the queue. */
const REFUSED_PARAMETERS = ["binary", "client_encoding", "query_timeout", "replication"];

function findUrlProblem(url: string): string | undefined {
  if (!/^postgres(ql)?:\/\//i.test(url)) return "It must begin with postgres://.";
  const read = readStoreUrl(url);
  if (typeof read === "string") return read;
  const {
    host = read.host,
    port = read.port,
    sslmode,
    ...others
  } = Object.fromEntries(read.parameters);
  const refused = REFUSED_PARAMETERS.find((name) => name in others);
  if (refused !== undefined) return `Remove its parameter ${refused}, which the queue sets itself.`;
  if (sslmode !== undefined && !SSL_MODES.includes(sslmode)) {
    return `Its sslmode must be one of ${SSL_MODES.join(", ")}.`;
  }
  // Without a host, pg takes PGHOST.
  return findOptionProblem({ host: host === "" ? undefined : host, port }, OPTION_RULES);
}
