import type { Redis } from "ioredis";
import { endConnection, listServers, openConnection } from "./connection";
import type { RedisSettings } from "./options";

/** Confirms that replicas have what was stored. */
export interface ReplicaConfirmation {
  /**
   * Resolves when `replicas` replicas have what was written before this call on the server that has
   * the key.
   *
   * @throws Error when too few replicas confirm within 1 s, or when the server lacks the key.
   */
  confirm(key: string): Promise<void>;
  close(): void;
}

const WAIT_MS = 1_000;
/** A primary that was cut off from its replicas may have been replaced: connect anew. */
const MAX_SHORTFALLS = 3;

interface PendingConfirmation {
  key: string;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Creates the confirmation of replicas. WAIT blocks a connection, so it has one of its own, where
 * one WAIT confirms all that was stored meanwhile.
 *
 * WAIT concerns the writes of its connection before it. The connection reads the keys to prove that
 * it reached the server that has them, then writes a marker and waits for that.
 *
 * @param reconnect called after three shortfalls in a row.
 */
export function createReplicaConfirmation(
  settings: RedisSettings,
  reconnect: () => void,
): ReplicaConfirmation {
  const { prefix, name, replicas } = settings;
  const marker = `${prefix}:${name}:confirmed`;
  const redis: Redis = openConnection(settings, "replicas");
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

  async function confirmAll(keys: string[]): Promise<boolean[]> {
    const server = (owner ??= await findOwner());
    const pipeline = server.pipeline().mget(keys).set(marker, "").wait(replicas, WAIT_MS);
    const replies = (await pipeline.exec()) ?? [];
    for (const [error] of replies) {
      if (error !== null) throw error;
    }
    const [found = [], , confirmed = 0] = replies.map(([, reply]) => reply) as [
      (string | null)[]?,
      unknown?,
      number?,
    ];
    if (confirmed >= replicas) {
      shortfalls = 0;
      return found.map((value) => value !== null);
    }
    if (++shortfalls % MAX_SHORTFALLS === 0) {
      redis.disconnect(true);
      reconnect();
    }
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
        for (const { reject } of batch) reject(error as Error);
      }
    }
    isRunning = false;
  }

  return {
    confirm(key) {
      return new Promise((resolve, reject) => {
        pending.push({ key, resolve, reject });
        if (!isRunning) void run();
      });
    },
    close: () => endConnection(redis),
  };
}
