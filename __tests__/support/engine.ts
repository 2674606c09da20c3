/** The engines of the durable queue, as the suites that run on each of them use them. */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import {
  postgresQueue,
  redisQueue,
  sqliteQueue,
  type DurableQueue,
  type PostgresQueueOptions,
  type RedisQueueOptions,
} from "express-push-verification/durable";
import type { Engine } from "../../lib/durable/queue";
import { createChildProcesses } from "./child-processes";
import { closeLater, closeOpened, patient } from "./durable";

const ENGINES = { postgres: postgresQueue, redis: redisQueue, sqlite: sqliteQueue };

/** A time in which an engine stores nothing. */
export interface EngineOutage {
  /** The state of the store meanwhile, such as "is frozen". */
  name: string;
  begin(): unknown;
  end(): unknown;
}

/** The format of the store of an engine, as other versions of the package write it. */
interface EngineFormat {
  codes: "FILE" | "POSTGRES" | "REDIS";
  set(numbers: { schema: number; events: number }): unknown;
  /** Makes it a store from before the first format; undefined where that is an empty one. */
  forget?(): unknown;
  /** Opens the store as a version with one more migration does, and returns what it added. */
  migrate(): Promise<unknown>;
  /** Returns the bytes of the store, which no process uses. */
  dump(): Promise<Buffer>;
  restore(dump: Buffer): unknown;
}

interface EngineUnderTest {
  kind: keyof typeof ENGINES;
  /** Before each test: creates an empty queue. */
  start(): unknown;
  /** The name of the queue, and where its store is: what {@link openQueue} needs in any process. */
  place(): { name: string; connection?: string; schema?: string; file?: string };
  /** After each test, also during an outage: removes the queue. */
  stop(): unknown;
  /** The store does not reply; commands that were sent to it run afterwards. */
  freeze: EngineOutage;
  /** Whether workers keep their events however long the store is frozen; a lock of Redis lapses. */
  keepsRuns: boolean;
  /** The server ends as in a crash; undefined for an engine without a server. */
  kill?: EngineOutage;
  /** Every way in which the store goes away, {@link EngineUnderTest.freeze} among them. */
  outages: EngineOutage[];
  /** States in which the store rejects events; its error contains `error`. */
  failures: (EngineOutage & { error: string })[];
  /** Makes the times of the store earlier: as if so much time had passed. */
  passTime(ms: number): unknown;
  /** Passes most of the time of each lease, which a process that lives renews. */
  passLeases(): unknown;
  /** Creates its storage, which is not connected. */
  createStorage(): Engine;
  /**
   * Lists the kinds of the rows, or of the keys, that are not those of the set-up. What should end
   * within `longestMs` and does not is "lasting".
   */
  listKept(longestMs: number): string[] | Promise<string[]>;
  format: EngineFormat;
  /** Changes the event with this index as another program does; undefined without SQL. */
  change?(assignment: string, index: number): unknown;
}

/** The options of a queue in Redis or Postgres; an engine rejects those of another. */
type EngineOptions = Partial<Omit<RedisQueueOptions & PostgresQueueOptions, "connection">> & {
  connection?: unknown;
};

/** An engine with queues and processes, which are closed and killed after the test. */
export type StoppableEngine = EngineUnderTest & {
  open(options?: EngineOptions): DurableQueue;
  openStorage(): Promise<Engine>;
  /** Lets the test leave these kinds of {@link EngineUnderTest.listKept}, as a process that is killed. */
  leave(...kinds: string[]): void;
  /** Starts a process on the queue, of `queue-process.ts`, and resolves when it is ready. */
  startProcess(onMessage: (message: string) => void, ...args: string[]): Promise<ChildProcess>;
  killProcess(child: ChildProcess): Promise<void>;
};

export type EngineSuite<Own = object> = (engine: StoppableEngine & Own) => void;

export function openQueue(kind: string, options: object): DurableQueue {
  const create = ENGINES[kind as keyof typeof ENGINES] as (options: object) => DurableQueue;
  return create({ ...patient, ...options });
}

/** The kinds of what a queue that is closed may leave; handlers that it did not await are "active" in Redis. */
const KEPT = /^(active|de|dead|delayed|discarded|event|job|lock|member|outcome|stalled|uuid|wait)$/;
const DAY_MS = 86_400_000;
/** Redis keeps a uuid for a second more, and the clock of a test may be behind. */
const MARGIN_MS = 60_000;

/** Runs a suite on an engine, with an empty queue for each test; fails a test that leaves more in it. */
export function runSuite<Own>(suite: EngineSuite<Own>, engine: EngineUnderTest & Own): void {
  const processes = createChildProcesses(join(__dirname, "queue-process.ts"));
  let unfinished: string[];
  let longestMs: number;
  beforeEach(() => {
    [unfinished, longestMs] = [[], DAY_MS];
    return engine.start();
  });
  const leave = (...kinds: string[]) => void unfinished.push(...kinds);
  suite({
    ...engine,
    leave,
    startProcess(onMessage, ...args) {
      leave("active event", "worker");
      return processes.start([engine.kind, JSON.stringify(engine.place()), ...args], onMessage);
    },
    killProcess: processes.kill,
    async openStorage() {
      const storage = engine.createStorage();
      await closeLater(storage).connect(() => {});
      return storage;
    },
    open(options = {}) {
      longestMs = Math.max(longestMs, options.dedupeTtlMs ?? 0, options.outcomeTtlMs ?? 0);
      return closeLater(openQueue(engine.kind, { ...engine.place(), ...options }));
    },
  });
  afterEach(async () => {
    await processes.killAll();
    await closeOpened();
    try {
      await engine.freeze.end();
      const kinds = await engine.listKept(longestMs + MARGIN_MS);
      const left = kinds.filter((kind) => !KEPT.test(kind) && !unfinished.includes(kind));
      expect(left).toEqual([]);
    } finally {
      await engine.stop();
    }
  });
}
