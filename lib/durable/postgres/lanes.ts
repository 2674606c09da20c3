import type { Notification, QueryResult } from "pg";
import { startLane, type Job } from "./lane";
import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import type { Persistence } from "./persistence";
import type { Server, Statement } from "./server";
import type { Session } from "./session";

/** Takes jobs of Graphile Worker, up to a number at a time, until it is finished. */
export interface Lanes {
  /** Has idle lanes look for jobs. */
  nudge(count: number): void;
  /**
   * Takes no more jobs, and resolves when those that were taken are done. Returns the lanes that may
   * still have a job locked: a claim of theirs had no reply, and may run on.
   */
  finish(): Promise<readonly string[]>;
  /** Leaves the jobs that were taken to other processes. */
  abandon(): void;
}

/** A job that waited for longer than this was found by a poll, so others may wait, too. */
const LATE_MS = 300;
/** Lanes are registered again: another process may have removed them while this one was cut off. */
const REGISTER_MS = 2_000;

/**
 * Starts lanes. They run on this queue's connections: an outage of Postgres delays their statements
 * instead of ending them, and the session listens for them.
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
  let isFinishing = false;
  let isClaimLost = false;
  let isRegistered: Promise<void> | undefined;
  let registeredAgain: Promise<unknown> = Promise.resolve();

  const onStart = (job: Job) => {
    if (Date.now() - Number(job.run_at) > LATE_MS) nudge(1);
  };
  const lanes = Array.from({ length: concurrency }, () =>
    startLane({ handle, onStart, run }, settings),
  );
  const listIds = () => lanes.flatMap(({ ids }) => ids);

  function nudge(count: number): void {
    let left = count;
    for (const lane of lanes) {
      if (left <= 0) return;
      if (lane.nudge()) left--;
    }
  }

  function writeRegistration(): Statement {
    const text = `insert into ${schema}.push_lane (id, queue, owner)
      select id, $2, $3 from unnest($1::text[]) as id on conflict do nothing`;
    return { text, values: [listIds(), settings.name, session.owner] };
  }

  async function register(): Promise<void> {
    try {
      await persistence.run(writeRegistration());
    } catch (error) {
      // The next statement tries again.
      isRegistered = undefined;
      throw error;
    }
  }

  async function refresh(): Promise<void> {
    session.assertOpen();
    await server.run(writeRegistration());
  }

  function registerAgain(): void {
    // The session reports an outage; the next attempt makes up for this one.
    registeredAgain = registeredAgain.then(refresh).catch(() => {});
  }

  /** Once finishing, a lane that is told that there is no job ends. */
  function giveUp(): QueryResult | undefined {
    if (!isFinishing) return undefined;
    isClaimLost = true;
    return { rows: [] } as unknown as QueryResult;
  }

  async function run(statement: Statement, ids: readonly string[]): Promise<QueryResult> {
    await (isRegistered ??= register());
    if (!ids.some((id) => id === statement.values?.[0])) return persistence.run(statement);
    // It is a claim. Without its reply, the lane would not know the job that it has.
    const undo = { text: `select ${schema}.force_unlock_workers($1)`, values: [ids] };
    // A crash that undoes the claim leaves the job to the next one.
    return persistence.run({ ...statement, isUndoable: true }, { undo, giveUp });
  }

  const hear = ({ channel, payload }: Notification) => {
    if (channel === "jobs:insert") nudge(readCount(payload));
  };
  const onOpen = () => {
    registerAgain();
    nudge(concurrency);
  };
  session.events.on("notification", hear);
  session.events.on("open", onOpen);
  const timer = setInterval(registerAgain, REGISTER_MS);
  timer.unref();

  function stopListening(): void {
    clearInterval(timer);
    session.events.off("notification", hear);
    session.events.off("open", onOpen);
  }

  return {
    nudge,
    async finish() {
      isFinishing = true;
      await Promise.all(lanes.map((lane) => lane.finish()));
      stopListening();
      await registeredAgain;
      const text = `
        with removed as (delete from ${schema}.push_lane where id = any($1) and not $2)
        select ${schema}.force_unlock_workers($1)`;
      try {
        await server.run({ text, values: [listIds(), isClaimLost] });
        return isClaimLost ? listIds() : [];
      } catch {
        // The upkeep repeats it, or that of another process once this one has ended.
        return listIds();
      }
    },
    abandon() {
      persistence.abandon();
      stopListening();
    },
  };
}

/** Reads the number of new jobs; 1 from an app that sends something else on this channel. */
function readCount(payload = ""): number {
  const [, count = "1"] = /"count":(-?\d+)/.exec(payload) ?? [];
  return Number(count);
}
