import { once } from "node:events";
import type { Count } from "../../core/door";
import { QueueError } from "../queue-error";
import type { Runner } from "../runner";
import type {
  Hint,
  NewEvent,
  NewStoredEntry,
  QueueStats,
  Storage,
  StoredDeadLetter,
  StoredDeadLetterChoice,
  StoredOutcome,
  TextKind,
} from "../storage";
import type { WorkerContext, WorkerPool } from "../worker";
import { findRedisRejection, openConnection } from "./connection";
import { RedisDeadLetters } from "./dead-letters";
import { prepareFormat } from "./migration";
import { createRedisJournal } from "./journal";
import { createJobs, jobIdOf, type Jobs } from "./jobs";
import { createMemoryCheck } from "./memory-shortage";
import type { RedisSettings } from "./options";
import { createReplicaConfirmation } from "./replicas";
import { createSetupCheck, findTlsError, toConnectionError, tryCommands } from "./setup";
import { readStats } from "./stats";
import { createRedisUserData } from "./user-data";
import { RedisWorker } from "./worker";

/**
 * Notes the job of each uuid, sets the outcomes of challenges that have none, and announces their keys.
 * KEYS: of a uuid and of an outcome, in turn. ARGV: the account and the job of the uuid, and the value
 * of the outcome, or "". Nothing is set for a uuid with another job: a conflict or a replay.
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
/** A uuid is noted before BullMQ keeps it. */
const NOTE_MARGIN_MS = 1_000;
const PING_MS = 2_000;

/** The store of a queue in Redis, whose events are jobs of BullMQ. */
export class RedisStore implements Storage, WorkerPool {
  readonly title = "Redis";
  readonly outageCode = "REDIS_UNREACHABLE";
  // The process prepares a batch while Redis runs others.
  readonly storeBatches = { maxItems: 32, maxRunning: 4 };
  readonly #settings: RedisSettings;
  readonly #channel: string;
  readonly #namesKey: string;
  readonly #connection: ReturnType<typeof openConnection>;
  readonly #subscriber: ReturnType<typeof openConnection>;
  readonly #checkSetup: ReturnType<typeof createSetupCheck>;
  readonly #assertMemory: ReturnType<typeof createMemoryCheck>;
  readonly #jobs: Jobs;
  readonly #deadLetters: RedisDeadLetters;
  readonly #userData: ReturnType<typeof createRedisUserData>;
  readonly #journal: ReturnType<typeof createRedisJournal>;
  readonly #confirm: ReturnType<typeof createReplicaConfirmation> | undefined;
  // Without them, a dead connection that is idle is not noticed.
  readonly #pings = setInterval(() => this.#ping(), PING_MS).unref();
  #isOpen = false;
  #wasOpen = false;
  /** Whether its name is listed. */
  #isNamed = false;
  #onHint: ((hint: Hint) => void) | undefined;
  #onEnd: ((error: Error) => void) | undefined;

