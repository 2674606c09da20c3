import { EventEmitter } from "node:events";
import type { Pool, QueryResult } from "pg";
import { runTaskList, type JobHelpers } from "graphile-worker";
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

/** The options of Graphile Worker that the lanes of a worker share. */
export type RunnerOptions = Parameters<typeof runTaskList>[0];

/** What a lane does with its jobs. */
export interface LaneOptions {
  runnerOptions: RunnerOptions;
  /** Resolves with whether the event is handled; otherwise, it replaced the job or set it aside. */
  handle: (payload: unknown, job: Job) => Promise<boolean>;
  /** Runs a statement of Graphile Worker. */
  run: (statement: Statement) => Promise<QueryResult>;
  /** Runs a statement that locks a job. Returns undefined when it failed: it may run on. */
  claim: (statement: Statement) => Promise<QueryResult | undefined>;
  /** Called after a claim that failed, when the lane takes no more jobs. */
  onLost: () => void;
}

const NEVER_MS = 2 ** 31 - 1;

/**
 * A lane has one task. With the array, Postgres does not use the index `push_job_task`: it reads the
 * jobs of the other queues of the schema, too, and 120,000 of them slow 16 lanes to 50 jobs a second.
 */
const ANY_TASK = "task_id = any($2::int[])";
const ONE_TASK = "task_id = ($2::int[])[1]";

/** The statement that removes a job. It would also remove one that another process took over. */
const COMPLETION = /^delete from \S+ as jobs\s+where id = \$1::bigint$/;
/** A job without a key was replaced or set aside. One that is not locked needs no second run. */
const IS_OWN = "(key is null or $2 and (locked_by is null or locked_by = any($3)))";

/**
 * Creates the options that all lanes of a worker share: Graphile Worker keeps something of each
 * options object for as long as the process runs.
 */
export function createRunnerOptions(
  { schema }: PostgresSettings,
  onStart: (job: Job) => void,
): RunnerOptions {
  const events = new EventEmitter();
  events.on("job:start", ({ job }: { job: Job }) => onStart(job));
  return {
    schema,
    logger: SILENT,
    noHandleSignals: true,
    // One poll for all lanes is in the upkeep of the queue.
    preset: { worker: { concurrentJobs: 1, pollInterval: NEVER_MS } },
    events,
  };
}

/**
 * Starts a lane. Its statements run one after the other: Graphile Worker 0.17 claims a job before the
 * former one is removed, so releasing what this lane has locked would run that one again.
 *
 * A claim that failed ends the lane. The claim may run on, and lock a job that the lane would not know.
 */
export function startLane(
  { runnerOptions, handle, run, claim, onLost }: LaneOptions,
  name: string,
): Lane {
  let isEnding = false;
  let last: Promise<unknown> = Promise.resolve();
  /** The jobs whose events are handled. */
  const handledIds = new Set<unknown>();

  async function runOrClaim(statement: Statement): Promise<QueryResult> {
    const isClaim = ids.some((id) => id === statement.values?.[0]);
    if (COMPLETION.test(statement.text)) return complete(statement);
    if (!isClaim) return run(statement);
    const text = statement.text.replace(ANY_TASK, ONE_TASK);
    const result = await claim({ ...statement, text });
    if (result !== undefined) return result;
    // A runner that shuts down, and is told that there is no job, ends.
    void end();
    onLost();
    return { rows: [] } as unknown as QueryResult;
  }

  async function complete({ text, values = [], ...rest }: Statement): Promise<QueryResult> {
    const [id] = values;
    const own = [id, handledIds.has(id), ids];
    const result = await run({ ...rest, text: `${text} and ${IS_OWN}`, values: own });
    handledIds.delete(id);
    return result;
  }

  const client = {
    query(text: string | Statement, values: readonly unknown[] = []): Promise<QueryResult> {
      const statement = typeof text === "string" ? { text, values } : text;
      const result = last.then(() => runOrClaim(statement));
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
  const tasks = {
    async [name](payload: unknown, { job }: JobHelpers) {
      if (await handle(payload, job)) handledIds.add(job.id);
    },
  };
  const runner = runTaskList(runnerOptions, tasks, pool as unknown as Pool);
  const { worker } = runner;
  const ids = worker === null ? [runner.id] : [runner.id, worker.workerId];
  // It rejects for a lane that was abandoned.
  runner.promise.catch(() => {});

  async function end(): Promise<void> {
    isEnding = true;
    await runner.gracefulShutdown();
  }

  return {
    ids,
    // A nudge after the shutdown would throw.
    nudge: () => !isEnding && worker?.nudge() === true,
    async finish() {
      await end();
      await last;
    },
  };
}
