import type { Server } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { PushWebhooks } from "express-push-verification";
import type { DurableQueue, EventWorker } from "express-push-verification/durable";

/** The parts of a process, and how long it goes on after SIGTERM. */
export interface Parts {
  server: Server;
  push: PushWebhooks;
  worker?: EventWorker;
  queue?: DurableQueue;
  /** Longer than `server.keepAliveTimeout`, 5 s, which ends idle connections. */
  pauseMs?: number;
}

/** Closes a process at SIGTERM without losing a request. */
export function closeAtSigterm({ server, push, worker, queue, pauseMs = 6_000 }: Parts): void {
  const close = async () => {
    // A client that keeps its connection leaves it with this response.
    server.prependListener("request", (_req, res) => void res.setHeader("Connection", "close"));
    await pause(pauseMs);
    server.close();
    await push.close();
    await worker?.close();
    await queue?.close();
  };
  process.once("SIGTERM", () => void close());
}
