import type { Redis } from "ioredis";
import { listServers, readInfo, readInfoField } from "./connection";
import type { NewEvent } from "../storage";
import type { Jobs } from "./jobs";
import type { RedisSettings } from "./options";

/** A replica that has not responded for longer is not awaited. */
const MAX_LAG_SEC = 4;
const WAIT_MS = 1_000;
/** The primary may have been replaced: connect anew. */
const MAX_SHORTFALLS = 3;
/** On a busy machine, sentinels need some seconds to promote a replica that left its primary. */
const ABSENT_MS = 5_000;

/** Creates the confirmation that enough replicas have events; it throws otherwise. */
export function createReplicaConfirmation(redis: Redis, jobs: Jobs, settings: RedisSettings) {
  const { head, replicas } = settings;
  const marker = `${head}:confirmed`;
  let required = 1;
  let knownHistory: string | undefined;
  let attachedAtMs = 0;
  let shortfalls = 0;

  /** Finds the server that has the keys: of a pipeline of a cluster, ioredis may send only a part. */
  async function findOwner(): Promise<Redis> {
    if (!redis.isCluster) return redis;
    const asked = listServers(redis).map(async (server) => {
      await server.exists(marker);
      return server;
    });
    return Promise.any(asked);
  }

  /** Counts the replicas of the primary, and for a while those that left it; 1 without INFO. */
  async function countReplicas(server: Redis): Promise<number> {
    const text = await readInfo(server, "replication");
    // A new primary begins another history.
    const history = readInfoField(text, "master_replid");
    const online = [...text.matchAll(/^slave\d+:.*,state=online,.*lag=(\d+)/gm)];
    const areAttached = online.length >= required || history !== knownHistory;
    const nowMs = performance.now();
    const live = online.filter(([, lagSec]) => Number(lagSec) <= MAX_LAG_SEC).length;
    if (areAttached || nowMs - attachedAtMs >= ABSENT_MS) required = Math.max(1, live);
    if (areAttached) attachedAtMs = nowMs;
    knownHistory = history;
    return required;
  }

  /**
   * WAIT concerns the writes of its connection, which may be newer than the events: write a marker, then
   * prove that the server has them. One that was promoted in between may lack them.
   */
  return async function confirm(events: readonly NewEvent[]): Promise<void> {
    const owner = await findOwner();
    const wanted = replicas === "all" ? await countReplicas(owner) : replicas;
    const replies = (await owner.pipeline().set(marker, "").wait(wanted, WAIT_MS).exec()) ?? [];
    for (const [error] of replies) if (error !== null) throw error;
    const confirmed = Number(replies[1]?.[1] ?? 0);
    if (confirmed < wanted) {
      if (confirmed === 0 && ++shortfalls % MAX_SHORTFALLS === 0) redis.disconnect(true);
      throw new Error(`${confirmed} of ${wanted} replicas have the events.`);
    }
    shortfalls = 0;
    const kept = events.map(({ key }) => jobs.queue().getDeduplicationJobId(key));
    if ((await Promise.all(kept)).includes(null)) {
      throw new Error("Redis is being replaced: an event is on another server.");
    }
  };
}
