import type { Redis } from "ioredis";
import { isChallengeEvent, type ChallengeEvent } from "../event";
import type { Pair } from "../form";
import { parsePayload } from "../payload";
import { assertWait, createWaiting, type WaitOptions } from "../waiting";
import { openConnection } from "./connection";
import type { DurableSettings } from "./options";

/** The outcomes of challenges, between processes. */
export interface SharedOutcomes {
  /** Keeps an outcome, unless the challenge has one, and tells every process. */
  record(event: ChallengeEvent): Promise<void>;
  wait(challengeSid: string, options?: WaitOptions): Promise<ChallengeEvent>;
  close(): void;
}

const RECORD = `
  if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
    redis.call("PUBLISH", KEYS[1], ARGV[1])
  end`;
const RECHECK_MS = 3_000;
const KEYS_PER_READ = 500;

/**
 * Makes the outcomes that the processes of one queue share.
 *
 * Whoever waits subscribes to the challenge's channel and, only once Redis has confirmed that,
 * looks whether the outcome is there already: so none falls in between. What a broken connection
 * swallows is found by looking again, on each reconnection and every 3 s.
 *
 * @param redis the connection that stores. One more is opened for the first wait, and no other.
 */
export function createSharedOutcomes(redis: Redis, settings: DurableSettings): SharedOutcomes {
  const { prefix, name, outcomeTtlMs, maxWaiting } = settings;
  const keyOf = (challengeSid: string) => `${prefix}:${name}:outcome:${challengeSid}`;
  const waiting = createWaiting({ maxWaiting, onFirst: follow, onLast: leave });
  let subscriber: Redis | undefined;
  let timer: NodeJS.Timeout | undefined;

  function openSubscriber(): Redis {
    const opened = openConnection(settings, "subscriber");
    opened.on("message", (_channel, text: string) => resolve(text));
    opened.on("ready", () => void recheck(waiting.listSids()));
    timer = setInterval(() => void watch(opened), RECHECK_MS);
    timer.unref();
    return opened;
  }

  function follow(challengeSid: string): void {
    subscriber ??= openSubscriber();
    void subscriber
      .subscribe(keyOf(challengeSid))
      .then(() => recheck([challengeSid]))
      .catch(ignoreOutage);
  }

  function leave(challengeSid: string): void {
    subscriber?.unsubscribe(keyOf(challengeSid)).catch(ignoreOutage);
  }

  /** Finds what was missed, and a connection that is dead without having been closed. */
  async function watch(connection: Redis): Promise<void> {
    const sids = waiting.listSids();
    if (sids.length === 0) return;
    await recheck(sids);
    if (connection.status !== "ready") return;
    try {
      await connection.ping();
    } catch {
      connection.disconnect(true);
    }
  }

  async function recheck(sids: readonly string[]): Promise<void> {
    for (let start = 0; start < sids.length; start += KEYS_PER_READ) {
      const keys = sids.slice(start, start + KEYS_PER_READ).map(keyOf);
      const texts = await redis.mget(keys).catch(() => []);
      for (const text of texts) if (text !== null) resolve(text);
    }
  }

  function resolve(text: string): void {
    const event = parsePayload(JSON.parse(text) as Pair[]);
    if (isChallengeEvent(event)) waiting.resolve(event);
  }

  return {
    async record(event) {
      const value = JSON.stringify(event.params);
      await redis.eval(RECORD, 1, keyOf(event.challenge_sid), value, outcomeTtlMs);
    },
    async wait(challengeSid, options = {}) {
      assertWait(challengeSid, options);
      return waiting.wait(challengeSid, options);
    },
    close() {
      clearInterval(timer);
      waiting.close();
      subscriber?.disconnect();
    },
  };
}

/** Looking again every 3 s makes up for it. */
function ignoreOutage(): void {}
