import { createServer, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import express, { type RequestHandler } from "express";
import express4 from "express4";
import type { PushWebhooks } from "express-push-verification";
import { PUBLIC_URL, type TestCall } from "./calls";

const MOUNT = "/push";

/** Each kind of server that a receiver runs in; `before` are middlewares mounted before it. */
export const SERVERS: [name: string, listener: ListenerOf][] = [
  ["Express 5", (push, ...before) => mount(express(), push, before)],
  ["Express 4", (push, ...before) => mount(express4() as never, push, before)],
  ["node:http", (push, ...before) => runInTurn([...before, push])],
];

export type Middleware = RequestHandler | PushWebhooks;
export type ListenerOf = (push: PushWebhooks, ...before: Middleware[]) => RequestListener;

function mount(app: express.Express, push: PushWebhooks, before: Middleware[]): RequestListener {
  for (const middleware of before) app.use(middleware as RequestHandler);
  app.use(MOUNT, push);
  return app;
}

function runInTurn(middlewares: Middleware[]): RequestListener {
  return (req, res) => {
    const step = (index: number, error?: unknown): void => {
      const middleware = middlewares[index];
      if (error !== undefined || middleware === undefined) {
        res.writeHead(error === undefined ? 404 : ((error as { status?: number }).status ?? 500));
        res.end(error === undefined ? "nobody answered" : "forwarded");
        return;
      }
      void middleware(req as never, res as never, (next?: unknown) => step(index + 1, next));
    };
    step(0);
  };
}

const open: Server[] = [];

/** Starts a server on a free port; {@link stopServers} stops it. */
export async function startServer(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

export async function stopServers(): Promise<void> {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Sends a call with fetch. */
export function send(port: number, call: TestCall, signal?: AbortSignal): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${call.path}`, {
    method: call.method,
    headers: call.headers,
    redirect: "manual",
    ...(call.body !== undefined && { body: call.body }),
    ...(signal !== undefined && { signal }),
  });
}

export interface RawAnswer {
  status: number;
  /** Everything that was received. */
  text: string;
  /** Whether the server closed the connection. */
  closed: boolean;
}

/**
 * Writes bytes to a socket and reads until the server closes it, or the answer is there and
 * `waitMs` have passed.
 */
export async function sendRaw(
  port: number,
  chunks: (string | Buffer)[],
  { waitMs = 2_000, halfClose = false } = {},
): Promise<RawAnswer> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => socket.destroy());
  for (const chunk of chunks) socket.write(chunk);
  if (halfClose) socket.end();
  let closed = true;
  const timer = setTimeout(() => {
    closed = false;
    socket.destroy();
  }, waitMs);
  const received = await text(socket).catch(() => "");
  clearTimeout(timer);
  socket.destroy();
  return { status: Number(received.slice(9, 12)), text: received, closed };
}

/** The bytes of a call, for {@link sendRaw}. */
export function rawCall(call: TestCall, extraHeaders: string[] = []): string {
  const headers = Object.entries(call.headers).map(([name, value]) => `${name}: ${value}`);
  const length = call.body === undefined ? [] : [`content-length: ${Buffer.byteLength(call.body)}`];
  const lines = [...headers, ...length, "host: spoofed.example", ...extraHeaders];
  return `${call.method} ${call.path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${call.body ?? ""}`;
}

/** The path that receivers are mounted at. */
export const PATH = new URL(PUBLIC_URL).pathname;
