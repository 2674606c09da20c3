import { once } from "node:events";
import type { Engine } from "../queue";
import { QueueError } from "../queue-error";
import type { Hint, NewEvent, StoredOutcome } from "../storage";
import { findRedisRejection, openConnection } from "./connection";
import { createRedisDeadLetters } from "./dead-letters";
import { prepareFormat } from "./format";
import { createJobs, jobIdOf } from "./jobs";
import { createMemoryCheck } from "./memory";
import type { RedisSettings } from "./options";
import { createReplicaConfirmation } from "./replicas";
import { createSetupCheck, findTlsError, toConnectionError, tryCommands } from "./setup";
import { readStats } from "./stats";
import { RedisWorker } from "./worker";

/**
 * Notes the job of each uuid, and sets outcomes and announces their keys, except those of challenges
 * that have one. KEYS: those of a uuid and of an outcome. ARGV: the account and the job of the uuid, and the
 * value of the outcome, or "". If the uuid has another job, nothing is set: neither a conflict nor a
 * replay records an outcome.
 */
const RECORD = `
  local added = {}
  for index = 1, #KEYS, 2 do
    local first = 4 + (index - 1) / 2 * 3
    local account, job, outcome = unpack(ARGV, first, first + 2)
    local is_first = account == ""
    if not is_first then
      is_first = redis.call("HSETNX", KEYS[index], account, job) == 1
        or redis.call("HGET", KEYS[index], account) == job
      if is_first then
        redis.call("PEXPIRE", KEYS[index], ARGV[1])
      end
    end
    if outcome ~= "" and is_first
      and redis.call("SET", KEYS[index + 1], outcome, "NX", "PX", ARGV[2]) then
      table.insert(added, string.sub(KEYS[index + 1], -32))
    end
  end
  if #added > 0 then
    redis.call("PUBLISH", ARGV[3], table.concat(added, ","))
  end`;
/** A uuid is noted before BullMQ keeps it, and must not expire before. */
const NOTE_MARGIN_MS = 1_000;
const PING_MS = 2_000;

/**
 * Opens the store of a queue in Redis, whose events are jobs of BullMQ. Its connections reconnect by
 * themselves until `close()`.
 */
