import type { Server } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { PushWebhooks } from "express-push-verification";
import type { DurableQueue, EventWorker } from "express-push-verification/durable";

/** The parts of a process, and how long it goes on after the signal. */
export interface Parts {
  server: Server;
  push: PushWebhooks;
  worker?: EventWorker;
  queue?: DurableQueue;
  /** Closes what else the app uses, such as a pool of Postgres. It runs last, and for up to 2 s. */
  closeOthers?: () => unknown;
  /**
   * Longer than `server.keepAliveTimeout`, 5 s, which ends idle connections. The default is 6 s
   * after SIGTERM, and otherwise 1 s: pm2 kills a process 1.6 s after SIGINT.
   */
  pauseMs?: number;
}

/** Docker, Kubernetes and systemd send SIGTERM, pm2 and Ctrl-C SIGINT; Windows sends the others. */
const SIGNALS = ["SIGTERM", "SIGINT", "SIGBREAK", "SIGHUP"] as const;
const OTHERS_MS = 2_000;
/** For what the process has written, such as its last line of the log. */
const FLUSH_MS = 100;

/**
 * Closes a process at a signal without losing a request. Resolves when all parts are closed; the
 * process then ends, although connections that nobody closed are open.
 */
export async function closeAtSignal(parts: Parts): Promise<void> {
  const { server, push, worker, queue, closeOthers } = parts;
  const signal = await waitForSignal();
  const { pauseMs = signal === "SIGTERM" ? 6_000 : 1_000 } = parts;
  // A client that keeps its connection leaves it with this response.
  server.prependListener("request", (_req, res) => void res.setHeader("Connection", "close"));
  await pause(pauseMs);
  server.close();
  await push.close();
  await worker?.close();
  await queue?.close();
  exitAfter(OTHERS_MS);
  await closeOthers?.();
  exitAfter(FLUSH_MS);
}

/** Ends a process that a connection would keep, although nobody will close it. */
function exitAfter(ms: number): void {
  setTimeout(() => process.exit(), ms).unref();
}

function waitForSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, end);
    process.on("message", receive);

    // pm2 sends this message on Windows.
    function receive(message: unknown): void {
      if (message === "shutdown") end(message);
    }
    function end(reason: string): void {
      // A listener for messages keeps the process.
      process.off("message", receive);
      resolve(reason);
    }
  });
}
