import { HEARTBEAT_MS, LEASE_MS } from "./protocol";

/** Compares the heartbeats of this process with their schedule. */
export interface BeatClock {
  /**
   * Notes a heartbeat. Returns whether the last one was in time, and neither the process nor the
   * clock of the machine jumped.
   */
  isInTime(): boolean;
}

/** After a longer stall, the last heartbeat of a process that lives may be older than its lease. */
const MAX_BEAT_PAUSE_MS = LEASE_MS - HEARTBEAT_MS;

/** Creates the clock of a process without a heartbeat: the first one is not in time. */
export function createBeatClock(): BeatClock {
  let lastMs = { elapsed: Number.NEGATIVE_INFINITY, clock: Number.NEGATIVE_INFINITY };
  return {
    isInTime() {
      const last = lastMs;
      lastMs = { elapsed: performance.now(), clock: Date.now() };
      const pauseMs = Math.max(lastMs.elapsed - last.elapsed, lastMs.clock - last.clock);
      return pauseMs < MAX_BEAT_PAUSE_MS;
    },
  };
}
