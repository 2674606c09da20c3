import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2Session } from "node:http2";
import type { Server, Socket } from "node:net";
// Not the global clock: a test may fake it, and push.close() would then never reach its deadline.
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { getHttp2Stream } from "./http2-stream";

/** The running requests of a receiver and the servers that they arrived at. */
export type Connections = ReturnType<typeof createConnections>;

const POLL_MS = 20;

/** Creates an empty list of running requests. */
export function createConnections() {
  const running = new Set<{ res: ServerResponse }>();
  const servers = new Set<Server>();
  /** The open sessions of HTTP/2: they stay open without requests, until they are closed. */
  const sessions = new Set<Http2Session>();
  let isDraining = false;

  async function hasOpenConnection(): Promise<boolean> {
    for (const server of servers) {
      // A server that still listens may keep its idle connections: server.close() was not called.
      if (server.listening) continue;
      if ((await promisify(server.getConnections.bind(server))()) > 0) return true;
    }
    return false;
  }

  function rememberServer(server: Server, req: IncomingMessage): void {
    servers.add(server);
    const session = getHttp2Stream(req)?.session;
    if (session === undefined) return followSockets(server, req.socket);
    rememberSession(session);
    allowListener(server);
    server.on("session", rememberSession);
  }

  function rememberSession(session: Http2Session): void {
    if (isDraining) session.close();
    sessions.add(session);
    allowListener(session);
    session.once("close", () => sessions.delete(session));
  }

  function destroyHalfSent(): void {
    for (const { res } of running) {
      const { req } = res as { req?: IncomingMessage };
      if (req === undefined || req.complete) continue;
      (getHttp2Stream(req) ?? req).destroy();
    }
    for (const server of servers) {
      if (server.listening) continue;
      for (const socket of socketsByServer.get(server) ?? []) {
        if (!hasRequest(socket)) socket.destroy();
      }
    }
  }

  return {
    /** Counts a request as running until the returned function is called. */
    begin(req: IncomingMessage, res: ServerResponse): () => void {
      // Adapters of serverless platforms have no socket, or one without a server. No other property
      // of the request is read each time: in Express, each takes about 1 µs.
      const socket = req.socket as { server?: unknown } | undefined;
      const server = socket?.server;
      if (server instanceof EventEmitter && !servers.has(server as Server)) {
        rememberServer(server as Server, req);
      }
      if (isDraining) endKeepAlive(res);
      const request = { res };
      running.add(request);
      return () => void running.delete(request);
    },
    /**
     * Resolves when nothing runs and, after `server.close()`, the open connections of the server are
     * closed too: a request that arrives on one of them is still handled.
     *
     * @param deadlineMs after which it resolves in any case, and destroys the connections whose
     *   request is incomplete: running, or after `server.close()` opened since the first request.
     */
    async drain(deadlineMs: number): Promise<void> {
      isDraining = true;
      for (const { res } of running) endKeepAlive(res);
      for (const session of sessions) session.close();
      const deadlineAtMs = performance.now() + deadlineMs;
      while (running.size > 0 || (await hasOpenConnection())) {
        const leftMs = deadlineAtMs - performance.now();
        if (leftMs <= 0) return destroyHalfSent();
        await sleep(Math.min(POLL_MS, leftMs));
      }
    },
  };
}

/** The open connections of a server; shared, so that a socket has one listener for all receivers. */
const socketsByServer = new WeakMap<Server, Set<Socket>>();

function followSockets(server: Server, first: Socket): void {
  if (socketsByServer.has(server)) return;
  const sockets = new Set<Socket>();
  socketsByServer.set(server, sockets);
  const followSocket = (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  followSocket(first);
  // The sockets that requests have: a TLS server emits "connection" with the one below.
  allowListener(server);
  server.on("encrypted" in first ? "secureConnection" : "connection", followSocket);
}

/** Adds one to how many listeners an emitter may have: above ten of them Node warns of a leak. */
function allowListener(emitter: Server | Http2Session): void {
  const limit = emitter.getMaxListeners();
  // 0 is no limit.
  if (limit !== 0) emitter.setMaxListeners(limit + 1);
}

/** Whether a connection may carry a request whose headers are complete. */
function hasRequest(socket: Socket): boolean {
  const { _httpMessage, alpnProtocol } = socket as {
    /** The response that is assigned to the socket, from its headers to its end. */
    _httpMessage?: unknown;
    alpnProtocol?: unknown;
  };
  // A session of HTTP/2 was asked to close.
  return (_httpMessage ?? null) !== null || alpnProtocol === "h2";
}

/** Makes the client open another connection for its next request: to another process. */
function endKeepAlive(res: ServerResponse): void {
  // Adapters of serverless platforms may have a response without its request.
  const { req } = res as { req?: IncomingMessage };
  if (!res.headersSent && req?.httpVersionMajor === 1) res.shouldKeepAlive = false;
}
