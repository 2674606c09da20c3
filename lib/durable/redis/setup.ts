import type { Redis } from "ioredis";
import { createNeutralCause } from "../../errors/neutral-cause";
import { QueueError } from "../queue-error";
import { describeRedisError, listServers } from "./connection";
import { createDurabilityCheck } from "./durability";
import type { RedisSettings } from "./options";
import { findRedisRejection } from "./redis-reply";
import { parseServerInfo } from "./server-info";

/**
 * Creates the check that the servers of a connection can hold the queue: they are primaries, accept
 * its commands and lose no event that they confirmed.
 *
 * @throws (by the check) QueueError; Error for an outage.
 */
export function createSetupCheck(redis: Redis, settings: RedisSettings): () => Promise<void> {
  const checkDurability = createDurabilityCheck(settings);

  async function checkServer(server: Redis): Promise<void> {
    const { role, isClusterNode } = parseServerInfo(await readInfo(server));
    if (isClusterNode && !redis.isCluster) {
      throw createRejection(
        "redisQueue: connection is a node of a Redis Cluster. Pass connection: { cluster: [{ host, port }] }.",
      );
    }
    if (role === "slave" && !redis.isCluster) {
      throw createRejection(
        "redisQueue: connection is a replica, which stores nothing. Pass its primary, or the sentinels that know it.",
      );
    }
    await checkDurability(server);
  }

  return async function checkSetup() {
    try {
      const servers = listServers(redis);
      if (servers.length === 0) throw new Error("The cluster has no primary.");
      for (const server of servers) await checkServer(server);
    } catch (error) {
      throw toConnectionError(error);
    }
  };
}

/** Returns the QueueError of a Redis that rejects a connection or a command, or else a plain Error. */
export function toConnectionError(error: unknown): Error {
  if (error instanceof QueueError) return error;
  const words = describeRedisError(error);
  const { code } = Object(error) as NodeJS.ErrnoException;
  if (findRedisRejection(error) === undefined) {
    return Object.assign(new Error(words), code !== undefined && { code });
  }
  const message = `redisQueue: Redis rejects the queue: ${words.replace(/\.?$/, ".")} ${findAdvice(words)}`;
  return createRejection(message, error);
}

/** A Redis that rejects INFO to its user is taken for a primary. */
async function readInfo(server: Redis): Promise<string> {
  try {
    return await server.info();
  } catch (error) {
    if (findRedisRejection(error) === undefined) throw error;
    return "";
  }
}

function createRejection(message: string, cause?: unknown): QueueError {
  const options = cause === undefined ? undefined : { cause: createNeutralCause(cause) };
  return new QueueError("REDIS_REJECTED", message, options);
}

function findAdvice(words: string): string {
  if (words.startsWith("NOPERM")) {
    return "The user of connection needs every command of BullMQ.";
  }
  if (/^(WRONGPASS|NOAUTH)\b|\b(auth|password)\b/i.test(words)) {
    return "Check username, password and the other options of connection.";
  }
  return "Check the options of connection, the commands that redis.conf renames, and any proxy: the queue needs every command of BullMQ, INFO included.";
}
