import type { IncomingMessage } from "node:http";
import type { ServerHttp2Stream } from "node:http2";

type RequestOfAnyVersion = Partial<IncomingMessage> & { stream?: ServerHttp2Stream };

/** Returns the stream of an HTTP/2 request; undefined for HTTP/1. */
export function getHttp2Stream(req: Partial<IncomingMessage>): ServerHttp2Stream | undefined {
  const { httpVersionMajor } = req;
  return isHttp2(httpVersionMajor) ? (req as RequestOfAnyVersion).stream : undefined;
}

/**
 * Tells whether DATA frames may follow the headers of an HTTP/2 request: HTTP/2 announces a body by
 * the absence of END_STREAM, not by a header. Undefined for HTTP/1.
 */
export function mayHaveHttp2Body(
  req: Partial<IncomingMessage>,
  httpVersionMajor: number | undefined,
): boolean | undefined {
  if (!isHttp2(httpVersionMajor)) return undefined;
  // Fail closed: an object without a stream does not tell, and counts as one with a body.
  return (req as RequestOfAnyVersion).stream?.endAfterHeaders !== true;
}

function isHttp2(httpVersionMajor: number | undefined): boolean {
  return httpVersionMajor !== undefined && httpVersionMajor > 1;
}

/** What becomes of a body: one of these is called first, and later ones say nothing new. */
export interface BodyListener {
  end: (body: Buffer) => void;
  exceed: () => void;
  cutShort: (cause?: Error) => void;
}

/**
 * Collects the body of an HTTP/2 request, which needs no Content-Length: body-parser takes a body
 * without one for empty. Returns the function that stops it.
 */
export function collectHttp2Body(
  req: IncomingMessage,
  stream: ServerHttp2Stream,
  limitBytes: number,
  { end, exceed, cutShort }: BodyListener,
): () => void {
  // One buffer: a client may send a DATA frame per byte, and each chunk would cost 200 bytes.
  let body = Buffer.alloc(0);
  let bytes = 0;
  const keep = (chunk: Uint8Array) => {
    const start = bytes;
    bytes += chunk.length;
    if (bytes > limitBytes) return exceed();
    if (bytes > body.length) body = Buffer.concat([body], Math.max(bytes, 2 * body.length));
    body.set(chunk, start);
  };
  const finish = () => {
    // Node emits `end` after a reset, too.
    if (stream.aborted || !hasLength(req, bytes)) cutShort();
    else end(body.subarray(0, bytes));
  };
  // Without an argument: `close` has none, and Node hides the error of a stream.
  const close = () => cutShort();
  if (stream.closed) close();
  req.on("error", cutShort).on("close", close).on("end", finish).on("data", keep);
  return () => {
    req.off("error", cutShort).off("close", close).off("end", finish).off("data", keep);
    // Flow control then holds the client. After a reset, Node must be able to discard the rest.
    if (!req.complete) req.pause();
  };
}

function hasLength({ headers }: IncomingMessage, bytes: number): boolean {
  const length = headers["content-length"];
  return length === undefined || Number(length) === bytes;
}
