import { hasMethods, isMembers, oneOf, wholeNumber } from "../../kit/validate-options";
import { findOptionProblem, HOST, isCount, PORT, TEXT } from "../connection-options";
import {
  isName,
  resolveQueueOptions,
  type EngineSettings,
  type OwnRules,
  type QueueOptions,
} from "../queue-options";
import { readStoreUrl } from "../store-url";

interface ServerAddress {
  host: string;
  port: number;
}

/** Options of ioredis, of which the usual ones are listed. */
export interface RedisConnectionOptions {
  /** A URL; other options come before its parts. */
  url?: string | undefined;
  host?: string | undefined;
  port?: number | string | undefined;
  username?: string | undefined;
  password?: string | undefined;
  /** The number of the database. */
  db?: number | undefined;
  /** Options of `tls.connect`. */
  tls?: object | undefined;
  /** They know the primary; `name` is required with them. */
  sentinels?: readonly ServerAddress[] | undefined;
  /** The name of the group of sentinels. */
  name?: string | undefined;
  /** Some nodes of a Redis Cluster; the others are discovered. */
  cluster?: readonly ServerAddress[] | undefined;
  [option: string]: unknown;
}

/** A `Redis` or `Cluster` of ioredis. The queue duplicates it, and neither uses nor closes it. */
export interface RedisInstance {
  readonly isCluster: boolean;
  readonly options: object;
  /** Called once for each connection. */
  duplicate(...args: never[]): unknown;
  /** BullMQ calls it, on a duplicate only. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): unknown;
}

type RedisConnection = string | RedisConnectionOptions | RedisInstance;

/** Options of `redisQueue`. */
export interface RedisQueueOptions extends QueueOptions {
  /** A URL, options of ioredis with `host`, `sentinels` or `cluster`, or an instance of ioredis. */
  connection: RedisConnection;
  /** How every key begins; in a cluster the hash tag `{push}`. @default "push" */
  prefix?: string | undefined;
  /**
   * The check that Redis loses no event that it confirmed (`appendonly yes`, `appendfsync always`,
   * `maxmemory-policy noeviction`). `"require"` stores nothing otherwise. `"provider"` does too, but
   * counts on the promise of a managed service for a setting that its Redis does not show. `"warn"`
   * logs a wrong or unknown setting. `"trust"` checks nothing. @default "require"
   */
  durability?: "require" | "provider" | "warn" | "trust" | undefined;
  /**
   * How many replicas must have an event before it counts as stored. `"all"`: each that is connected to
   * the primary, and at least one. @default "all" with sentinels, otherwise 0
   */
  replicas?: number | "all" | undefined;
}

/** Options with all defaults; a URL was read. */
export type RedisSettings = Omit<EngineSettings<RedisQueueOptions>, "connection"> & {
  connection: RedisConnectionOptions | RedisInstance;
  /** How the keys of the queue begin, without the colon. */
  head: string;
};

/** The packages of the engine, each with the oldest version that its tests pass with. */
export const PACKAGES = { bullmq: "5.17.1", ioredis: "5.4.1" };

const REPLICA_COUNT = wholeNumber(0, 100, "replicas");
const RULES: OwnRules<RedisQueueOptions> = {
  connection: {
    accepts: (value) => findProblem(value) === undefined,
    expected: 'a URL such as "redis://127.0.0.1:6379", options of ioredis, or an ioredis instance',
    explain: (value) => findProblem(value) ?? "",
    required: true,
    secret: true,
  },
  prefix: { accepts: isName, expected: "up to 100 characters without colons and spaces" },
  durability: oneOf("require", "provider", "warn", "trust"),
  replicas: {
    accepts: (value) => value === "all" || REPLICA_COUNT.accepts(value),
    expected: `"all", or ${REPLICA_COUNT.expected}`,
  },
};

/** Validates the options of `redisQueue` and fills in the defaults; throws TypeError. */
export function resolveRedisOptions(options: RedisQueueOptions): RedisSettings {
  const settings = resolveQueueOptions("redisQueue", options, RULES, {
    prefix: "push",
    durability: "require",
  });
  const connection = withoutUrl(settings.connection);
  const replicas = options.replicas ?? (hasSentinels(connection) ? "all" : 0);
  const prefix = toKeyPrefix(connection, settings.prefix);
  return { ...settings, connection, replicas, prefix, head: `${prefix}:${settings.name}` };
}

/** Replaces a valid URL by the options of its parts. */
function withoutUrl(connection: RedisConnection): RedisSettings["connection"] {
  if (isRedisInstance(connection)) return connection;
  const { url, ...options } = typeof connection === "string" ? { url: connection } : connection;
  return url === undefined ? options : { ...(readUrl(url) as RedisConnectionOptions), ...options };
}

/** Reads a URL into options of ioredis, whose versions differ in this, or returns its mistake. */
function readUrl(url: unknown): RedisConnectionOptions | string {
  if (typeof url !== "string" || !/^rediss?:\/\//i.test(url)) {
    return "It must begin with redis:// or, for TLS, rediss://.";
  }
  const read = readStoreUrl(url);
  if (typeof read === "string") return read;
  const { user, password, host, port = 6379, path, parameters } = read;
  if (host === "" || host.includes("/")) {
    return 'It has no host; pass { path: "/run/redis.sock" } for a Unix socket.';
  }
  const { db = path.replace(/^$/, "0"), family = "0", ...others } = Object.fromEntries(parameters);
  const [other] = Object.keys(others);
  if (other !== undefined) {
    return "It has a parameter other than db and family: pass it as an option of ioredis, in an object.";
  }
  if (!isCount(db)) return "After the host, it has no number of a database, such as /0.";
  if (!/^[046]$/.test(family)) return "Its parameter family must be 4, 6, or 0 for both.";
  return {
    host,
    port,
    db: Number(db),
    family: Number(family),
    ...(user !== "" && { username: user }),
    ...(password !== "" && { password }),
    ...(/^rediss/i.test(url) && { tls: {} }),
  };
}

/** In a cluster, keys with one hash tag are on one node. */
function toKeyPrefix(connection: RedisConnection, prefix: string): string {
  const { isCluster = optionsOf(connection).cluster !== undefined } = Object(connection) as {
    isCluster?: boolean;
  };
  return isCluster && !/\{.+\}/.test(prefix) ? `{${prefix}}` : prefix;
}

const isClient = (value: unknown) => hasMethods(value, ["connect", "disconnect", "duplicate"]);

/** Returns whether a value is an instance of ioredis. */
export function isRedisInstance(value: unknown): value is RedisInstance {
  return isClient(value) && hasMethods(value, ["defineCommand"]);
}

/** Returns the options of a connection; none of a URL. */
function optionsOf(connection: unknown): RedisConnectionOptions {
  return Object(
    isRedisInstance(connection) ? connection.options : connection,
  ) as RedisConnectionOptions;
}

/** Returns whether sentinels name the primary of a connection. */
export function hasSentinels(connection: RedisConnection): boolean {
  return (optionsOf(connection).sentinels ?? []).length > 0;
}

/** Returns the fault of a connection; "" for one that the rule names. */
function findProblem(value: unknown): string | undefined {
  if (typeof value === "string") {
    const read = readUrl(value);
    return typeof read === "string" ? read : undefined;
  }
  if (!isMembers(value)) return "";
  if (isClient(value) && !isRedisInstance(value)) {
    return "This client is not one of ioredis: pass the URL or the options of its server.";
  }
  const options = optionsOf(value);
  if (options.url !== undefined && !isRedisInstance(value)) {
    const read = readUrl(options.url);
    if (typeof read === "string") return read;
  }
  if (String(options.host).includes("://")) {
    return "host is a URL: pass the URL itself as connection.";
  }
  const problem = isRedisInstance(value) ? undefined : findOptionProblem(options, OPTION_RULES);
  if (problem !== undefined) return problem;
  if ((options.keyPrefix ?? "") !== "") {
    return "BullMQ does not support keyPrefix: use the option prefix of the queue.";
  }
  const { cluster, sentinels, name } = options;
  if (cluster !== undefined && !areAddresses(cluster)) {
    return 'cluster must be a list of nodes such as [{ host: "127.0.0.1", port: 7000 }].';
  }
  if ((options.db ?? 0) !== 0 && cluster !== undefined) {
    return "A cluster has the database 0 only.";
  }
  // The options of an instance without sentinels have null.
  if (!sentinels || (areAddresses(sentinels) && typeof name === "string")) return undefined;
  return 'sentinels must be a list such as [{ host: "127.0.0.1", port: 26379 }], with the name of their group in name.';
}

const OPTION_RULES = {
  host: HOST,
  port: PORT,
  path: TEXT,
  username: TEXT,
  password: TEXT,
  sentinelUsername: TEXT,
  sentinelPassword: TEXT,
  db: [isCount, "the number of a database"],
  family: [(value: unknown) => isCount(value) && [0, 4, 6].includes(Number(value)), "4, 6, or 0"],
  tls: [(value: unknown) => typeof value === "object" || value === true, "an object"],
} as const;

function areAddresses(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((address: unknown) => {
    const { host, port } = Object(address) as Record<string, unknown>;
    return HOST[0](host) && (port === undefined || PORT[0](port));
  });
}
