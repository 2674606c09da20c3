import type { Redis } from "ioredis";
import type { ChallengeEvent } from "../../event/event";
import { joinOutcomeKey, type OutcomeStore } from "../../challenge/outcome-store";
import { createWaiters } from "../../challenge/waiters";
import { parseStoredOutcome } from "../stored-outcome";
import { endConnection, openConnection } from "./connection";
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

/** KEYS: the outcome, its mark of an unreadable value, and optionally the dedupe key of ARGV[3]. */
const RECORD = `
  if KEYS[3] and redis.call("GET", KEYS[3]) ~= ARGV[3] then
    return 0
  end
  local isNew = redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2])
  if not isNew and redis.call("DEL", KEYS[2]) == 1 then
    isNew = redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
  end
  if isNew then
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
  const markOf = (key: string) => `${prefix}:${name}:unreadable:${key}`;
  const waiters = createWaiters({ maxWaiting, onFirst: follow, onLast: leave });
  let subscriber: Redis | undefined;
  let timer: NodeJS.Timeout | undefined;
  const unreadable = new Set<string>();
  let hasWarned = false;

  function openSubscriber(): Redis {
    const opened = openConnection(settings, "subscriber");
    opened.on("message", (channel: string) => void recheck([channel.slice(head.length)]));
    opened.on("ready", () => void resubscribe(opened));
    timer = setInterval(() => void watch(opened), RECHECK_MS);
    timer.unref();
    return opened;
  }

  function follow(key: string): void {
    subscriber ??= openSubscriber();
    void subscriber
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
    unreadable.delete(key);
    subscriber?.unsubscribe(head + key).catch(ignoreOutage);
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
        if (text !== null) resolve(page[index] ?? "", text);
      }
    }
  }

  function resolve(key: string, text: string): void {
    const event = parseStoredOutcome(text);
    if (event !== undefined) waiters.resolve(key, event);
    else markUnreadable(key, text.length);
  }

  /** The next outcome of the challenge may replace one that is unreadable. */
  function markUnreadable(key: string, length: number): void {
    if (unreadable.has(key)) return;
    unreadable.add(key);
    redis.set(markOf(key), "", "PX", outcomeTtlMs).catch(() => unreadable.delete(key));
    const message =
      "An outcome in Redis is unreadable. The wait for it goes on; the next outcome replaces it.";
    if (logger !== undefined) logger.error({ length }, message);
    else if (!hasWarned) {
      process.emitWarning(message, { type: "PushWebhooksWarning", code: "OUTCOME_UNREADABLE" });
    }
    hasWarned = true;
  }

  return {
    async record(account, event, ttlMs = outcomeTtlMs) {
      const key = joinOutcomeKey({ account, challengeSid: event.challenge_sid });
      const text = JSON.stringify(event.params);
      await redis.eval(RECORD, 2, head + key, markOf(key), text, ttlMs);
    },
    async recordFirst({ jobId, dedupeKey }, account, event) {
      const key = joinOutcomeKey({ account, challengeSid: event.challenge_sid });
      const text = JSON.stringify(event.params);
      const keys = [head + key, markOf(key), dedupeKey];
      return (await redis.eval(RECORD, 3, ...keys, text, outcomeTtlMs, jobId)) === 1;
    },
    wait: (wait) => waiters.wait(joinOutcomeKey(wait), wait),
    closeWaits: waiters.close,
    disconnect() {
      clearInterval(timer);
      waiters.close();
      if (subscriber !== undefined) endConnection(subscriber);
    },
  };
}

/** Nothing to do: the recheck every 3 s makes up for it. */
function ignoreOutage(): void {}
