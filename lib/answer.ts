import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import { closeAfterResponse, getHttp2Stream } from "./http2-stream";

/** What is answered: the body follows from the status. */
export interface Answer {
  status: number;
  headers?: Readonly<Record<string, string>>;
}

/** How much of a refused body is taken in, at the most, before the connection is left alone. */
export interface RestLimits {
  limitBytes: number;
  bodyTimeoutMs: number;
}

const LINGER_MS = 1_000;
const LINGER_BYTES = 262_144;

/**
 * Answers a request, unless somebody else has: no input is repeated, and equal refusals are equal
 * byte by byte.
 *
 * When the rest of the body is too much to wait for, the connection is closed after the answer.
 * When it is not, the rest is awaited for `bodyTimeoutMs` at the most.
 */
export function sendAnswer(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers = {} }: Answer,
  limits: RestLimits,
): void {
  if (res.headersSent || isGone(req, res)) return;
  const text = status === 200 ? "" : `${STATUS_CODES[status] ?? "Error"}\n`;
  const { complete } = req;
  // HTTP/2 has no Connection header: boundRest closes the stream, and the connection stays open.
  const closes =
    (status === 413 || status === 408 || (!complete && isRestTooLarge(req, limits.limitBytes))) &&
    getHttp2Stream(req) === undefined;
  res.writeHead(status, {
    ...headers,
    "Cache-Control": "no-store",
    "Content-Length": Buffer.byteLength(text),
    ...(text === "" ? {} : { "Content-Type": "text/plain; charset=utf-8" }),
    ...(closes ? { Connection: "close" } : {}),
  });
  if (closes && !complete) {
    res.write(text);
    lingerThenEnd(req, res);
  } else {
    res.end(text);
    if (!complete) boundRest(req, limits.bodyTimeoutMs);
  }
}

// As it was when this was loaded: a test may fake the timers of its app.
const nextTurn = setImmediate;

/**
 * Destroys the connection if the body of a request is not complete in time. Of an HTTP/2 request,
 * closes the stream alone: after its response was sent, or if the body is not complete in time.
 */
export function boundRest(req: IncomingMessage, bodyTimeoutMs: number): void {
  const stream = getHttp2Stream(req);
  if (stream !== undefined) return closeAfterResponse(req, stream, bodyTimeoutMs);
  // Most of it is in the packet of the head: parsed one turn later, it needs no timer.
  nextTurn(() => {
    if (req.complete || req.destroyed) return;
    const timer = setTimeout(() => {
      if (!req.complete) req.destroy();
    }, bodyTimeoutMs);
    const stop = () => clearTimeout(timer);
    req.once("end", stop).once("close", stop);
  });
}

/** Whether the client disconnected, or has reset the stream. */
function isGone(req: IncomingMessage, res: Partial<ServerResponse>): boolean {
  // A response of HTTP/2 has no `destroyed`; its stream has `closed`.
  return res.destroyed ?? getHttp2Stream(req)?.closed ?? false;
}

function isRestTooLarge(req: IncomingMessage, limitBytes: number): boolean {
  const length = req.headers["content-length"];
  if (length === undefined) return req.headers["transfer-encoding"] !== undefined;
  return Number(length) > limitBytes;
}

/**
 * Ends a response whose text is written, once the sender had a moment to read it: to close while
 * bytes arrive resets the connection, and the answer is lost with it.
 */
function lingerThenEnd(req: IncomingMessage, res: ServerResponse): void {
  let bytes = 0;
  const discard = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) req.pause();
  };
  const end = () => {
    clearTimeout(timer);
    req.off("data", discard);
    res.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  req.once("end", end).once("close", end).on("data", discard).resume();
}
