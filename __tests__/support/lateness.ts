/** How late the timers of this process run: what a busy machine adds to a measured time. */
export interface Lateness {
  /** Ends the measurement and returns by how much timers were late in sum, in milliseconds. */
  stop(): number;
}

const INTERVAL_MS = 20;
/** An idle machine is late by less. */
const TOLERANCE_MS = 10;

/**
 * Measures the lateness of this process from now on. A test subtracts it from a time that is
 * documented, so that the limit may be the documented one on a busy machine, too.
 */
export function measureLateness(): Lateness {
  let lateMs = 0;
  let lastMs = performance.now();
  const count = () => {
    const nowMs = performance.now();
    const byMs = nowMs - lastMs - INTERVAL_MS;
    if (byMs > TOLERANCE_MS) lateMs += byMs;
    lastMs = nowMs;
  };
  const timer = setInterval(count, INTERVAL_MS);
  return {
    stop() {
      clearInterval(timer);
      count();
      return lateMs;
    },
  };
}
