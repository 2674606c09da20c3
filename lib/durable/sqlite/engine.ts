import { createBeatClock } from "./beat-clock";
import type { Database } from "./database";
import { createDemands } from "./demands";
import { createEventTable } from "./event-table";
import { isDamage } from "./file-error";
import { createLetterTable } from "./letter-table";
import { createOutcomeTable } from "./outcome-table";
import { filterKinds, hasDurable } from "./operation-kind";
import { createOwner, createProcessTable } from "./process-table";
import type { Operations, Request, ThreadFailure, ThreadMessage } from "./protocol";
import { createWatchedOutcomes } from "./watched-outcomes";

/** The operations of an open file, many in one transaction. */
export interface Engine {
  /**
   * Runs operations, claims due events for the workers, and posts the results of both. When the
   * transaction fails, each of its operations does.
   *
   * @throws what SQLite throws when it cannot read the file, or finds it damaged.
   */
  run(requests: readonly Request[]): void;
  /** Looks for what other processes stored. */
  poll(): void;
  /** How long {@link Engine.poll} may wait, in milliseconds. */
  pollDelayMs(): number;
  /**
   * Forgets expired uuids and outcomes; returns whether there may be more.
   *
   * @throws what SQLite throws when it finds the file damaged.
   */
  purge(): boolean;
}

/** While other processes share the file: they cannot call this one. */
const SHARED_POLL_MS = 5;
/** Otherwise, and for a process that starts meanwhile. */
const LONGEST_POLL_MS = 100;
const PAUSE_AFTER_FAILURE_MS = 250;

/** Creates the operations of an open file. */
export function createEngine(
  { connection, transact }: Database,
  post: (message: ThreadMessage) => void,
  describe: (error: unknown) => ThreadFailure,
): Engine {
  // Of each opening: events that were claimed when the file was closed have lost their owner.
  const owner = createOwner();
  const outcomes = createOutcomeTable(connection);
  const events = createEventTable(connection, outcomes, owner);
  const processes = createProcessTable(connection, owner);
  const dataVersion = connection.prepare("PRAGMA data_version");
  const demands = createDemands(events);
  const beats = createBeatClock();
  const watched = createWatchedOutcomes(outcomes);
  let otherCount = 0;
  let seenVersion = 0;
  let isPausedUntilMs = 0;

  const operations: Operations = {
    ...createLetterTable(connection),
    store: events.store,
    record: outcomes.record,
    finish: events.finish,
    fail: events.fail,
    stats: processes.stats,
    watch: watched.watch,
    unwatch: watched.unwatch,
    want: demands.want,
    unwant: demands.unwant,
    heartbeat(isWorker) {
      processes.beat(isWorker);
      // After a stall of the disk or of this machine, the others could not write theirs either.
      if (beats.isInTime()) events.takeOver();
      otherCount = processes.countOthers();
    },
    leave(isIdle) {
      if (isIdle) processes.leave();
    },
  };

  function runOne([id, name, argument]: Request): readonly [number, unknown] {
    const operation: (argument: never) => unknown = operations[name];
    return [id, operation(argument as never)];
  }

  function isClaimDue(): boolean {
    if (Date.now() < isPausedUntilMs) return false;
    return demands.isAny() && (events.nextRunAt() ?? Number.POSITIVE_INFINITY) <= Date.now();
  }

  function runWrites(requests: readonly Request[], results: (readonly [number, unknown])[]) {
    if (requests.length === 0 && !isClaimDue()) return [];
    try {
      const [written, claimed] = transact(
        hasDurable(requests),
        () => [requests.map(runOne), demands.claim()] as const,
      );
      results.push(...written);
      demands.satisfy(claimed);
      return claimed;
    } catch (error) {
      if (isDamage(error)) throw error;
      isPausedUntilMs = Date.now() + PAUSE_AFTER_FAILURE_MS;
      fail(requests, error);
      return [];
    }
  }

  function fail(requests: readonly Request[], error: unknown): void {
    post({ type: "failed", ids: requests.map(([id]) => id), failure: describe(error) });
  }

  function reportOutcomes(): void {
    const found = watched.readNew();
    if (found.length === 0) return;
    post({ type: "outcomes", outcomes: found.map(({ key, params }) => [key, params] as const) });
  }

  function run(requests: readonly Request[]): void {
    const results = filterKinds(requests, "note").map(runOne);
    const writes = filterKinds(requests, "write", "durable");
    const claimed = runWrites(writes, results);
    results.push(...filterKinds(requests, "read").map(runOne));
    if (results.length + claimed.length > 0) post({ type: "done", results, claimed });
    if (writes.length > 0) reportOutcomes();
  }

  return {
    run,
    poll() {
      const version = Number(dataVersion.get()?.data_version);
      if (version !== seenVersion) {
        seenVersion = version;
        otherCount = processes.countOthers();
        reportOutcomes();
      }
      run([]);
    },
    pollDelayMs() {
      const isWaiting = demands.isAny();
      const longestMs =
        otherCount > 0 && (isWaiting || watched.isAny()) ? SHARED_POLL_MS : LONGEST_POLL_MS;
      if (!isWaiting) return longestMs;
      const dueInMs = (events.nextRunAt() ?? Number.POSITIVE_INFINITY) - Date.now();
      return Math.min(longestMs, Math.max(dueInMs, isPausedUntilMs - Date.now(), 1));
    },
    purge() {
      try {
        return transact(false, events.purge) > 0;
      } catch (error) {
        if (isDamage(error)) throw error;
        // A full disk fails the stores, too, which report it; the next heartbeat tries again.
        return false;
      }
    },
  };
}
