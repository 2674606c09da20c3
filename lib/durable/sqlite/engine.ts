import type { Database } from "./database";
import { createEventTable } from "./event-table";
import { createLetterTable } from "./letter-table";
import { createOutcomeTable } from "./outcome-table";
import { createProcessTable } from "./process-table";
import {
  HEARTBEAT_MS,
  LEASE_MS,
  type ClaimedEvent,
  type OperationName,
  type Operations,
  type Request,
  type ThreadFailure,
  type ThreadMessage,
} from "./protocol";

/** The operations of an open file, many in one transaction. */
export interface Engine {
  /**
   * Runs operations, claims due events for the workers, and posts the results of both. When the
   * transaction fails, each of its operations does.
   *
   * @throws what SQLite throws when it cannot read the file.
   */
  run(requests: readonly Request[]): void;
  /** Looks for what other processes stored. */
  poll(): void;
  /** How long {@link Engine.poll} may wait, in milliseconds. */
  pollDelayMs(): number;
  /** Forgets expired uuids and outcomes; returns whether there may be more. */
  purge(): boolean;
}

type Kind = "note" | "read" | "write" | "durable";

/**
 * How an operation runs: `note` in memory, `read` without a transaction, `write` in the transaction,
 * `durable` in the transaction, which then waits for the disk.
 */
const KINDS: Readonly<Record<OperationName, Kind>> = {
  store: "durable",
  record: "durable",
  watch: "read",
  unwatch: "note",
  want: "note",
  unwant: "note",
  finish: "durable",
  fail: "durable",
  heartbeat: "write",
  letters: "read",
  retry: "durable",
  retrySome: "durable",
  discard: "durable",
  stats: "read",
  leave: "write",
};

/** While other processes share the file: they cannot call this one. */
const SHARED_POLL_MS = 5;
/** Otherwise, and for a process that starts meanwhile. */
const LONGEST_POLL_MS = 100;
const PAUSE_AFTER_FAILURE_MS = 250;
/** After a longer stall, the last heartbeat of a process that lives may be older than its lease. */
const MAX_BEAT_PAUSE_MS = LEASE_MS - HEARTBEAT_MS;

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
  /** How many events each worker of this process wants. */
  const demands = new Map<number, number>();
  const watched = new Set<string>();
  let otherCount = 0;
  let seenVersion = 0;
  let isPausedUntilMs = 0;
  let beatMs = { elapsed: Number.NEGATIVE_INFINITY, clock: Number.NEGATIVE_INFINITY };

  /** Returns whether the last heartbeat was in time, and neither the process nor the clock jumped. */
  function isBeatInTime(): boolean {
    const last = beatMs;
    beatMs = { elapsed: performance.now(), clock: Date.now() };
    const pauseMs = Math.max(beatMs.elapsed - last.elapsed, beatMs.clock - last.clock);
    return pauseMs < MAX_BEAT_PAUSE_MS;
  }

  const operations: Operations = {
    ...createLetterTable(connection),
    store: events.store,
    record: outcomes.record,
    finish: events.finish,
    fail: events.fail,
    stats: processes.stats,
    watch(key) {
      if (watched.size === 0) outcomes.skipOld();
      watched.add(key);
      return outcomes.read(key);
    },
    unwatch: (key) => void watched.delete(key),
    want: ({ worker, count }) => void demands.set(worker, (demands.get(worker) ?? 0) + count),
    unwant: (worker) => void demands.delete(worker),
    heartbeat(isWorker) {
      processes.beat(isWorker);
      // After a stall of the disk or of this machine, the others could not write theirs either.
      if (isBeatInTime()) events.takeOver();
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
    if (demands.size === 0 || Date.now() < isPausedUntilMs) return false;
    return hasDemand() && (events.nextRunAt() ?? Number.POSITIVE_INFINITY) <= Date.now();
  }

  const hasDemand = () => [...demands.values()].some((count) => count > 0);

  function claim(): ClaimedEvent[] {
    return [...demands].flatMap(([worker, count]) =>
      count > 0 ? events.claim(worker, count) : [],
    );
  }

  function runWrites(requests: readonly Request[], results: (readonly [number, unknown])[]) {
    if (requests.length === 0 && !isClaimDue()) return [];
    try {
      const isDurable = requests.some(([, name]) => KINDS[name] === "durable");
      const [written, claimed] = transact(
        isDurable,
        () => [requests.map(runOne), claim()] as const,
      );
      results.push(...written);
      for (const { worker } of claimed) demands.set(worker, (demands.get(worker) ?? 0) - 1);
      return claimed;
    } catch (error) {
      isPausedUntilMs = Date.now() + PAUSE_AFTER_FAILURE_MS;
      fail(requests, error);
      return [];
    }
  }

  function fail(requests: readonly Request[], error: unknown): void {
    post({ type: "failed", ids: requests.map(([id]) => id), failure: describe(error) });
  }

  function reportOutcomes(): void {
    if (watched.size === 0) return;
    const found = outcomes.readNew().filter(({ key }) => watched.has(key));
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
      const isChanged = version !== seenVersion;
      seenVersion = version;
      if (isChanged) {
        otherCount = processes.countOthers();
        reportOutcomes();
      }
      run([]);
    },
    pollDelayMs() {
      const isWaiting = hasDemand();
      const longestMs =
        otherCount > 0 && (isWaiting || watched.size > 0) ? SHARED_POLL_MS : LONGEST_POLL_MS;
      if (!isWaiting) return longestMs;
      const dueInMs = (events.nextRunAt() ?? Number.POSITIVE_INFINITY) - Date.now();
      return Math.min(longestMs, Math.max(dueInMs, isPausedUntilMs - Date.now(), 1));
    },
    purge() {
      try {
        return transact(false, events.purge) > 0;
      } catch {
        // A full disk fails the stores, too, which report it; the next heartbeat tries again.
        return false;
      }
    },
  };
}

function filterKinds(requests: readonly Request[], ...kinds: Kind[]): Request[] {
  return requests.filter(([, name]) => kinds.includes(KINDS[name]));
}

function createOwner(): number {
  const [low = 0, high = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 16) * 2 ** 32 + low;
}
