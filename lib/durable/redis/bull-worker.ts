import type { Worker } from "bullmq";
import type { Redis } from "ioredis";
import type { StoredEvent } from "../stored-event";
import { endConnection } from "./connection";

/** The worker of BullMQ, which is replaced when its start fails. */
export interface BullWorker {
  /** Returns the current worker. */
  current(): Worker<StoredEvent>;
  /** Returns whether the current worker takes events. */
  isRunning(): boolean;
  /** Starts no worker any more; a running one continues. */
  stop(): void;
  /** Closes the current worker and its connections, without waiting for handlers. */
  disconnect(): void;
}

const PAUSE_MS = 500;

/**
 * Runs the worker that `open` creates with `autorun: false`. A Worker asks Redis for INFO once. Where
 * that failed, `run()` would try again without a pause and block the process: another worker is
 * opened, when Redis replies to INFO.
 *
 * @param onRun called when a worker begins to take events.
 */
export function openBullWorker(
  connection: Redis,
  open: () => Worker<StoredEvent>,
  onRun: () => void,
): BullWorker {
  const copies = trackCopies(connection);
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isRunning = false;
  let worker = open();
  start();

  function start(): void {
    worker.waitUntilReady().then(run, replaceLater);
  }

  function run(): void {
    if (isStopped) return;
    isRunning = true;
    worker.run().catch((error: Error) => worker.emit("error", error));
    onRun();
  }

  function replaceLater(): void {
    if (isStopped) return;
    closeWorker();
    // Each new worker opens a connection: ask on the one that is there first.
    timer = setTimeout(() => {
      connection.info().then(replace, (error: Error) => {
        worker.emit("error", error);
        replaceLater();
      });
    }, PAUSE_MS);
  }

  function replace(): void {
    if (isStopped) return;
    worker = open();
    start();
  }

  function closeWorker(): void {
    isRunning = false;
    void worker.close(true).catch(() => {});
    for (const copy of copies.splice(0)) endConnection(copy);
  }

  function stop(): void {
    isStopped = true;
    clearTimeout(timer);
  }

  return {
    current: () => worker,
    isRunning: () => isRunning,
    stop,
    disconnect() {
      stop();
      closeWorker();
    },
  };
}

/**
 * Collects the connections that BullMQ duplicates for blocking commands, to end them by
 * {@link endConnection}. BullMQ 6.5.1 to 6.7.0 only disconnects them: the blocking command of one that
 * is reconnecting stays pending, and a timer of BullMQ waits for it, which keeps the process for up
 * to 6 s.
 */
function trackCopies(connection: Redis): Redis[] {
  const copies: Redis[] = [];
  const duplicate = connection.duplicate.bind(connection);
  connection.duplicate = (...args) => {
    const copy = duplicate(...args);
    copies.push(copy);
    return copy;
  };
  return copies;
}
