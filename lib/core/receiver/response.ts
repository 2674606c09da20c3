import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
// Not the global ones: a test may fake the timers of its app, also before this is loaded.
import { clearTimeout, setTimeout } from "node:timers";
import { bodyTimeMs, type BodyLimits } from "./body";
import { createNeutralCause } from "../../kit/neutral-cause";
import { WebhookError } from "../errors/webhook-error";
import { FormError } from "../event/form";
import { loadEngine } from "../signature/explain";
import { UncoveredTargetError } from "../signature/signed-parts";

/** How long, and how much of, a body is read after its request was rejected. */
const LINGER_MS = 1_000;
const LINGER_BYTES = 262_144;

const ACCEPTED_HEADERS = { "Cache-Control": "no-store", "Content-Length": "0" };

/**
 * Returns the response to an accepted or a rejected request. It repeats no input, and the responses
 * to equal rejections are equal byte by byte.
 */
export function describeResponse(rejection: WebhookError | undefined) {
  if (rejection === undefined) return { status: 200, headers: ACCEPTED_HEADERS, text: "" };
  const { status } = rejection;
  const text = `${STATUS_CODES[status] ?? "Error"}\n`;
  const headers = {
    ...rejection.headers,
    "Cache-Control": "no-store",
    "Content-Length": String(Buffer.byteLength(text)),
    "Content-Type": "text/plain; charset=utf-8",
  };
  return { status, headers, text };
}

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

/**
 * Returns the WebhookError of an error that form decoding or signed parts throw, which has no code;
 * returns any other error unchanged.
 */
export function addCode(error: unknown): unknown {
  if (error instanceof FormError) {
    const code = error.reason === "malformed" ? "BODY_MALFORMED" : "BODY_TOO_LARGE";
    return new WebhookError(code, error.message);
  }
  if (error instanceof UncoveredTargetError) {
    const { message, publicUrl } = error;
    const explain = () => loadEngine().explainCause("URL_QUERY_EXTRA", publicUrl);
    return new WebhookError("SIGNATURE_MISMATCH", message, { explain });
  }
  return error;
}

/** Returns an error of the request path as a WebhookError: `INTERNAL_ERROR` when it has no code. */
export function toWebhookError(error: unknown): WebhookError {
  const coded = addCode(error);
  if (coded instanceof WebhookError) return coded;
  const cause = createNeutralCause(error);
  return new WebhookError("INTERNAL_ERROR", "The receiver itself failed; see the cause.", {
    cause,
  });
}
