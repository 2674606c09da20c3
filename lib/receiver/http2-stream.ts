import type { IncomingMessage } from "node:http";
import type { ServerHttp2Stream } from "node:http2";

type RequestOfAnyVersion = Partial<IncomingMessage> & { stream?: ServerHttp2Stream };

/** Returns the stream of an HTTP/2 request; undefined for HTTP/1. */
export function getHttp2Stream(req: Partial<IncomingMessage>): ServerHttp2Stream | undefined {
  const { httpVersionMajor = 1 } = req;
  return httpVersionMajor > 1 ? (req as RequestOfAnyVersion).stream : undefined;
}

/**
 * Returns whether DATA frames may follow the headers of an HTTP/2 request: HTTP/2 announces a body
 * by the absence of END_STREAM, not by a header. Returns undefined for HTTP/1.
 */
export function mayHaveHttp2Body(req: Partial<IncomingMessage>, httpVersionMajor = 1) {
  if (!(httpVersionMajor > 1)) return undefined;
  // Fail closed: a request without a stream counts as one with a body.
  return (req as RequestOfAnyVersion).stream?.endAfterHeaders !== true;
}

/** Callbacks for the end of a body; only the first call counts. */
export interface BodyListener {
  /** The body is complete. */
  end: (body: Buffer) => void;
  /** The body is larger than the limit. */
  exceed: () => void;
  /** The body ended before it was complete. */
  cutShort: (cause?: Error) => void;
}

/**
 * Collects the body of an HTTP/2 request, until the returned function is called: body-parser treats
 * a body without Content-Length as empty.
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
    const announcedBytes = Number(req.headers["content-length"] ?? bytes);
    // Node also emits `end` after a reset.
    if (stream.aborted || announcedBytes !== bytes) cutShort();
    else end(body.subarray(0, bytes));
  };
  // No cause: the event has no argument, and Node hides the error of a stream.
  const close = () => cutShort();
  if (stream.closed) close();
  req.on("error", cutShort).on("close", close).on("end", finish).on("data", keep);
  return () => {
    req.off("error", cutShort).off("close", close).off("end", finish).off("data", keep);
    // Pause so that flow control stops the client. After a reset, Node must discard the rest.
    if (!req.complete) req.pause();
  };
}
