import { Redis, type RedisOptions } from "ioredis";
import type { Logger } from "../reports";
import type { DurableSettings } from "./options";

/** What a connection is for. */
export type ConnectionRole = keyof typeof ROLES;

const retryStrategy = (times: number) => Math.min(2 ** times * 10, 500);

/**
 * The defaults of ioredis wait for more than 25 s where a sender waits for 15: a command fails fast
 * here, and the caller decides whether to retry it.
 */
const ROLES = {
  store: {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 1_500,
    socketTimeout: 3_000,
  },
  subscriber: { maxRetriesPerRequest: null, commandTimeout: 1_500 },
  // Blocking commands take up to 5 s.
  worker: { maxRetriesPerRequest: null, socketTimeout: 15_000 },
} as const satisfies Record<string, RedisOptions>;

/** Connects to Redis, and goes on trying for as long as the connection is not closed. */
export function openConnection(
  { connection, logger }: DurableSettings,
  role: ConnectionRole,
): Redis {
  const options = {
    connectTimeout: 2_000,
    retryStrategy,
    ...ROLES[role],
    // A former primary turns read-only when another takes over: connect to the new one.
    reconnectOnError: ({ message }: Error) => message.startsWith("READONLY"),
    replyMapping: "legacy" as const,
    connectionName: `push-webhooks-${role}`,
  };
  const redis =
    typeof connection === "string"
      ? new Redis(connection, options)
      : new Redis({ ...(connection as RedisOptions), ...options });
  reportOutages(redis, role, logger);
  return redis;
}

/** Logs the beginning and the end of an outage, once each. */
function reportOutages(redis: Redis, role: ConnectionRole, logger: Logger | undefined): void {
  let isOut = false;
  // Without a listener ioredis writes to the console.
  redis.on("error", (error: NodeJS.ErrnoException) => {
    if (isOut) return;
    isOut = true;
    logger?.warn({ role, code: error.code ?? error.name }, "Redis is out of reach");
  });
  redis.on("ready", () => {
    if (isOut) logger?.info({ role }, "Redis is back");
    isOut = false;
  });
}
