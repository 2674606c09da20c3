import type { OptionRule } from "../../validation/validate-options";

/** The address of a server. */
export interface ServerAddress {
  host: string;
  port: number;
}

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
  /** Sentinels, which know the primary; `name` is required with them. */
  sentinels?: readonly ServerAddress[] | undefined;
  /** The name of the group of sentinels. */
  name?: string | undefined;
  /** Some nodes of a Redis Cluster; the others are discovered. */
  cluster?: readonly ServerAddress[] | undefined;
  [option: string]: unknown;
}

/**
 * A `Redis` or `Cluster` of ioredis. The queue duplicates it for connections of its own, and neither
 * uses nor closes the instance.
 */
export interface RedisInstance {
  readonly isCluster: boolean;
  readonly options: object;
  /** Creates an instance with the same options; the queue calls it once for each connection. */
  duplicate(...args: never[]): unknown;
  /** Defines a command of a Lua script; BullMQ calls it, on a duplicate only. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): unknown;
}

/** The values of the option `connection`. */
export type RedisConnection = string | RedisConnectionOptions | RedisInstance;

/** The rule of the option `connection`. */
export const CONNECTION_RULE: OptionRule = {
  accepts: (value) => findProblem(value) === undefined,
  expected: 'a URL such as "redis://127.0.0.1:6379", options of ioredis, or an ioredis instance',
  explain: (value) => findProblem(value) ?? "",
  required: true,
  secret: true,
};

/** Returns whether a value is an instance of ioredis. */
export function isRedisInstance(value: unknown): value is RedisInstance {
  return isClient(value) && typeof value.defineCommand === "function";
}

/** Returns whether a connection is one to a Redis Cluster. */
export function isClusterConnection(connection: RedisConnection): boolean {
  if (typeof connection === "string") return false;
  return isRedisInstance(connection) ? connection.isCluster : connection.cluster !== undefined;
}

/** Returns whether sentinels name the primary of a connection. */
export function hasSentinels(connection: RedisConnection): boolean {
  if (typeof connection === "string") return false;
  const options = isRedisInstance(connection) ? connection.options : connection;
  return ((options as RedisConnectionOptions).sentinels ?? []).length > 0;
}

/** Returns what is wrong with a connection, or "" for what the rule says already. */
function findProblem(value: unknown): string | undefined {
  if (typeof value === "string") return /^rediss?:\/\/\S+$/i.test(value) ? undefined : "";
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
  if (isClient(value) && !isRedisInstance(value)) {
    return "This client is not one of ioredis: pass the URL or the options of its server.";
  }
  const options = (isRedisInstance(value) ? value.options : value) as RedisConnectionOptions;
  if (options.url !== undefined && !isRedisInstance(value)) {
    // Without this, ioredis would connect to localhost.
    return "ioredis has no option url: pass the URL itself as connection.";
  }
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
  if ((sentinels ?? undefined) === undefined) return undefined;
  if (areAddresses(sentinels) && typeof name === "string") return undefined;
  return 'sentinels must be a list such as [{ host: "127.0.0.1", port: 26379 }], with the name of their group in name.';
}

function isClient(value: unknown): value is Record<string, unknown> {
  const { connect, disconnect, duplicate } = Object(value) as Record<string, unknown>;
  return [connect, disconnect, duplicate].every((method) => typeof method === "function");
}

function areAddresses(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((address: unknown) => {
    const { host, port } = Object(address) as Record<string, unknown>;
    return typeof host === "string" && (port === undefined || Number.isInteger(port));
  });
}
