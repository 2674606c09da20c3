import { Cluster, Redis, type ClusterOptions, type RedisOptions } from "ioredis";
import { createNeutralCause } from "../../kit/neutral-cause";
import { pauseAfter } from "../../kit/backoff";
import {
  hasSentinels,
  isRedisInstance,
  type RedisConnectionOptions,
  type RedisSettings,
} from "./options";

/** Events that wait for Redis are stored within 1 s of its return. */
const retryStrategy = (times: number) => pauseAfter(times, { firstMs: 20, longestMs: 250 });
/** A rejection lasts until an operator changes something. */
const REJECTED_MS = 2_000;
const RECONNECT_MS = 50;
const LOADING_MS = 100;

/** The service waits for 15 s, ioredis for 25 s: here a command fails fast, and its caller retries. */
const ROLES = {
  store: {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 1_500,
    socketTimeout: 3_000,
  },
  subscriber: {
    maxRetriesPerRequest: null,
    commandTimeout: 1_500,
    socketTimeout: 3_000,
    // ioredis handles no failure of its own resubscription.
    autoResubscribe: false,
  },
  // Blocking commands take up to 5 s.
  worker: { maxRetriesPerRequest: null, socketTimeout: 15_000, commandTimeout: undefined },
} as const satisfies Record<string, RedisOptions>;

/** Options of the app that change replies, or when and where commands run. */
const OWN_OPTIONS = {
  // With it, ioredis takes the replies of the scripts of BullMQ apart.
  enableAutoPipelining: false,
  autoResendUnfulfilledCommands: true,
  blockingTimeout: undefined,
  // While Redis loads its data, a worker cannot complete events; sentinels check the role by it.
  enableReadyCheck: true,
  monitor: false,
  readOnly: false,
  replyMapping: "legacy",
  role: "master",
  scripts: undefined,
  stringNumbers: false,
} as const satisfies RedisOptions;

/**
 * A primary that is cut off from its sentinels accepts writes that are lost later: the detector
 * disconnects from it when another server takes over.
 */
const SENTINEL_OPTIONS = {
  failoverDetector: true,
  sentinelCommandTimeout: 1_000,
  sentinelRetryStrategy: retryStrategy,
  sentinelReconnectStrategy: retryStrategy,
} as const satisfies RedisOptions;

/** Connects to Redis, and again until its end. */
export function openConnection(settings: RedisSettings, role: keyof typeof ROLES) {
  const clients: Redis[] = [];
  let isEnded = false;

  function open(): Redis {
    let isRejected = false;
    const client = createClient(settings, {
      ...OWN_OPTIONS,
      connectTimeout: 2_000,
      // The default waits 1 s and more, also when Redis loads its data within milliseconds.
      maxLoadingRetryTime: LOADING_MS,
      disconnectTimeout: 300,
      lazyConnect: false,
      retryStrategy: (times) => (isRejected ? REJECTED_MS : retryStrategy(times)),
      ...ROLES[role],
      ...(hasSentinels(settings.connection) && SENTINEL_OPTIONS),
      // A former primary turns read-only: connect to the new one.
      reconnectOnError: ({ message }: Error) => message.startsWith("READONLY"),
      connectionName: `push-webhooks-${role}`,
    });
    // Without a listener ioredis writes to the console.
    client.on("error", (error: unknown) => {
      isRejected = findRedisRejection(error) !== undefined;
    });
    client.on("connect", () => {
      isRejected = false;
    });
    // ioredis ends it for good when a failover is announced while it asks the sentinels.
    client.on("end", () => {
      setTimeout(() => {
        if (!isEnded) client.connect().catch(() => {});
      }, RECONNECT_MS).unref();
    });
    // BullMQ blocks on a copy, which has the same options and the same end.
    client.duplicate = open;
    clients.push(client);
    return client;
  }

  const redis = open();
  return {
    /** Or a `Cluster`. */
    redis,
    /** Closes it and its copies, and rejects their commands. */
    end(): void {
      isEnded = true;
      for (const client of clients) endClient(client);
    },
  };
}

type RoleOptions = RedisOptions & { replyMapping: "legacy" };

