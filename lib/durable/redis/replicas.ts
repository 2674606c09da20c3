import type { Redis } from "ioredis";
import { listServers } from "./connection";
import type { RedisSettings } from "./options";

const WAIT_MS = 1_000;
/** A primary that was cut off from its replicas may have been replaced: connect anew. */
const MAX_SHORTFALLS = 3;

/**
 * Creates the confirmation that `replicas` replicas have every earlier write of this connection's
 * server. One WAIT confirms all that was stored while the one before it ran.
 *
 * @throws (by the function) Error when too few replicas confirm within 1 s, or when the server lacks
 *   the key.
 */
export function createReplicaConfirmation(redis: Redis, settings: RedisSettings) {
  const { prefix, name, replicas } = settings;
  const marker = `${prefix}:${name}:confirmed`;
  let pending: PendingConfirmation[] = [];
  let isRunning = false;
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
   * Reads the keys to prove that they are on the server that WAIT reaches, and writes a marker: WAIT
   * concerns the writes of its own connection, which may be newer than the event.
   */
  async function confirmAll(keys: string[]): Promise<boolean[]> {
    owner ??= await findOwner();
    const pipeline = owner.pipeline().mget(keys).set(marker, "").wait(replicas, WAIT_MS);
    const replies = (await pipeline.exec()) ?? [];
    for (const [error] of replies) {
      if (error !== null) throw error;
    }
    const [[, found], , [, confirmed]] = replies as [
      [null, (string | null)[]],
      unknown,
      [null, number],
    ];
    if (confirmed >= replicas) {
      shortfalls = 0;
      return found.map((value) => value !== null);
    }
    if (++shortfalls % MAX_SHORTFALLS === 0) redis.disconnect(true);
    throw new Error(`${confirmed} of ${replicas} replicas have the event.`);
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      try {
        const found = await confirmAll(batch.map(({ key }) => key));
        for (const [index, { resolve, reject }] of batch.entries()) {
          if (found[index] === true) resolve();
          else reject(new Error("Redis is being replaced: the event is on another server."));
        }
      } catch (error) {
        owner = undefined;
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  }

  return function confirm(key: string): Promise<void> {
    return new Promise((resolve, reject) => {
      pending.push({ key, resolve, reject });
      if (!isRunning) void run();
    });
  };
}

interface PendingConfirmation {
  key: string;
  resolve: () => void;
  reject: (error: unknown) => void;
}
