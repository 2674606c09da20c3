/** The engines of the durable queue, as the suites that run on each of them use them. */
import {
  postgresQueue,
  redisQueue,
  sqliteQueue,
  type DurableQueue,
  type QueueOptions,
} from "express-push-verification/durable";

export type EngineName = "redis" | "postgres" | "sqlite";

/** A time in which an engine stores nothing. */
export interface EngineOutage {
  /** The state of the store meanwhile, such as "frozen". */
  name: string;
  begin(): unknown;
  end(): unknown;
}

/** An engine under test, with a store of its own. */
export interface StoppableEngine {
  /** Before each test: creates an empty queue. */
  start(): Promise<void>;
  /** Opens the queue as a process would. */
  open(options?: Partial<QueueOptions>): DurableQueue;
  /** After each test, also during an outage: removes the queue. */
  stop(): Promise<void>;
  /** The arguments of a process that opens the queue with {@link openQueue}. */
  listArguments(): [engine: EngineName, location: string, name: string];
  /** The store does not reply; commands that were sent to it run afterwards. */
  freeze: EngineOutage;
  /** Whether workers keep their events however long the store is frozen; a lock of Redis lapses. */
  keepsRuns: boolean;
  /** The server ends as in a crash; undefined for an engine without a server. */
  kill?: EngineOutage;
  /** Every way in which the store goes away, {@link StoppableEngine.freeze} among them. */
  outages: EngineOutage[];
  /** States in which the store rejects events; its error contains `error`. */
  failures: (EngineOutage & { error: string })[];
  /** Changes one row of the events, as another program does; undefined without SQL. */
  change?(assignment: string, index: number): Promise<void>;
  /** The number of connections to the store, without those of the test. */
  countConnections(): Promise<number>;
}

/** Opens a queue; `location` is a URL, or the path of a file. */
export function openQueue(
  engine: EngineName,
  location: string,
  options: QueueOptions,
): DurableQueue {
  if (engine === "sqlite") return sqliteQueue({ file: location, ...options });
  if (engine === "postgres") return postgresQueue({ connection: location, ...options });
  return redisQueue({ connection: location, ...options });
}
