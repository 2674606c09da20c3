import type { IncomingMessage, ServerResponse } from "node:http";
// Not the global one: a test may fake the timers of its app, also before this is loaded.
import { setImmediate as nextTurn } from "node:timers";
import type bodyParser from "body-parser";
import { WebhookError } from "../errors/webhook-error";
import { assertWellFormed, decodeForm, MAX_PARAMETERS, type Pair } from "../form/form";
import { listFlatPairs } from "../form/parameters";
import { tooLarge, type CheckedHeaders } from "./headers";
import { collectHttp2Body, getHttp2Stream } from "./http2-stream";

/** A request whose body may be unread, or read by another middleware or a platform. */
export interface RequestWithBody extends IncomingMessage {
  /** The body as a body parser decoded it. */
  body?: unknown;
  /** The exact bytes, on platforms that keep them. */
  rawBody?: unknown;
}

/** The headers that describe a body. */
export type BodyHeaders = Pick<CheckedHeaders, "hasBody" | "contentLength" | "isHttp2">;

/**
 * Creates the step that reads the parameters from `req.rawBody`, a Buffer or string in `req.body`,
 * the unread stream, or a flat form in `req.body`.
 *
 * @throws WebhookError (by the returned function) `BODY_TOO_LARGE` as soon as the limit is exceeded,
 *   `BODY_TIMEOUT`, `BODY_MALFORMED`, `BODY_CONSUMED`; FormError as {@link decodeForm}.
 */
export function createReadParams(limitBytes: number, bodyTimeoutMs: number) {
  const readStream = createReadStream(limitBytes, bodyTimeoutMs);

  async function readUnread(
    req: RequestWithBody,
    res: ServerResponse,
    { contentLength, isHttp2 }: BodyHeaders,
  ): Promise<Uint8Array> {
    // Do not wait for a complete HTTP/2 request: `complete` stays false until its end.
    if (isHttp2) return readStream(req, res);
    // Pausing is safe only if no other reader is attached and no decoder is set.
    const isFree = req.listenerCount("readable") === 0 && req.readableEncoding === null;
    if (!isFree) return readStream(req, res);
    // Pause so that no chunk is emitted before our listener is attached.
    req.pause();
    await new Promise<void>((resolve) => nextTurn(resolve));
    const body = takeArrived(req, contentLength, limitBytes);
    if (body !== undefined) return body;
    const read = readStream(req, res);
    req.resume();
    return read;
  }

  return async function readParams(
    req: RequestWithBody,
    res: ServerResponse,
    headers: BodyHeaders,
  ): Promise<Pair[]> {
    const { rawBody, body } = req;
    const exact = readExact(rawBody, limitBytes) ?? readExact(body, limitBytes);
    if (exact !== undefined) return exact;
    if (headers.hasBody && isUnread(req)) return decodeForm(await readUnread(req, res, headers));
    const decoded = readFlatForm(body, limitBytes);
    if (decoded !== undefined) return decoded;
    if (headers.hasBody) throw consumed();
    return [];
  };
}

/**
 * Reads the parameters from bytes, a string, or a flat form of strings and lists of strings.
 *
 * @throws WebhookError `BODY_TOO_LARGE`, `BODY_CONSUMED`; FormError as {@link decodeForm}.
 */
export function readGivenParams(body: unknown, limitBytes: number): Pair[] {
  if (body === undefined || body === null) return [];
  const pairs = readExact(body, limitBytes) ?? readFlatForm(body, limitBytes);
  if (pairs === undefined) throw consumed();
  return pairs;
}

function readExact(body: unknown, limitBytes: number): Pair[] | undefined {
  if (typeof body !== "string" && !(body instanceof Uint8Array)) return undefined;
  if (Buffer.byteLength(body) > limitBytes) throw tooLarge(limitBytes);
  return decodeForm(body);
}