  constructor(settings: RedisSettings) {
    this.#settings = settings;
    this.#channel = `${settings.head}:outcomes`;
    this.#namesKey = `${settings.prefix}:queues`;
    this.#connection = openConnection(settings, "store");
    this.#subscriber = openConnection(settings, "subscriber");
    const { redis } = this.#connection;
    this.#checkSetup = createSetupCheck(redis, settings);
    this.#assertMemory = createMemoryCheck(redis, settings);
    this.#jobs = createJobs(redis, settings);
    this.#deadLetters = new RedisDeadLetters(this.#jobs, redis, settings);
    this.#userData = createRedisUserData(this.#jobs, redis, settings);
    this.#journal = createRedisJournal(redis, settings);
    this.#confirm =
      settings.replicas === 0 ? undefined : createReplicaConfirmation(redis, this.#jobs, settings);
    this.#listen();
  }

  startWorker(runner: Runner, context: WorkerContext): RedisWorker {
    return new RedisWorker(runner, {
      settings: this.#settings,
      jobs: this.#jobs,
      deadLetters: this.#deadLetters,
      availability: context.availability,
      erase: (id) => this.#userData.erase("event", [id]),
    });
  }

  async connect(onHint: (hint: Hint) => void): Promise<{ ended: Promise<Error> }> {
    const { redis } = this.#connection;
    this.#onHint = onHint;
    try {
      if (redis.status !== "ready") await this.#whenReady();
      // The end of an earlier connection is no outage of this one.
      const ended = new Promise<Error>((resolve) => (this.#onEnd = resolve));
      await this.#checkSetup();
      await Promise.all([
        tryCommands(redis, this.#channel, this.#settings),
        this.#subscribe(),
        prepareFormat(redis, this.#settings),
      ]);
      this.#isOpen = true;
      this.#wasOpen = true;
      return { ended };
    } catch (error) {
      const reason = toConnectionError(error, this.#settings);
      const isOutage = !this.#wasOpen && !(reason instanceof QueueError);
      throw (isOutage ? await findTlsError(redis) : undefined) ?? reason;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#pings);
    this.#subscriber.end();
    this.#connection.end();
    await this.#jobs.close();
  }

  async store(events: readonly NewEvent[]): Promise<string[]> {
    this.#assertMemory();
    // Redis runs this first: no event is stored without its outcome.
    const recording = this.#record(events.map((event) => ({ outcome: event.outcome, event })));
    // Not addBulk: the events of a cluster have several nodes.
    const [kept] = await Promise.all([Promise.all(events.map(this.#jobs.add)), recording]);
    await this.#confirm?.(events);
    if (!this.#isNamed) await this.#connection.redis.sadd(this.#namesKey, this.#settings.name);
    this.#isNamed = true;
    return kept;
  }

  record(outcomes: readonly StoredOutcome[]): Promise<void> {
    return this.#record(outcomes.map((outcome) => ({ outcome })));
  }

  async outcomes(keys: readonly string[]): Promise<StoredOutcome[]> {
    const texts = await this.#connection.redis.mget(keys.map((key) => this.#outcomeKeyOf(key)));
    return keys.flatMap((key, index) => {
      const value = texts[index] ?? undefined;
      return value === undefined ? [] : [{ key, value }];
    });
  }

  deadLetters(choice: StoredDeadLetterChoice, after?: StoredDeadLetter) {
    return this.#deadLetters.list(choice, after);
  }

  deadGroups() {
    return this.#deadLetters.groups();
  }

  find(uuidHash: string) {
    return this.#deadLetters.find(uuidHash);
  }

  retry(ids: readonly string[]) {
    return this.#deadLetters.retry(ids);
  }

  discard(ids: readonly string[]) {
    return this.#deadLetters.discard(ids);
  }

  scan(kind: TextKind, from?: string) {
    return kind === "entry" ? this.#journal.scan(from) : this.#userData.scan(kind, from);
  }

  erase(kind: TextKind, ids: readonly string[]) {
    return kind === "entry" ? this.#journal.erase(ids) : this.#userData.erase(kind, ids);
  }

  appendEntries(entries: readonly NewStoredEntry[], counts: readonly Count[]) {
    return this.#journal.appendEntries(entries, counts);
  }

  readCounts(fromMs: number) {
    return this.#journal.readCounts(fromMs);
  }

  trimEntries() {
    return this.#journal.trimEntries();
  }

  secret(candidate: string) {
    return this.#journal.secret(candidate);
  }

  readonly names = () => this.#connection.redis.smembers(this.#namesKey);

  stats(): Promise<QueueStats> {
    const countDeadLetters = () => this.#deadLetters.count();
    return readStats(this.#jobs, countDeadLetters, this.#connection.redis, this.#settings);
  }

  #listen(): void {
    const { redis } = this.#connection;
    redis.on("close", () => this.#end(new Error("The connection was closed.")));
    // A node that joined the cluster may have other settings.
    redis.on("+node", () => {
      if (this.#isOpen) this.#checkSetup().catch((error: unknown) => this.#end(error));
    });
    const subscriber = this.#subscriber.redis;
    subscriber.on("message", (_channel, keys: string) =>
      this.#onHint?.({ hasEvents: false, outcomes: keys.split(",") }),
    );
    subscriber.on("ready", () => void this.#subscribe().catch(() => {}));
  }

  #end(error: unknown): void {
    this.#isOpen = false;
    this.#onEnd?.(toConnectionError(error, this.#settings));
  }

  #ping(): void {
    if (!this.#isOpen) return;
    for (const { redis } of [this.#connection, this.#subscriber]) redis.ping().catch(() => {});
  }

  /** A read every 3 s makes up for a failure that is no rejection. */
  #subscribe(): Promise<unknown> {
    return this.#subscriber.redis.subscribe(this.#channel).catch((error: unknown) => {
      if (findRedisRejection(error) !== undefined) throw error;
    });
  }

  async #whenReady(): Promise<void> {
    const { redis } = this.#connection;
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

  #outcomeKeyOf(key: string): string {
    return `${this.#settings.head}:outcome:${key}`;
  }

  async #record(
    items: readonly { outcome: StoredOutcome | undefined; event?: NewEvent }[],
  ): Promise<void> {
    const { head, dedupeTtlMs, outcomeTtlMs } = this.#settings;
    const keys: string[] = [];
    const args: string[] = [];
    for (const { outcome, event } of items) {
      const outcomeKey = outcome && this.#outcomeKeyOf(outcome.key);
      const uuidKey = event && `${head}:uuid:${event.uuidHash}`;
      // In a cluster, each key must be of the queue.
      keys.push(uuidKey ?? outcomeKey ?? "", outcomeKey ?? uuidKey ?? "");
      args.push(event?.key ?? "", event ? jobIdOf(event) : "", outcome?.value ?? "");
    }
    const ttls = [dedupeTtlMs + NOTE_MARGIN_MS, outcomeTtlMs];
    const { redis } = this.#connection;
    await redis.eval(RECORD, keys.length, ...keys, ...ttls, this.#channel, ...args);
  }
}