function createClient({ connection }: RedisSettings, options: RoleOptions): Redis {
  if (isRedisInstance(connection)) {
    const instance = connection as unknown as Redis | Cluster;
    return "nodes" in instance
      ? (instance.duplicate([], toClusterOptions(options)) as unknown as Redis)
      : instance.duplicate(options);
  }
  const { cluster, ...others } = connection;
  if (cluster === undefined) return new Redis({ ...(others as RedisOptions), ...options });
  const nodes = [...cluster];
  return new Cluster(nodes, toClusterOptions(options, others)) as unknown as Redis;
}

function toClusterOptions(
  { retryStrategy: clusterRetryStrategy, lazyConnect, enableOfflineQueue, ...role }: RoleOptions,
  { natMap, dnsLookup, ...given }: RedisConnectionOptions = {},
) {
  return {
    ...({ natMap, dnsLookup } as ClusterOptions),
    lazyConnect,
    enableOfflineQueue,
    enableAutoPipelining: false,
    enableReadyCheck: true,
    // A replica may lag.
    scaleReads: "master",
    shardedSubscribers: false,
    scripts: undefined,
    clusterRetryStrategy: clusterRetryStrategy as (times: number) => number,
    slotsRefreshTimeout: 1_000,
    // A frozen node redirects no command: only a refresh finds its successor.
    slotsRefreshInterval: 1_000,
    redisOptions: { ...(given as RedisOptions), ...role },
  } satisfies ClusterOptions;
}

/**
 * `disconnect()` alone leaves the commands of a reconnecting client pending for ever, and BullMQ waits
 * for them with timers that keep the process.
 */
function endClient(redis: Redis): void {
  // ioredis starts a timer for a connection that has ended.
  if (redis.status === "end") return;
  // ioredis hears the first error of a stream. The second, an alert of TLS, would end the process. A
  // cluster has no stream.
  (redis.stream as typeof redis.stream | undefined)?.on("error", () => {});
  const wasReconnecting = redis.status === "reconnecting" && !redis.isCluster;
  redis.disconnect();
  if (!wasReconnecting) return;
  redis.connect().catch(() => {});
  redis.disconnect();
}

/** Lists the servers that store: the primaries of a cluster. */
export function listServers(redis: Redis): Redis[] {
  return redis.isCluster ? (redis as unknown as Cluster).nodes("master") : [redis];
}

/** Returns the first line of the message of an error, or its code; no arguments. */
export function describeRedisError(error: unknown): string {
  const { message, code, name, cause } = createNeutralCause(error) as NodeJS.ErrnoException;
  // The message of an AggregateError, of several addresses, is empty.
  if (message === "") return code ?? name;
  const { lastNodeError } = Object(error) as { lastNodeError?: unknown };
  const detail = lastNodeError ?? cause;
  return detail instanceof Error ? `${message} ${describeRedisError(detail)}` : message;
}

/** Error replies of a server, or of a node of a cluster, that will accept the command soon. */
const TRANSIENT =
  /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|TRYAGAIN|MOVED|ASK|ERR max number of clients)\b/;

/**
 * Returns the reply of a Redis that rejects a command, such as `WRONGPASS`, until an operator changes
 * something; undefined for an outage. The error of a cluster has it inside.
 */
export function findRedisRejection(error: unknown): Error | undefined {
  const { name, message, lastNodeError } = Object(error) as Error & { lastNodeError?: unknown };
  if (lastNodeError !== undefined) return findRedisRejection(lastNodeError);
  return name === "ReplyError" && !TRANSIENT.test(message) ? (error as Error) : undefined;
}

/** Returns the reply of INFO; "" from a Redis that rejects it. */
export async function readInfo(server: Redis, section = "default"): Promise<string> {
  try {
    return await server.info(section);
  } catch (error) {
    if (findRedisRejection(error) === undefined) throw error;
    return "";
  }
}

/** Returns a field of the reply of INFO. */
export function readInfoField(text: string, field: string): string | undefined {
  return new RegExp(`^${field}:(\\S*)`, "m").exec(text)?.[1];
}
