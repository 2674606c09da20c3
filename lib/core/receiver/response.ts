import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { clearTimeout } from "node:timers";
import { bodyTimeMs, isStream, type BodyLimits } from "./body";
import type { Callbacks } from "../../kit/callbacks";
import { createNeutralCause } from "../../kit/neutral-cause";
import { WebhookError } from "../errors/webhook-error";
import type { IncomingRequest } from "./incoming-request";
import { FormError } from "../event/form";
import { loadEngine } from "../signature/explain";
import { UncoveredTargetError } from "../signature/signed-parts";

/** How much is read of the body of a rejected request. */
const LINGER_MS = 1_000;
const LINGER_BYTES = 262_144;

const ACCEPTED_HEADERS = { "Cache-Control": "no-store", "Content-Length": "0" };

/** Returns the response. It repeats no input: responses to equal rejections are equal byte by byte. */
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
 *
 * The methods of `res` get a chunk or nothing, as apps call them: middlewares that replace them know
 * no callback.
 */
export function sendResponse(
  req: IncomingMessage,
  res: ServerResponse,
  rejection: WebhookError | undefined,
  limits: BodyLimits,
  mustReconnect: boolean,
  callbacks: Callbacks,
): void {
  // HTTP/2 has no Connection header, and a client may reset a stream of it.
  const isHttp1 = req.httpVersionMajor === 1;
  const { stream } = req as { stream?: Duplex };
  const isReset = !isHttp1 && stream?.destroyed === true;
  if (res.headersSent || res.destroyed || isReset) return;
  const { status, headers, text } = describeResponse(rejection);
  const isComplete = req.complete || !isStream(req);
  const isCut = status === 413 || status === 408;
  const lingers = !isComplete && (isCut || isRestTooLarge(req, limits.limitBytes));
  const closes = lingers || isCut || mustReconnect;
  // A middleware that writes after its end has Node.js emit an error, without a listener an uncaught one.
  callbacks.on(res, "error", callbacks.onThrown);
  res.writeHead(status, closes && isHttp1 ? { ...headers, Connection: "close" } : headers);
  if (lingers) {
    res.write(text);
    linger(req, callbacks, () => {
      // HTTP/1 closes the connection by its header; a stream of HTTP/2 must be destroyed.
      if (!isHttp1 && stream !== undefined) callbacks.on(stream, "finish", () => res.destroy());
      res.end();
    });
  } else {
    res.end(text);
    // The request of an adapter has no `complete`, and no connection that stays open.
    if (!isComplete && "complete" in req) boundRest(req, callbacks, bodyTimeMs(limits));
  }
}

/** Discards the rest of a body, for some time. */
function boundRest(req: IncomingMessage, callbacks: Callbacks, timeMs: number): void {
  const timer = callbacks.setTimeout(() => {
    if (!req.complete) req.destroy();
  }, timeMs);
  // The connection keeps the process alive, as long as it is open.
  timer.unref();
  callbacks.on(req, "close", () => clearTimeout(timer));
  // Node.js resumes no request that had a listener, such as one whose bytes were put back.
  req.resume();
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
function linger(req: IncomingMessage, callbacks: Callbacks, close: () => void): void {
  let bytes = 0;
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    close();
  };
  const timer = callbacks.setTimeout(end, LINGER_MS);
  callbacks.on(req, "end", end).on(req, "close", end);
  callbacks.on(req, "data", (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) req.pause();
  });
  req.resume();
}

/** Returns the WebhookError of an error that form decoding or signed parts throw without a code. */
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

/**
 * Returns the reason to reject a request. A body that may be a part of the whole, and does not match
 * its signature, is the fault of the middleware that read it.
 */
export function toRejection(
  error: unknown,
  { incompleteBody }: Pick<IncomingRequest, "incompleteBody">,
): WebhookError {
  const rejection = toWebhookError(error);
  const mayBeCut = ["SIGNATURE_MISMATCH", "BODY_MALFORMED"].includes(rejection.code);
  return mayBeCut && incompleteBody !== undefined ? incompleteBody : rejection;
}
