import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** The connections and the running requests of a receiver. */
export interface Connections {
  /** Counts the work of a request as running until it settles; returns the work. */
  track<Value>(req: IncomingMessage, res: ServerResponse, work: Promise<Value>): Promise<Value>;
  /**
   * Resolves when nothing runs and, after `server.close()`, the open connections are closed too: a
   * request that arrives on one of them is still handled.
   *
   * @param deadlineMs after which it resolves in any case.
   */
  drain(deadlineMs: number): Promise<void>;
}

interface ServerSocket {
  server?: { listening?: boolean };
}

const POLL_MS = 20;

/** Creates an empty list of connections. */
export function createConnections(): Connections {
  const running = new Map<Promise<unknown>, ServerResponse>();
  const sockets = new Set<IncomingMessage["socket"]>();
  let isDraining = false;

  function remember(socket: IncomingMessage["socket"] | undefined): void {
    // Adapters of serverless platforms have no socket, or one without events.
    if (socket === undefined || sockets.has(socket) || typeof socket.once !== "function") return;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  }

  /** Whether a server that no longer listens has a connection left. */
  function hasOpenConnection(): boolean {
    for (const socket of sockets) {
      if ((socket as ServerSocket).server?.listening === false) return true;
    }
    return false;
  }

  /** Has the client open its next connection, to another process. */
  function endKeepAlive(res: ServerResponse): void {
    if (!res.headersSent && res.req.httpVersionMajor === 1) res.shouldKeepAlive = false;
  }

  return {
    track(req, res, work) {
      remember(req.socket);
      if (isDraining) endKeepAlive(res);
      running.set(work, res);
      const remove = () => running.delete(work);
      work.then(remove, remove);
      return work;
    },
    async drain(deadlineMs) {
      isDraining = true;
      for (const res of running.values()) endKeepAlive(res);
      const deadlineAtMs = performance.now() + deadlineMs;
      while (running.size > 0 || hasOpenConnection()) {
        const leftMs = deadlineAtMs - performance.now();
        if (leftMs <= 0) return;
        const pollMs = Math.min(POLL_MS, leftMs);
        await Promise.race([
          running.size > 0 ? Promise.allSettled(running.keys()) : sleep(pollMs),
          sleep(leftMs, undefined, { ref: false }),
        ]);
      }
    },
  };
}
