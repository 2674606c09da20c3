import { once } from "node:events";
import { Queue } from "bullmq";
import { parseJson } from "../../form/text";
import { MAX_FAILURES } from "../stored-event";
import type { Hint, NewEvent, QueueStore, StoredOutcome } from "../storage";
import { openConnection } from "./connection";
import { contentOf, createRedisDeadLetters, jobIdOf } from "./dead-letters";
import { createMemoryCheck } from "./memory";
import type { RedisSettings } from "./options";
import { createReplicaConfirmation } from "./replicas";
import { createSetupCheck, toConnectionError } from "./setup";
import { readStats } from "./stats";

export { startRedisWorker } from "./worker";

/**
 * Sets outcomes and announces their keys, except those of challenges that have one. KEYS: the key of each
 * outcome, and that of the first job of its uuid. ARGV: its value, and its own job. If another job was
 * the first, nothing is set: a replay must not bring back an expired outcome.
 */
const RECORD = `
  local added = {}
  for index = 1, #KEYS, 2 do
    local params, own = unpack(ARGV, index + 2, index + 3)
    local first = redis.call("GET", KEYS[index + 1])
    if (not first or first == own)
      and redis.call("SET", KEYS[index], params, "NX", "PX", ARGV[1]) then
      table.insert(added, string.sub(KEYS[index], -32))
    end
  end
  if #added > 0 then
    redis.call("PUBLISH", ARGV[2], table.concat(added, ","))
  end`;
const PING_MS = 2_000;

/**
 * Opens the store of a queue in Redis, whose events are jobs of BullMQ. Its connections reconnect by
 * themselves until `close()`.
 */
export function openRedisStore(settings: RedisSettings): QueueStore {
  const { prefix, name, attempts, backoff, dedupeTtlMs, outcomeTtlMs, replicas } = settings;
  const head = `${prefix}:${name}`;
  const channel = `${head}:outcomes`;
  const connection = openConnection(settings, "store");
  const subscriber = openConnection(settings, "subscriber");
  const { redis } = connection;
  const checkSetup = createSetupCheck(redis, settings);
  const assertMemory = createMemoryCheck(redis, settings);
  const confirm = replicas !== 0 ? createReplicaConfirmation(redis, settings) : undefined;
  let queue: Queue | undefined;
  let isOpen = false;
  let onHint: ((hint: Hint) => void) | undefined;
  let onEnd: ((error: Error) => void) | undefined;

  function end(error: unknown): void {
    isOpen = false;
    onEnd?.(toConnectionError(error));
  }

  redis.on("close", () => end(new Error("The connection was closed.")));
  // A node that joined the cluster may have other settings.
  redis.on("+node", () => void (isOpen && checkSetup().catch(end)));
  subscriber.redis.on("message", (_channel, keys: string) =>
    onHint?.({ hasEvents: false, outcomes: keys.split(",") }),
  );
  subscriber.redis.on("ready", () => void subscribe());
  // Without commands, a connection that is dead without having been closed would not be noticed.
  const pings = setInterval(() => {
    if (!isOpen) return;
    for (const client of [redis, subscriber.redis]) client.ping().catch(() => {});
  }, PING_MS).unref();

  /** The reads of the outcomes that are awaited, every 3 s, make up for a failure. */
  const subscribe = () => subscriber.redis.subscribe(channel).catch(() => {});

  /**
   * Opens the queue of BullMQ on the first call, when Redis was reached: one whose connection ends
   * before is rejected for ever. A user that may not run INFO can add events, too.
   */
  function getQueue(): Queue {
    if (queue !== undefined) return queue;
    queue = new Queue(name, {
      connection: redis,
      prefix,
      skipVersionCheck: true,
      // This package reads no events of BullMQ.
      streams: { events: { maxLen: 100 } },
    });
    queue.on("error", () => {});
    return queue;
  }

  const dedupeKeyOf = ({ key }: NewEvent) => `${head}:de:${key}`;
  const outcomeKeyOf = (key: string) => `${head}:outcome:${key}`;

  /** In one command, which Redis runs as a whole. */
  async function record(outcomes: readonly (StoredOutcome & { event?: NewEvent })[]) {
    if (outcomes.length === 0) return;
    const keys = outcomes.flatMap(({ key, event }) => [
      outcomeKeyOf(key),
      event === undefined ? outcomeKeyOf(key) : dedupeKeyOf(event),
    ]);
    const args = outcomes.flatMap(({ params, event }) => [params, event ? jobIdOf(event) : ""]);
    await redis.eval(RECORD, keys.length, ...keys, outcomeTtlMs, channel, ...args);
  }

  async function add(event: NewEvent): Promise<string> {
    const { type, delayMs: delay, jitter = 0 } = backoff;
    const { id = "" } = await getQueue().add("event", parseJson(event.body), {
      jobId: jobIdOf(event),
      attempts,
      backoff: { type, delay, jitter },
      deduplication: { id: event.key, ttl: dedupeTtlMs },
      removeOnComplete: true,
      stackTraceLimit: MAX_FAILURES,
    });
    return contentOf(id);
  }

  return {
    title: "Redis",
    outageCode: "REDIS_UNREACHABLE",
    ...createRedisDeadLetters(getQueue, redis, settings),
    async connect(listener) {
      onHint = listener;
      try {
        if (redis.status !== "ready") await once(redis, "ready");
        // Watch from here on: the end of an earlier connection is no outage of this one.
        const ended = new Promise<Error>((resolve) => (onEnd = resolve));
        await Promise.all([checkSetup(), subscribe()]);
        isOpen = true;
        return { ended };
      } catch (error) {
        throw toConnectionError(error);
      }
    },
    async close() {
      clearInterval(pings);
      subscriber.end();
      connection.end();
      // The connection has ended already: this removes the listeners of the queue.
      await queue?.close().catch(() => {});
    },
    async store(events) {
      assertMemory();
      // Redis runs these first, in the same round trip: no event is stored without its outcome.
      const recording = record(
        events.flatMap((event) =>
          event.outcome === undefined ? [] : [{ ...event.outcome, event }],
        ),
      );
      // Not addBulk: its transaction costs as much, and the events of a cluster have several nodes.
      const [kept] = await Promise.all([Promise.all(events.map(add)), recording]);
      await confirm?.(events.map(dedupeKeyOf));
      return kept;
    },
    record,
    async outcomes(keys) {
      const texts = await redis.mget(keys.map(outcomeKeyOf));
      return keys.flatMap((key, index) => {
        const params = texts[index] ?? undefined;
        return params === undefined ? [] : [{ key, params }];
      });
    },
    stats: async () => readStats(getQueue(), redis, settings),
  };
}
