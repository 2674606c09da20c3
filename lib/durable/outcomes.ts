import type { Redis } from "ioredis";
import { isChallengeEvent, type ChallengeEvent } from "../event";
import type { Pair } from "../form";
import { joinOutcomeKey, type OutcomeStore } from "../outcome-store";
import { parsePayload } from "../payload";
import { createWaiters } from "../waiters";
import { openConnection } from "./connection";
import type { DurableSettings } from "./options";

/** The outcomes that the processes of one queue share. */
export interface SharedOutcomes extends OutcomeStore {
  /** @param ttlMs how long the outcome is kept. @default outcomeTtlMs */
  record(account: string, event: ChallengeEvent, ttlMs?: number): Promise<void>;
  /** Rejects the pending waits in the same turn, and every later wait. */
  closeWaits(): void;
  /** Rejects the waits and closes the connection. */
  disconnect(): void;
}

const RECORD = `
  if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
    redis.call("PUBLISH", KEYS[1], "")
  end`;
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
export function createSharedOutcomes(redis: Redis, settings: DurableSettings): SharedOutcomes {
  const { prefix, name, outcomeTtlMs, maxWaiting, logger } = settings;
  const head = `${prefix}:${name}:outcome:`;
  const waiters = createWaiters({ maxWaiting, onFirst: follow, onLast: leave });
  let subscriber: Redis | undefined;
  let timer: NodeJS.Timeout | undefined;
  let hasWarned = false;

  function openSubscriber(): Redis {
    const opened = openConnection(settings, "subscriber");
    opened.on("message", (channel: string) => void recheck([channel.slice(head.length)]));
    opened.on("ready", () => void recheck(waiters.listKeys()));
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

  function leave(key: string): void {
    subscriber?.unsubscribe(head + key).catch(ignoreOutage);
  }

  /** Finds missed outcomes, and a connection that is dead without having been closed. */
  async function watch(connection: Redis): Promise<void> {
    const keys = waiters.listKeys();
    if (keys.length === 0) return;
    await recheck(keys);
    if (connection.status !== "ready") return;
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
    let event;
    try {
      event = parsePayload(JSON.parse(text) as Pair[]);
    } catch {
      // The error may quote the value.
      event = undefined;
    }
    if (event !== undefined && isChallengeEvent(event)) waiters.resolve(key, event);
    else warnOfUnreadable();
  }

  function warnOfUnreadable(): void {
    if (hasWarned) return;
    hasWarned = true;
    const message = "An outcome in Redis is unreadable; the wait for it goes on.";
    if (logger !== undefined) logger.error({}, message);
    else process.emitWarning(message, { type: "PushWebhooksWarning", code: "OUTCOME_UNREADABLE" });
  }

  return {
    async record(account, event, ttlMs = outcomeTtlMs) {
      const key = head + joinOutcomeKey({ account, challengeSid: event.challenge_sid });
      await redis.eval(RECORD, 1, key, JSON.stringify(event.params), ttlMs);
    },
    wait: (wait) => waiters.wait(joinOutcomeKey(wait), wait),
    closeWaits: waiters.close,
    disconnect() {
      clearInterval(timer);
      waiters.close();
      subscriber?.disconnect();
    },
  };
}

/** Nothing to do: the recheck every 3 s makes up for it. */
function ignoreOutage(): void {}