export function openRedisStore(settings: RedisSettings): Engine {
  const { prefix, name, dedupeTtlMs, outcomeTtlMs, replicas } = settings;
  const head = `${prefix}:${name}`;
  const channel = `${head}:outcomes`;
  const namesKey = `${prefix}:queues`;
  const connection = openConnection(settings, "store");
  const subscriber = openConnection(settings, "subscriber");
  const { redis } = connection;
  const checkSetup = createSetupCheck(redis, settings);
  const assertMemory = createMemoryCheck(redis, settings);
  const jobs = createJobs(redis, settings);
  const deadLetters = createRedisDeadLetters(jobs, redis, settings);
  const confirm = replicas !== 0 ? createReplicaConfirmation(redis, jobs, settings) : undefined;
  let isOpen = false;
  let wasOpen = false;
  let isNamed = false;
  let onHint: ((hint: Hint) => void) | undefined;
  let onEnd: ((error: Error) => void) | undefined;

  function end(error: unknown): void {
    isOpen = false;
    onEnd?.(toConnectionError(error, settings));
  }

  redis.on("close", () => end(new Error("The connection was closed.")));
  // A node that joined the cluster may have other settings.
  redis.on("+node", () => void (isOpen && checkSetup().catch(end)));
  subscriber.redis.on("message", (_channel, keys: string) =>
    onHint?.({ hasEvents: false, outcomes: keys.split(",") }),
  );
  subscriber.redis.on("ready", () => void subscribe().catch(() => {}));
  // Without commands, a connection that is dead without having been closed would not be noticed.
  const pings = setInterval(() => {
    if (!isOpen) return;
    for (const client of [redis, subscriber.redis]) client.ping().catch(() => {});
  }, PING_MS).unref();

  /** The reads of the outcomes that are awaited, every 3 s, make up for a failure that is no rejection. */
  const subscribe = () =>
    subscriber.redis.subscribe(channel).catch((error: unknown) => {
      if (findRedisRejection(error) !== undefined) throw error;
    });

  /** Rejects also when the server closes the connection without an error. */
  async function whenReady(): Promise<void> {
    const attempt = new AbortController();
    const { signal } = attempt;
    try {
      const closed = once(redis, "close", { signal });
      await Promise.race([once(redis, "ready", { signal }), closed]);
    } finally {
      attempt.abort();
    }
    if (redis.status !== "ready") throw new Error("The connection was closed.");
  }

  const outcomeKeyOf = (key: string) => `${head}:outcome:${key}`;

  /** In one command, which Redis runs as a whole. */
  async function record(
    items: readonly { outcome: StoredOutcome | undefined; event?: NewEvent }[],
  ): Promise<void> {
    const keys: string[] = [];
    const args: string[] = [];
    for (const { outcome, event } of items) {
      const outcomeKey = outcome && outcomeKeyOf(outcome.key);
      const uuidKey = event && `${head}:uuid:${event.uuidHash}`;
      // In a cluster, each key must be of the queue.
      keys.push(uuidKey ?? outcomeKey ?? "", outcomeKey ?? uuidKey ?? "");
      args.push(event?.key ?? "", event ? jobIdOf(event) : "", outcome?.value ?? "");
    }
    const ttls = [dedupeTtlMs + NOTE_MARGIN_MS, outcomeTtlMs];
    await redis.eval(RECORD, keys.length, ...keys, ...ttls, channel, ...args);
  }

  return {
    title: "Redis",
    outageCode: "REDIS_UNREACHABLE",
    // The process prepares a batch while Redis runs others; no fsync makes larger ones cheaper.
    storeBatches: { maxItems: 32, maxRunning: 4 },
    ...deadLetters,
    startWorker: (runner, context) =>
      new RedisWorker(runner, context, { settings, jobs, deadLetters }),
    async connect(listener) {
      onHint = listener;
      try {
        if (redis.status !== "ready") await whenReady();
        // Watch from here on: the end of an earlier connection is no outage of this one.
        const ended = new Promise<Error>((resolve) => (onEnd = resolve));
        await checkSetup();
        await Promise.all([
          tryCommands(redis, channel, settings),
          subscribe(),
          prepareFormat(redis, settings),
        ]);
        isOpen = true;
        wasOpen = true;
        return { ended };
      } catch (error) {
        const reason = toConnectionError(error, settings);
        const isOutage = !wasOpen && !(reason instanceof QueueError);
        throw (isOutage ? await findTlsError(redis) : undefined) ?? reason;
      }
    },
    async close() {
      clearInterval(pings);
      subscriber.end();
      connection.end();
      await jobs.close();
    },
    async store(events) {
      assertMemory();
      // Redis runs this first, in the same round trip: no event is stored without its outcome.
      const recording = record(events.map((event) => ({ outcome: event.outcome, event })));
      // Not addBulk: its transaction costs as much, and the events of a cluster have several nodes.
      const [kept] = await Promise.all([Promise.all(events.map(jobs.add)), recording]);
      await confirm?.(events);
      if (!isNamed) await redis.sadd(namesKey, name);
      isNamed = true;
      return kept;
    },
    record: (outcomes) => record(outcomes.map((outcome) => ({ outcome }))),
    async outcomes(keys) {
      const texts = await redis.mget(keys.map(outcomeKeyOf));
      return keys.flatMap((key, index) => {
        const value = texts[index] ?? undefined;
        return value === undefined ? [] : [{ key, value }];
      });
    },
    names: () => redis.smembers(namesKey),
    stats: async () => readStats(jobs, deadLetters.countDeadLetters, redis, settings),
  };
}
