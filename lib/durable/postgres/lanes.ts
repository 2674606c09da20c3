import { EventEmitter } from "node:events";
import type { Pool, QueryResult } from "pg";
import { runTaskList, type JobHelpers, type WorkerPool } from "graphile-worker";
import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import type { Persistence } from "./persistence";
import { SILENT } from "./schema";
import type { Server, Statement } from "./server";
import type { Session } from "./session";

/** A job of Graphile Worker. */
export type Job = JobHelpers["job"];

/** Takes jobs of Graphile Worker, up to a number at a time, until it is finished. */
export interface Lanes {
  /** Has idle lanes look for jobs. */
  nudge(count: number): void;
  /** Takes no more jobs, and resolves when those that were taken are done. */
  finish(): Promise<void>;
  /** Leaves the jobs that were taken to other processes. */
  abandon(): void;
}

const NEVER_MS = 2 ** 31 - 1;
/** A job that waited for longer than this was found by a poll, so others may wait, too. */
const LATE_MS = 300;

/**
 * Starts a runner of Graphile Worker. It runs on this queue's connections: an outage of Postgres
 * delays its statements instead of ending its lanes, and the session listens for it.
 */
export function startLanes(
  concurrency: number,
  handle: (payload: unknown, job: Job) => Promise<void>,
  server: Server,
  session: Session,
  persistence: Persistence,
  settings: PostgresSettings,
): Lanes {
  const { schema } = namesOf(settings);
  const ids = new Set<string>();
  const events = new EventEmitter();
  const listener = new EventEmitter();
  listener.setMaxListeners(0);
  let isFinishing = false;
  let isRegistered: Promise<void> | undefined;

  events.on("pool:create", ({ workerPool }: { workerPool: WorkerPool }) => ids.add(workerPool.id));
  events.on("worker:create", ({ worker }: { worker: { workerId: string } }) => {
    ids.add(worker.workerId);
  });
  events.on("job:start", ({ job }: { job: Job }) => {
    if (Date.now() - Number(job.run_at) > LATE_MS) nudge(1);
  });

  function nudge(count: number): void {
    const payload = JSON.stringify({ count });
    listener.emit("notification", { channel: "jobs:insert", payload });
  }

  async function register(): Promise<void> {
    const text = `insert into ${schema}.push_lane (id, queue, owner)
      select id, $2, $3 from unnest($1::text[]) as id on conflict do nothing`;
    await persistence.run({ text, values: [[...ids], settings.name, session.owner] });
  }

  /** Once finishing, a lane that is told that there is no job ends. */
  const giveUp = () => (isFinishing ? ({ rows: [] } as unknown as QueryResult) : undefined);

  /** Runs a statement of Graphile Worker. */
  function run(statement: Statement): Promise<QueryResult> {
    const lane = statement.values?.[0];
    if (typeof lane !== "string" || !ids.has(lane)) return persistence.run(statement);
    // It is a claim. Without its reply, the lane would not know the job that it has.
    const undo = { text: `select ${schema}.force_unlock_workers($1)`, values: [[lane]] };
    // A crash that undoes the claim leaves the job to the next one.
    return persistence.run({ ...statement, isUndoable: true }, { undo, giveUp });
  }

  const client = {
    async query(text: string | Statement, values: readonly unknown[] = []) {
      await (isRegistered ??= register());
      return run(typeof text === "string" ? { text, values } : text);
    },
    release() {},
  };
  /** Receives what the session hears, and never fails. */
  const listening = Object.assign(listener, {
    query: () => Promise.resolve({ rows: [] }),
  });
  const pool = {
    connect(callback?: (error: undefined, client: unknown, release: () => void) => void) {
      callback?.(undefined, listening, () => {});
      return Promise.resolve(client);
    },
  };
  const forward = (message: unknown) => void listener.emit("notification", message);
  const nudgeAll = () => nudge(concurrency);
  session.events.on("notification", forward);
  session.events.on("open", nudgeAll);

  const runner = runTaskList(
    {
      schema: settings.schema,
      logger: SILENT,
      noHandleSignals: true,
      // One poll for all lanes is in the upkeep of the queue.
      preset: { worker: { concurrentJobs: concurrency, pollInterval: NEVER_MS } },
      events,
    },
    { [settings.name]: (payload, { job }) => handle(payload, job) },
    pool as unknown as Pool,
  );
  // It rejects for lanes that were abandoned.
  runner.promise.catch(() => {});

  return {
    nudge,
    async finish() {
      isFinishing = true;
      await runner.gracefulShutdown();
      session.events.off("notification", forward);
      session.events.off("open", nudgeAll);
      const text = `delete from ${schema}.push_lane where id = any($1)
        and not exists (select from ${schema}.jobs where locked_by = any($1))`;
      // Otherwise another process removes them, after the time that it gives this one.
      await server.run({ text, values: [[...ids]] }).catch(() => {});
    },
    abandon() {
      persistence.abandon();
      session.events.off("notification", forward);
      session.events.off("open", nudgeAll);
    },
  };
}
