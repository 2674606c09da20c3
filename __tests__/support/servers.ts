import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo } from "node:net";
import type express from "express";
import type { PushWebhooks } from "express-push-verification";
import { PUBLIC_URL, type TestRequest } from "./webhook-requests";

/** Makes an app, whose 200 modules a test or a process without one does not load. */
const makeApp = (name: string) => (require(name) as () => express.Express)();

export const APPS: [name: string, makeApp: () => express.Express][] = [
  ["Express 5", () => makeApp("express")],
  ["Express 4", () => makeApp("express4")],
];

const MOUNT = "/push";

/** Each kind of server that a receiver runs in; `before` are middlewares mounted before it. */
export const SERVERS: [name: string, listener: ListenerOf][] = [
  ...APPS.map(([name, make]): [string, ListenerOf] => [
    name,
    (push, ...before) => mount(make(), push, before),
  ]),
  ["connect", (push, ...before) => mount(makeApp("connect"), push, before)],
  ["node:http", (push, ...before) => runInTurn([...before, push])],
];

export type Middleware = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => unknown;
export type ListenerOf = (push: PushWebhooks, ...before: Middleware[]) => RequestListener;

export function mount(
  app: express.Express,
  push: PushWebhooks,
  before: Middleware[],
): RequestListener {
  const { use } = app as { use: (this: typeof app, ...args: unknown[]) => unknown };
  for (const middleware of before) use.call(app, middleware);
  use.call(app, MOUNT, push);
  return app;
}

function runInTurn(middlewares: Middleware[]): RequestListener {
  return (req, res) => {
    const step = (index: number, error?: unknown): void => {
      const middleware = middlewares[index];
      if (error !== undefined || middleware === undefined) {
        res.writeHead(error === undefined ? 404 : ((error as { status?: number }).status ?? 500));
        res.end(error === undefined ? "no response" : "forwarded");
        return;
      }
      void middleware(req, res, (next) => step(index + 1, next));
    };
    step(0);
  };
}

const open: Server[] = [];

/** Starts a server on a free port, whose connections stay open; {@link stopServers} stops it. */
export async function startServer(
  listener: RequestListener,
  options: ServerOptions = {},
): Promise<number> {
  const server = createServer({ keepAliveTimeout: 0, ...options }, listener);
  open.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

/** A server that accepts connections, and never begins the TLS handshake. */
export async function startSilentTls() {
  const server = createTcpServer((socket) => void socket.resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}/`, close: () => server.close() };
}

/** Stops listening; open connections stay, as after `server.close()` in an app. */
export function closeServers(): void {
  for (const server of open) server.close();
}

export async function stopServers(): Promise<void> {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

export function send(port: number, request: TestRequest, signal?: AbortSignal): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${request.path}`, {
    method: request.method,
    headers: request.headers,
    redirect: "manual",
    ...(request.body !== undefined && { body: request.body }),
    ...(signal !== undefined && { signal }),
  });
}

/** Writes bytes to a socket; returns the status, or 0 without a response, and all bytes as latin1. */
export async function sendRaw(
  port: number,
  chunks: (string | Buffer)[],
  { untilClosed = false, giveUpMs = 120_000 } = {},
) {
  const socket = connect({ port, host: "127.0.0.1" });
  const hasNoBody = String(chunks[0]).startsWith("HEAD");
  let text = "";
  let gaveUp = false;
  await new Promise<void>((stop) => {
    const giveUp = () => stop(void (gaveUp = true));
    const timer = setTimeout(giveUp, giveUpMs);
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      text += chunk;
      if (!untilClosed && isWholeResponse(text, hasNoBody)) stop();
    });
    for (const event of ["error", "end", "close"]) socket.on(event, () => stop());
    socket.on("close", () => clearTimeout(timer));
    for (const chunk of chunks) socket.write(chunk);
  });
  socket.destroy();
  return { status: Number(text.slice(9, 12)), text, gaveUp };
}

function isWholeResponse(received: string, hasNoBody: boolean): boolean {
  const end = received.indexOf("\r\n\r\n");
  const length = hasNoBody ? 0 : Number(/^content-length: (\d+)/im.exec(received)?.[1] ?? 0);
  return end !== -1 && received.length >= end + 4 + length;
}

export function rawRequest(request: TestRequest, extraHeaders: string[] = []): string {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const length =
    request.body === undefined ? [] : [`content-length: ${Buffer.byteLength(request.body)}`];
  const lines = [...headers, ...length, "host: spoofed.example", ...extraHeaders];
  return `${request.method} ${request.path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${request.body ?? ""}`;
}

export const PATH = new URL(PUBLIC_URL).pathname;
