import type { Redis } from "ioredis";
import { listServers } from "./connection";
import type { RedisSettings } from "./options";

const WAIT_MS = 1_000;
/** A primary that was cut off from its replicas may have been replaced: connect anew. */
const MAX_SHORTFALLS = 3;

/**
 * Creates the confirmation that enough replicas have the events that were stored under some keys.
 *
 * @throws (by the function) Error when too few replicas confirm within 1 s, or when the server lacks
 *   a key.
 */
export function createReplicaConfirmation(redis: Redis, settings: RedisSettings) {
  const { prefix, name, replicas } = settings;
  const marker = `${prefix}:${name}:confirmed`;
  let shortfalls = 0;
  let owner: Redis | undefined;

  /**
   * Finds the server that has the keys of the queue. The pipeline is of that server: ioredis may send
   * a part of a pipeline of a cluster only, and then takes the reply to one command for another's.
   */
  async function findOwner(): Promise<Redis> {
    if (!redis.isCluster) return redis;
    const asked = listServers(redis).map(async (server) => {
      await server.exists(marker);
      return server;
    });
    return Promise.any(asked);
  }

  /**
   * WAIT concerns the earlier writes of its own connection, which may be newer than the events: read
   * the keys to prove that it reaches their server, and write a marker.
   */
  async function waitForReplicas(keys: readonly string[]): Promise<void> {
    owner ??= await findOwner();
    const pipeline = owner
      .pipeline()
      .exists(...keys)
      .set(marker, "")
      .wait(replicas, WAIT_MS);
    const replies = (await pipeline.exec()) ?? [];
    for (const [error] of replies) {
      if (error !== null) throw error;
    }
    const [found = 0, , confirmed = 0] = replies.map(([, reply]) => Number(reply));
    if (confirmed < replicas) {
      if (++shortfalls % MAX_SHORTFALLS === 0) redis.disconnect(true);
      throw new Error(`${confirmed} of ${replicas} replicas have the events.`);
    }
    shortfalls = 0;
    if (found < keys.length) {
      throw new Error("Redis is being replaced: an event is on another server.");
    }
  }

  return async function confirm(keys: readonly string[]): Promise<void> {
    try {
      await waitForReplicas(keys);
    } catch (error) {
      owner = undefined;
      throw error;
    }
  };
}
