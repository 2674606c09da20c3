import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2Session } from "node:http2";
import type { Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { getHttp2Stream } from "./http2-stream";

/** The running requests of a receiver and the servers that they arrived at. */
export interface Connections {
  /** Counts the work of a request as running until it settles; returns the work. */
  track<Value>(req: IncomingMessage, res: ServerResponse, work: Promise<Value>): Promise<Value>;
  /**
   * Resolves when nothing runs and, after `server.close()`, the open connections of the server are
   * closed too: a request that arrives on one of them is still handled.
   *
   * @param deadlineMs after which it resolves in any case.
   */
  drain(deadlineMs: number): Promise<void>;
}

const POLL_MS = 20;

/** Creates an empty list of running requests. */
export function createConnections(): Connections {
  const running = new Map<Promise<unknown>, ServerResponse>();
  const servers = new Set<Server>();
  /** The open sessions of HTTP/2, which stay open without requests. */
  const sessions = new Set<Http2Session>();
  let isDraining = false;

  async function hasOpenConnection(): Promise<boolean> {
    for (const server of servers) {
      // A server that still listens may keep its idle connections: server.close() was not called.
      if (!server.listening && (await countConnections(server)) > 0) return true;
    }
    return false;
  }

  function rememberServer(server: Server, req: IncomingMessage): void {
    servers.add(server);
    // A session of HTTP/2 stays open without requests, so its server has to be asked to close it.
    const session = getHttp2Stream(req)?.session;
    if (session === undefined) return;
    rememberSession(session);
    server.on("session", rememberSession);
  }

  function rememberSession(session: Http2Session): void {
    if (isDraining) session.close();
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  }

  return {
    track(req, res, work) {
      // Adapters of serverless platforms have no socket, or one without a server. Nothing else of
      // the request is read each time: in Express, each property of it takes about 1 us.
      const socket = req.socket as { server?: Server } | undefined;
      const server = socket?.server;
      if (server !== undefined && !servers.has(server)) rememberServer(server, req);
      if (isDraining) endKeepAlive(res);
      running.set(work, res);
      const remove = () => running.delete(work);
      work.then(remove, remove);
      return work;
    },
    async drain(deadlineMs) {
      isDraining = true;
      for (const res of running.values()) endKeepAlive(res);
      for (const session of sessions) session.close();
      const deadlineAtMs = performance.now() + deadlineMs;
      while (running.size > 0 || (await hasOpenConnection())) {
        const leftMs = deadlineAtMs - performance.now();
        if (leftMs <= 0) return;
        await sleep(Math.min(POLL_MS, leftMs));
      }
    },
  };
}

/** Has the client open its next connection, to another process. */
function endKeepAlive(res: ServerResponse): void {
  // Adapters of serverless platforms may have a response without its request.
  const { req } = res as { req?: IncomingMessage };
  if (!res.headersSent && req?.httpVersionMajor === 1) res.shouldKeepAlive = false;
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}
