import type { Queue } from "bullmq";
import type { QueueStats } from "../durable-queue";
import type { StoredEvent } from "../stored-event";
import type { WorkerBeats } from "./worker-beats";

/** Reads how many events a queue holds. */
export async function readStats(
  queue: Queue<StoredEvent>,
  beats: WorkerBeats,
): Promise<QueueStats> {
  const [counts, [oldest], workers] = await Promise.all([
    queue.getJobCounts("wait", "active", "delayed", "failed"),
    queue.getJobs("wait", 0, 0, true),
    beats.count(),
  ]);
  const { wait = 0, active = 0, delayed = 0, failed = 0 } = counts;
  return {
    waiting: wait,
    active,
    delayed,
    deadLetters: failed,
    // The clocks of two machines may differ.
    oldestWaitingMs: oldest === undefined ? 0 : Math.max(0, Date.now() - oldest.timestamp),
    workers,
  };
}
