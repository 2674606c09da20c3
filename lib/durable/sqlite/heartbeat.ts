import type { FileState } from "./file-state";
import { HEARTBEAT_MS } from "./protocol";
import type { ThreadClient } from "./thread-client";

/** The heartbeats that show other processes that this one is alive. */
export interface Heartbeat {
  /** Sends one now. */
  beat(): void;
  stop(): void;
}

/**
 * Starts the heartbeats of a process. They come from the app's thread: one that is blocked must lose
 * its events to other processes.
 *
 * @param isWorking whether the process takes events.
 */
export function startHeartbeat(
  thread: ThreadClient,
  state: FileState,
  isWorking: () => boolean,
): Heartbeat {
  let isBeating = false;
  let isDue = false;

  /** While the disk stalls, one waits for it; what changed meanwhile follows with the next. */
  function beat(): void {
    isDue = true;
    if (isBeating || !thread.isOpen()) return;
    isDue = false;
    isBeating = true;
    thread.request("heartbeat", isWorking()).then(
      () => finish(state.open),
      (error: Error) => finish(() => state.fail(error)),
    );
  }

  function finish(report: () => void): void {
    isBeating = false;
    report();
    if (isDue) beat();
  }

  const timer = setInterval(beat, HEARTBEAT_MS);
  return { beat, stop: () => clearInterval(timer) };
}
