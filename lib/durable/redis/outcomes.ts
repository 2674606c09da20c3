import type { Redis } from "ioredis";
import type { ChallengeEvent } from "../../event/event";
import { joinOutcomeKey, type OutcomeStore } from "../../challenge/outcome-store";
import { createWaiters } from "../../challenge/waiters";
import { createResolveStored } from "../stored-outcome";
import { openConnection, type Connection } from "./connection";
import type { RedisSettings } from "./options";

/** The outcomes that the processes of one queue share. */
export interface RedisOutcomes extends OutcomeStore {
  /** @param ttlMs how long the outcome is kept. @default outcomeTtlMs */
  record(account: string, event: ChallengeEvent, ttlMs?: number): Promise<void>;
  /**
   * Records an outcome if this job is the first of its uuid, so that a replay does not bring back an
   * expired outcome.
   *
   * @returns whether it is; false also when the job is not stored yet.
   */
  recordFirst(job: FirstJob, account: string, event: ChallengeEvent): Promise<boolean>;
  /** Rejects the pending waits in the same turn, and every later wait. */
  closeWaits(): void;
  /** Rejects the waits and closes the connection. */
  disconnect(): void;
}

/** The job of an event, and the key that holds the identifier of the first job of its uuid. */
export interface FirstJob {
  jobId: string;
  dedupeKey: string;
}

/** KEYS: the outcome, and optionally the dedupe key of ARGV[3]. */
const RECORD = `
  if KEYS[2] and redis.call("GET", KEYS[2]) ~= ARGV[3] then
    return 0
  end
  if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
    redis.call("PUBLISH", KEYS[1], "")
  end
  return 1`;
const RECHECK_MS = 3_000;
const KEYS_PER_READ = 500;

/**
 * Creates the outcomes that the processes of one queue share.
 *
 * A wait subscribes to the channel of its challenge and, only once Redis has confirmed that, reads
 * the outcome: so none is missed in between. A message is a hint to read the key again, because
 * channels are shared by all databases of a Redis and keys are not. A recheck on each reconnection
 * and every 3 s finds what a broken connection lost.
 *
 * @param redis the connection that stores. The first wait opens one more.
 */
export function createRedisOutcomes(redis: Redis, settings: RedisSettings): RedisOutcomes {
  const { prefix, name, outcomeTtlMs, maxWaiting, logger } = settings;
  const head = `${prefix}:${name}:outcome:`;
  const waiters = createWaiters({ maxWaiting, onFirst: follow, onLast: leave });
  const resolveStored = createResolveStored(waiters, "Redis", logger);
  let subscriber: Connection | undefined;
  let timer: NodeJS.Timeout | undefined;

  function openSubscriber(): Connection {
    const opened = openConnection(settings, "subscriber");
    const { redis: client } = opened;
    client.on("message", (channel: string) => void recheck([channel.slice(head.length)]));
    client.on("ready", () => void resubscribe(client));
    timer = setInterval(() => void watch(client), RECHECK_MS);
    timer.unref();
    return opened;
  }

  function follow(key: string): void {
    subscriber ??= openSubscriber();
    void subscriber.redis
      .subscribe(head + key)
      .then(() => recheck([key]))
      .catch(ignoreOutage);
  }

  /** ioredis handles no failure of its own resubscription: the connection has that turned off. */
  async function resubscribe(connection: Redis): Promise<void> {
    const keys = waiters.listKeys();
    for (let start = 0; start < keys.length; start += KEYS_PER_READ) {
      const page = keys.slice(start, start + KEYS_PER_READ);
      await connection.subscribe(...page.map((key) => head + key)).catch(ignoreOutage);
    }
    await recheck(keys);
  }

  function leave(key: string): void {
    subscriber?.redis.unsubscribe(head + key).catch(ignoreOutage);
  }

  /** Finds missed outcomes, and a connection that is dead without having been closed. */
  async function watch(connection: Redis): Promise<void> {
    const keys = waiters.listKeys();
    if (keys.length === 0) return;
    await recheck(keys);
    // A cluster watches its nodes itself.
    if (connection.status !== "ready" || connection.isCluster) return;
    try {
      await connection.ping();
    } catch {
      connection.disconnect(true);
    }
  }

  async function recheck(keys: readonly string[]): Promise<void> {
    for (let start = 0; start < keys.length; start += KEYS_PER_READ) {
      const page = keys.slice(start, start + KEYS_PER_READ);
      const texts = await redis.mget(page.map((key) => head + key)).catch(() => []);
      for (const [index, text] of texts.entries()) {
        if (text !== null) resolveStored(page[index] ?? "", text);
      }
    }
  }

  return {
    async record(account, event, ttlMs = outcomeTtlMs) {
      const key = joinOutcomeKey({ account, challengeSid: event.challenge_sid });
      const text = JSON.stringify(event.params);
      await redis.eval(RECORD, 1, head + key, text, ttlMs);
    },
    async recordFirst({ jobId, dedupeKey }, account, event) {
      const key = joinOutcomeKey({ account, challengeSid: event.challenge_sid });
      const text = JSON.stringify(event.params);
      const keys = [head + key, dedupeKey];
      return (await redis.eval(RECORD, 2, ...keys, text, outcomeTtlMs, jobId)) === 1;
    },
    wait: (wait) => waiters.wait(joinOutcomeKey(wait), wait),
    closeWaits: waiters.close,
    disconnect() {
      clearInterval(timer);
      waiters.close();
      subscriber?.end();
    },
  };
}

/** Nothing to do: the recheck every 3 s makes up for it. */
function ignoreOutage(): void {}
