import { EventEmitter } from "node:events";
import type { Pool, QueryResult } from "pg";
import { runTaskList, type JobHelpers, type Worker, type WorkerPool } from "graphile-worker";
import type { PostgresSettings } from "./options";
import { SILENT } from "./schema";
import type { Statement } from "./server";

/** A job of Graphile Worker. */
export type Job = JobHelpers["job"];

/** A runner of Graphile Worker that has one job at a time. */
export interface Lane {
  /** What its job may be locked by: up to 0.16 a worker, from 0.17 on a pool of workers. */
  ids: readonly string[];
  /** Has it look for a job; false while it has one. */
  nudge(): boolean;
  /** Takes no more jobs, and resolves when the one that was taken is removed. */
  finish(): Promise<void>;
}

/** What a lane does with its jobs. */
export interface LaneOptions {
  handle: (payload: unknown, job: Job) => Promise<void>;
  onStart: (job: Job) => void;
  /** Runs a statement of Graphile Worker for the lane of these ids. */
  run: (statement: Statement, ids: readonly string[]) => Promise<QueryResult>;
}

const NEVER_MS = 2 ** 31 - 1;

/**
 * Starts a lane. Its statements run one after the other: Graphile Worker 0.17 claims a job before the
 * former one is removed, so releasing what this lane has locked would run that one again.
 */
export function startLane(
  { handle, onStart, run }: LaneOptions,
  { name, schema }: PostgresSettings,
): Lane {
  const ids: string[] = [];
  const events = new EventEmitter();
  let worker: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();

  events.on("pool:create", ({ workerPool }: { workerPool: WorkerPool }) => ids.push(workerPool.id));
  events.on("worker:create", ({ worker: created }: { worker: Worker }) => {
    worker = created;
    ids.push(created.workerId);
  });
  // A nudge after its release would throw.
  events.on("worker:release", () => (worker = undefined));
  events.on("job:start", ({ job }: { job: Job }) => onStart(job));

  const client = {
    query(text: string | Statement, values: readonly unknown[] = []): Promise<QueryResult> {
      const statement = typeof text === "string" ? { text, values } : text;
      const result = last.then(() => run(statement, ids));
      last = result.catch(() => {});
      return result;
    },
    release() {},
  };
  /** Stands for a connection that listens and never fails: the session listens for all lanes. */
  const listening = Object.assign(new EventEmitter(), {
    query: () => Promise.resolve({ rows: [] }),
  });
  const pool = {
    connect(callback?: (error: undefined, client: unknown, release: () => void) => void) {
      callback?.(undefined, listening, () => {});
      return Promise.resolve(client);
    },
  };
  const runner = runTaskList(
    {
      schema,
      logger: SILENT,
      noHandleSignals: true,
      // One poll for all lanes is in the upkeep of the queue.
      preset: { worker: { concurrentJobs: 1, pollInterval: NEVER_MS } },
      events,
    },
    { [name]: (payload, { job }) => handle(payload, job) },
    pool as unknown as Pool,
  );
  // It rejects for a lane that was abandoned.
  runner.promise.catch(() => {});

  return {
    ids,
    nudge: () => worker?.nudge() === true,
    async finish() {
      await runner.gracefulShutdown();
      await last;
    },
  };
}
