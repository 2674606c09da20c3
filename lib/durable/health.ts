import { within } from "../kit/response-timeout";
import { createNeutralCause } from "../kit/neutral-cause";
import { describeOutage, type Health } from "../kit/health";
import type { Availability } from "./availability";
import type { QueueStats } from "./storage";
import type { RunningWorker } from "./worker";

/** A worker takes the next event within milliseconds, after an outage within 8 s. */
const STOPPED_MS = 15_000;
/** A probe of Kubernetes waits 1 s by default. */
const STATS_MS = 800;

/** Describes the health of an open queue, by its workers in this process. */
export async function describeQueueHealth(
  availability: Availability,
  workers: ReadonlySet<RunningWorker>,
  readStats: () => Promise<QueueStats>,
): Promise<Health> {
  const outage = availability.outage();
  if (outage !== undefined) {
    const health = describeOutage(outage);
    // When it is over, the store is not opened again.
    return availability.isOver() ? { ...health, status: "unhealthy" } : health;
  }
  let stats: QueueStats;
  try {
    stats = await within(readStats(), STATS_MS);
  } catch (error) {
    const now = { error: createNeutralCause(error), since: new Date() };
    return describeOutage(availability.outage() ?? now);
  }
  const { hold, waiting, oldestWaitingMs } = stats;
  if (hold === "paused" || (hold === "limited" && oldestWaitingMs >= STOPPED_MS)) {
    return {
      status: "degraded",
      code: "QUEUE_PAUSED",
      reason: `An operator has ${hold} the queue in BullMQ, and ${waiting} wait. ${hold === "paused" ? "Resume it" : "Remove the limit of its concurrency or rate"} there, as with bull-board.`,
      since: new Date(Date.now() - oldestWaitingMs),
    };
  }
  if (oldestWaitingMs < STOPPED_MS) return { status: "healthy" };
  const freedAtMs = Math.min(...[...workers].map((worker) => worker.freedAtMs() ?? Infinity));
  const longestFreeMs = performance.now() - freedAtMs;
  if (longestFreeMs >= STOPPED_MS) {
    return {
      status: "unhealthy",
      code: "WORKER_STOPPED",
      reason: `A worker of this process takes no events, and ${waiting} wait.`,
      since: new Date(Date.now() - longestFreeMs),
    };
  }
  if (stats.workers > 0) return { status: "healthy" };
  return {
    status: "degraded",
    code: "NO_WORKER",
    reason: `No process has a worker that takes events, and ${waiting} wait.`,
    since: new Date(Date.now() - oldestWaitingMs),
  };
}
