/** HTTP/2 servers that a receiver runs in, and a client that writes to their streams. */
import { readFileSync } from "node:fs";
import {
  connect as openSession,
  createSecureServer,
  createServer,
  Http2ServerRequest,
  Http2ServerResponse,
} from "node:http2";
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  Http2SecureServer,
  Http2Server,
  OutgoingHttpHeaders,
} from "node:http2";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import connect from "connect";
import express from "express";
import express4 from "express4";
import type { PushWebhooks } from "express-push-verification";
import type { TestRequest } from "./webhook-requests";
import { mount, type ListenerOf } from "./servers";

const fixture = (name: string) => readFileSync(join(__dirname, "..", "fixtures", name));
const tls = { key: fixture("localhost-key.pem"), cert: fixture("localhost-cert.pem") };

/** Each kind of HTTP/2 server; those with TLS accept HTTP/1.1 on the same port. */
export const HTTP2_SERVERS: [name: string, kind: Http2Kind][] = [
  ["node:http2", { isSecure: false, listenerOf: (push) => (req, res) => void push(req, res) }],
  [
    "node:http2 with TLS and allowHTTP1",
    { isSecure: true, listenerOf: (push) => (req, res) => void push(req, res) },
  ],
  ["connect on node:http2", { isSecure: false, listenerOf: (push) => mount(connect(), push, []) }],
  [
    "Express 4 on node:http2 with TLS and allowHTTP1",
    { isSecure: true, listenerOf: (push) => bridgeExpress(() => express4() as never, push) },
  ],
  [
    "Express 5 on node:http2 with TLS and allowHTTP1",
    { isSecure: true, listenerOf: (push) => bridgeExpress(express, push) },
  ],
];

export interface Http2Kind {
  isSecure: boolean;
  listenerOf: ListenerOf;
}

/**
 * Express gives each request a prototype of HTTP/1, with which an HTTP/2 request fails. So there is
 * one app for each version, and that of HTTP/2 has prototypes that inherit from HTTP/2.
 */
function bridgeExpress(make: () => express.Express, push: PushWebhooks): RequestListener {
  const http1 = mount(make(), push, []);
  const app = make();
  inherit(app, "request", Http2ServerRequest.prototype);
  inherit(app, "response", Http2ServerResponse.prototype);
  const http2 = mount(app, push, []);
  return (req, res) => (req.httpVersionMajor === 2 ? http2 : http1)(req, res);
}

function inherit(app: express.Express, name: "request" | "response", prototype: object): void {
  const own = app[name] as object;
  const shared = Object.getPrototypeOf(own) as object;
  const members = [shared, own].map((from) => Object.getOwnPropertyDescriptors(from));
  Object.defineProperty(app, name, {
    value: Object.create(prototype, Object.assign({}, ...members) as PropertyDescriptorMap),
  });
}

export interface StartedHttp2Server {
  port: number;
  /** How many streams the server has open. */
  countStreams: () => number;
  /** Opens a session that {@link stopHttp2Servers} destroys. */
  openSession: () => ClientHttp2Session;
}

const started: { server: Http2Server | Http2SecureServer; sessions: Set<{ destroy(): void }> }[] =
  [];

/** Starts an HTTP/2 server on a free port. */
export async function startHttp2Server(
  listener: RequestListener,
  isSecure = false,
): Promise<StartedHttp2Server> {
  const onRequest = listener as unknown as Parameters<typeof createServer>[1];
  const server = isSecure
    ? createSecureServer({ ...tls, allowHTTP1: true }, onRequest as never)
    : createServer(onRequest);
  const sessions = new Set<{ destroy(): void }>();
  let streams = 0;
  server.on("session", (session) => void sessions.add(session));
  server.on("stream", (stream) => {
    streams++;
    stream.once("close", () => streams--);
  });
  started.push({ server, sessions });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    countStreams: () => streams,
    openSession() {
      const url = `${isSecure ? "https" : "http"}://127.0.0.1:${port}`;
      const session = openSession(url, { rejectUnauthorized: false });
      session.on("error", () => {});
      sessions.add(session);
      return session;
    },
  };
}

export async function stopHttp2Servers(): Promise<void> {
  for (const { server, sessions } of started.splice(0)) {
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** The response to one HTTP/2 request. */
export interface StreamResponse {
  /** 0 without a response. */
  status: number;
  headers: Record<string, unknown>;
  text: string;
  /** The code of the RST_STREAM frame that closed the stream; 0 without one. */
  rstCode: number;
  /** Whether the time ended before the stream was closed. */
  gaveUp: boolean;
}

/** Writes the body of a request; the client closes no stream. */
export type WriteBody = (stream: ClientHttp2Stream) => void;

/**
 * Sends a webhook request on a stream and reads the response; with `untilClosed`, waits until the
 * server has closed the stream. Without
 * `write`, a request with a body ends it, and one without ends with its HEADERS frame.
 */
export async function sendStream(
  session: ClientHttp2Session,
  { method, path, headers, body }: TestRequest,
  { write, extraHeaders = {}, untilClosed = false, giveUpMs = 3_000 }: StreamOptions = {},
): Promise<StreamResponse> {
  const endStream = write === undefined && body === undefined;
  const sent = { ":method": method, ":path": path, ...headers, ...extraHeaders };
  const stream = session.request(sent, { endStream });
  const response = { status: 0, headers: {}, text: "", rstCode: 0, gaveUp: false };
  stream.setEncoding("latin1").on("data", (text: string) => (response.text += text));
  stream.on("response", (received) => {
    response.headers = received;
    response.status = received[":status"] ?? 0;
  });
  stream.on("error", () => {});
  if (write !== undefined) write(stream);
  else if (body !== undefined) stream.end(body);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      response.gaveUp = true;
      resolve();
    }, giveUpMs);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    stream.once("close", stop);
    if (!untilClosed) stream.once("end", stop);
  });
  response.rstCode = stream.rstCode;
  return response;
}

export interface StreamOptions {
  write?: WriteBody | undefined;
  extraHeaders?: OutgoingHttpHeaders | undefined;
  untilClosed?: boolean;
  giveUpMs?: number;
}

/** A request that listeners of `node:http` and of `node:http2` accept. */
export type AnyRequest = IncomingMessage & Http2ServerRequest;
export type AnyResponse = ServerResponse & Http2ServerResponse;
