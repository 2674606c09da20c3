import { setTimeout as sleep } from "node:timers/promises";
import type { Notification, QueryResult } from "pg";
import { createRunnerOptions, startLane, type Lane, type LaneOptions } from "./lane";
import type { PostgresSettings } from "./options";
import type { Persistence } from "./persistence";
import { REGISTRATION_MS } from "./process-table";
import { writeRegistration, writeRelease } from "./registration";
import type { Server, Statement } from "./server";
import type { Session } from "./session";

/** Takes jobs of Graphile Worker, up to a number at a time, until it is finished. */
export interface Lanes {
  /** Has idle lanes look for jobs. */
  nudge(count: number): void;
  /** Lists the ids of the lanes that take jobs, or have one. */
  listIds(): readonly string[];
  /** Takes no more jobs, and resolves when those that were taken are done. */
  finish(): Promise<void>;
  /** Leaves the jobs that were taken to other processes. */
  abandon(): void;
}

/** A job that waited for longer than this was found by a poll, so others may wait, too. */
const LATE_MS = 300;
/** After a claim that failed. It grows to the time since the last claim that did not. */
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Starts lanes. They run on this queue's connections: an outage of Postgres delays their statements
 * instead of ending them, and the session listens for them.
 */
export function startLanes(
  concurrency: number,
  handle: LaneOptions["handle"],
  server: Server,
  session: Session,
  persistence: Persistence,
  settings: PostgresSettings,
): Lanes {
  const lanes = new Set<Lane>();
  let isFinishing = false;
  let failingSinceMs: number | undefined;
  let registered: Promise<void> | undefined;
  let registeredAgain: Promise<unknown> = Promise.resolve();

  const runnerOptions = createRunnerOptions(settings, (job) => {
    if (Date.now() - Number(job.run_at) > LATE_MS) nudge(1);
  });
  const listIds = () => [...lanes].flatMap(({ ids }) => ids);

  function addLane(): void {
    const onLost = () => {
      // The upkeep releases what a lane that is not listed has locked, or locks later.
      lanes.delete(lane);
      if (!isFinishing) addLane();
    };
    const lane = startLane({ runnerOptions, handle, run, claim, onLost }, settings.name);
    lanes.add(lane);
    registered = undefined;
  }

  function nudge(count: number): void {
    let left = count;
    for (const lane of lanes) {
      if (left <= 0) return;
      if (lane.nudge()) left--;
    }
  }

  async function register(): Promise<void> {
    try {
      await persistence.run(writeRegistration(listIds(), session.owner, settings));
    } catch (error) {
      // The next statement tries again.
      registered = undefined;
      throw error;
    }
  }

  async function refresh(): Promise<void> {
    // Not with the pool: a process whose lanes wait for its connections is alive.
    await session.run(writeRegistration(listIds(), session.owner, settings));
  }

  function registerAgain(): void {
    // The session reports an outage; the next attempt makes up for this one.
    registeredAgain = registeredAgain.then(refresh).catch(() => {});
  }

  async function run(statement: Statement): Promise<QueryResult> {
    await (registered ??= register());
    return persistence.run(statement);
  }

  async function claim(statement: Statement): Promise<QueryResult | undefined> {
    await (registered ??= register());
    // A crash that undoes the claim leaves the job to the next one.
    const result = await persistence.runOnce({ ...statement, isUndoable: true });
    if (result !== undefined) failingSinceMs = undefined;
    else await pause();
    return result;
  }

  async function pause(): Promise<void> {
    failingSinceMs ??= performance.now();
    const failingMs = performance.now() - failingSinceMs;
    const pauseMs = Math.min(Math.max(failingMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
    await sleep(pauseMs, undefined, { ref: false });
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
  for (let count = 0; count < concurrency; count++) addLane();
  // Other processes see that this one is alive. One of them may have removed its lanes meanwhile.
  const timer = setInterval(registerAgain, REGISTRATION_MS);
  timer.unref();

  function stopListening(): void {
    clearInterval(timer);
    session.events.off("notification", hear);
    session.events.off("open", onOpen);
  }

  return {
    nudge,
    listIds,
    async finish() {
      isFinishing = true;
      await Promise.all([...lanes].map((lane) => lane.finish()));
      stopListening();
      await registeredAgain;
      try {
        await server.run(writeRelease(listIds(), settings));
      } catch {
        // The upkeep does it, or that of another process once this one has ended.
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
