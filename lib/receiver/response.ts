import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
// Not the global ones: a test may fake the timers of its app, also before this is loaded.
import { clearTimeout, setImmediate as nextTurn, setTimeout } from "node:timers";
import { getHttp2Stream } from "./http2-stream";
import type { PushWebhooksSettings } from "./options";
import { toWebhookError } from "./rejection";
import type { WebhookError } from "../errors/webhook-error";
import type { Reporter } from "../observability/reporter";

/** The status and headers of a response; the body follows from the status. */
export interface ResponseSettings {
  status: number;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Creates the last step of the request path: responds 200, or with the status of a rejection, or
 * passes the rejection to `next` if there is one and `forwardErrors` is set. It never throws.
 */
export function createRespond(settings: PushWebhooksSettings, reports: Reporter) {
  return function respond(
    req: IncomingMessage,
    res: ServerResponse,
    rejection?: WebhookError,
    next?: (error?: unknown) => void,
  ): void {
    try {
      if (rejection !== undefined && settings.forwardErrors && next !== undefined) {
        boundRest(req, settings.bodyTimeoutMs);
        next(rejection);
      } else {
        sendResponse(req, res, rejection ?? { status: 200 }, settings);
      }
    } catch (error) {
      // A library that replaced a method of `res`, or an error handler of the app, may throw.
      reports.error(toWebhookError(error));
      res.destroy();
    }
  };
}

const LINGER_MS = 1_000;
const LINGER_BYTES = 262_144;

/**
 * Responds to a request, unless another middleware has. The response repeats no input, and the
 * responses to equal rejections are equal byte by byte. When the rest of the body is too large, the
 * connection is closed after the response; otherwise it may take up to `bodyTimeoutMs`.
 */
export function sendResponse(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers = {} }: ResponseSettings,
  /** How much of the body of a rejected request is read, and for how long. */
  limits: Pick<PushWebhooksSettings, "limitBytes" | "bodyTimeoutMs">,
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
    linger(req, () => res.end());
  } else {
    res.end(text);
    if (!complete) boundRest(req, limits.bodyTimeoutMs);
  }
}

/**
 * Destroys the connection if the body of a request is not complete in time. Of an HTTP/2 request,
 * closes the stream alone: after its response was sent, or if the body is not complete in time.
 */
export function boundRest(req: IncomingMessage, bodyTimeoutMs: number): void {
  const stream = getHttp2Stream(req);
  if (stream !== undefined) return boundStream(req, stream, bodyTimeoutMs);
  // Usually headers and body are in one packet: Node parses the body one turn later, without timer.
  nextTurn(() => {
    if (req.complete || req.destroyed) return;
    const timer = setTimeout(() => {
      if (!req.complete) req.destroy();
    }, bodyTimeoutMs);
    // The connection keeps the process alive, as long as it is open.
    timer.unref();
    const stop = () => clearTimeout(timer);
    req.once("end", stop).once("close", stop);
  });
}

/**
 * Closes the stream of a request whose body may be unread, after its response was sent: with
 * RST_STREAM and NO_ERROR, which asks the client to send no more (RFC 9113, section 8.1). After
 * `timeoutMs` it closes the stream although the response was not sent, or not accepted by the
 * client; but not while the app handles a request whose body is complete.
 */
function boundStream(req: IncomingMessage, stream: ServerHttp2Stream, timeoutMs: number): void {
  if (stream.destroyed || stream.endAfterHeaders) return;
  const isSent = () => stream.headersSent && stream.writableEnded;
  const timer = setTimeout(() => {
    if (isSent() || stream.state.remoteClose !== 1) stream.destroy();
  }, timeoutMs);
  const close = () => {
    // Node resets a stream that is not paused at once: curl 7.88 then loses the response.
    req.pause();
    // Two turns: in the first one Node sends the frame with END_STREAM.
    nextTurn(() => nextTurn(() => linger(req, () => stream.destroy())));
  };
  stream.once("close", () => clearTimeout(timer)).once("wantTrailers", close);
  // The response to a HEAD request is complete with its headers, and has no trailers.
  if (req.method === "HEAD" && isSent()) close();
}

/** Returns whether the client disconnected, or has reset the stream. */
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
 * Closes a request whose response is written, after the client had time to read it: closing while
 * bytes arrive resets the connection or the stream, and the client loses the response.
 */
function linger(req: IncomingMessage, close: () => void): void {
  let bytes = 0;
  const discard = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) req.pause();
  };
  const end = () => {
    clearTimeout(timer);
    req.off("data", discard);
    close();
  };
  const timer = setTimeout(end, LINGER_MS);
  req.once("end", end).once("close", end).on("data", discard).resume();
}
