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
  let lastId = 0;

  function beat(): void {
    if (!thread.isOpen()) return;
    const id = ++lastId;
    // While the disk stalls, only the newest one waits for it.
    const beaten = thread.request("heartbeat", isWorking(), () => id === lastId);
    beaten.then(state.open, state.fail);
  }

  const timer = setInterval(beat, HEARTBEAT_MS);
  return { beat, stop: () => clearInterval(timer) };
}
