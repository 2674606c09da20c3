import { sqliteCodeOf } from "./node-sqlite";

const BUSY_MS = 5_000;

const sleepCell = new Int32Array(new SharedArrayBuffer(4));

/**
 * Repeats a step while another process holds the lock, in pauses below 1 ms: those of SQLite grow to
 * 100 ms, while a transaction of another process takes one fsync.
 *
 * @throws what the step throws; `SQLITE_BUSY` after 5 s.
 */
export function retryWhileLocked<Value>(run: () => Value): Value {
  const deadlineMs = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return run();
    } catch (error) {
      if (sqliteCodeOf(error) !== "SQLITE_BUSY" || performance.now() > deadlineMs) throw error;
    }
    Atomics.wait(sleepCell, 0, 0, 0.2 + Math.random() * 0.6);
  }
}