/** Reads a form that another parser decoded; undefined when it is nested: that loses names. */
function readFlatForm(body: unknown, limitBytes: number): Pair[] | undefined {
  const pairs = listFlatPairs(body);
  if (pairs === undefined) return undefined;
  let bytes = 0;
  for (const [name, value] of pairs) {
    assertWellFormed(name);
    assertWellFormed(value);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  if (pairs.length > MAX_PARAMETERS || bytes > limitBytes) throw tooLarge(limitBytes);
  return pairs;
}

function isUnread(req: IncomingMessage): boolean {
  return !req.readableDidRead && !req.readableEnded;
}

/**
 * Returns the body if all of it is in the buffer of the stream; needs no listeners and no timer.
 * That is usual: headers and body are in one packet, and Node parses the body one turn later.
 */
function takeArrived(req: RequestWithBody, contentLength: number, limitBytes: number) {
  if (!isUnread(req)) throw consumed();
  const { complete, readableLength } = req;
  if (!complete || readableLength === 0 || readableLength !== contentLength) {
    if (isCutOff(req)) throw truncated(req.errored);
    return undefined;
  }
  if (readableLength > limitBytes) throw tooLarge(limitBytes);
  const body = req.read() as Uint8Array;
  req.body = body;
  return body;
}

/** Whether the client disconnected. body-parser would report this as "already consumed". */
function isCutOff(req: Partial<IncomingMessage>): boolean {
  // Adapters of serverless platforms have no socket, or one without this property.
  return req.destroyed === true || req.socket?.readable === false;
}

function createReadStream(limitBytes: number, bodyTimeoutMs: number) {
  // Loaded on first use: verifyPushRequest needs no body-parser, and loading it takes about 30 ms.
  const { raw } = require("body-parser") as typeof bodyParser;
  const readRaw = raw({ type: () => true, limit: limitBytes, inflate: false });

  return async function readStream(req: RequestWithBody, res: ServerResponse): Promise<Uint8Array> {
    let timer: NodeJS.Timeout | undefined;
    let stop: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        timer = setTimeout(() => {
          const message = `The body was not complete within bodyTimeoutMs, ${bodyTimeoutMs} ms.`;
          reject(new WebhookError("BODY_TIMEOUT", message));
        }, bodyTimeoutMs);
        const stream = getHttp2Stream(req);
        if (stream !== undefined) {
          if (req.readableEncoding !== null) return reject(consumed());
          stop = collectHttp2Body(req, stream, limitBytes, {
            end: (body) => resolve((req.body = body)),
            exceed: () => reject(tooLarge(limitBytes)),
            cutShort: (cause) => reject(truncated(cause)),
          });
          return;
        }
        let bytes = 0;
        const countBytes = (chunk: Uint8Array) => {
          bytes += chunk.length;
          // body-parser reports this only after the whole upload.
          if (bytes > limitBytes) reject(tooLarge(limitBytes));
        };
        readRaw(req, res, (error?: unknown) => {
          if (error !== undefined) reject(explainReadError(error, limitBytes));
          else if (req.body instanceof Uint8Array) resolve(req.body);
          else reject(consumed());
        });
        req.on("data", countBytes);
        stop = () => req.off("data", countBytes);
      });
    } finally {
      clearTimeout(timer);
      stop?.();
    }
  };
}

function explainReadError(error: unknown, limitBytes: number): WebhookError {
  const { type, status } = error as { type?: unknown; status?: unknown };
  if (type === "entity.too.large") return tooLarge(limitBytes);
  return status === 400 ? truncated(error) : consumed(error);
}

function truncated(cause: unknown): WebhookError {
  return new WebhookError(
    "BODY_MALFORMED",
    "The body ended, or the client disconnected, before all of the body was read.",
    { cause },
  );
}

function consumed(cause?: unknown): WebhookError {
  return new WebhookError(
    "BODY_CONSUMED",
    "Another middleware has read the body and kept nothing that the signature can be verified against. Mount pushWebhooks() before express.json(), express.urlencoded() and the like, or have them keep the bytes in req.rawBody.",
    { cause },
  );
}
