import type { IncomingMessage, ServerResponse } from "node:http";
// Not the global ones: a test may fake the timers of its app, also before this is loaded.
import { clearTimeout, setTimeout } from "node:timers";
import { bodyTimeMs, type BodyLimits } from "./body";
import { describeResponse } from "./response";
import type { WebhookError } from "../errors/webhook-error";

/** How long, and how much of, a body is read after its request was rejected. */
const LINGER_MS = 1_000;
const LINGER_BYTES = 262_144;

/**
 * Responds to a request of `node:http`, unless another middleware has or the client disconnected.
 * When the rest of the body is too large, the connection is closed after the response; the rest of
 * a small body is discarded for as long as a body may take.
 */
export function sendResponse(
  req: IncomingMessage,
  res: ServerResponse,
  rejection: WebhookError | undefined,
  limits: BodyLimits,
  mustReconnect: boolean,
): void {
  // HTTP/2 has no Connection header, and a client may reset a stream of it.
  const isHttp1 = req.httpVersionMajor === 1;
  const isReset = (req as { stream?: { destroyed?: boolean } }).stream?.destroyed === true;
  if (res.headersSent || res.destroyed || (!isHttp1 && isReset)) return;
  const { status, headers, text } = describeResponse(rejection);
  const isComplete = req.complete;
  const isCut = status === 413 || status === 408;
  const lingers = !isComplete && (isCut || isRestTooLarge(req, limits.limitBytes));
  const closes = lingers || isCut || mustReconnect;
  res.writeHead(status, closes && isHttp1 ? { ...headers, Connection: "close" } : headers);
  if (lingers) {
    res.write(text);
    // HTTP/1 closes the connection by its header; a stream of HTTP/2 must be destroyed.
    linger(req, () => res.end(() => res.destroy()));
  } else {
    res.end(text);
    if (!isComplete) boundRest(req, bodyTimeMs(limits));
  }
}

/** Destroys the connection if the body of a request is not complete in time. */
function boundRest(req: IncomingMessage, timeMs: number): void {
  const timer = setTimeout(() => {
    if (!req.complete) req.destroy();
  }, timeMs);
  // The connection keeps the process alive, as long as it is open.
  timer.unref();
  req.once("close", () => clearTimeout(timer));
}

function isRestTooLarge(req: IncomingMessage, limitBytes: number): boolean {
  const length = req.headers["content-length"];
  if (length !== undefined) return Number(length) > limitBytes;
  return req.headers["transfer-encoding"] !== undefined || req.httpVersionMajor > 1;
}

/**
 * Discards the rest of a body for some time: closing while bytes arrive resets the connection, and
 * the client loses the response.
 */
function linger(req: IncomingMessage, close: () => void): void {
  let bytes = 0;
  const discard = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) req.pause();
  };
  const end = () => {
    clearTimeout(timer);
    req.off("data", discard).off("end", end).off("close", end);
    close();
  };
  const timer = setTimeout(end, LINGER_MS);
  req.on("end", end).on("close", end).on("data", discard).resume();
}
