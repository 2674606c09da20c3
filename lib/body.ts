import type { IncomingMessage, ServerResponse } from "node:http";
import bodyParser from "body-parser";
import { WebhookError } from "./errors";
import { assertWellFormed, decodeForm, decodePairs, MAX_PARAMETERS, type Pair } from "./form";
import { tooLarge } from "./head";
import { collectHttp2Body, getHttp2Stream } from "./http2-stream";

/** A request whose body may be unread, or left behind by another middleware or a platform. */
export interface RequestWithBody extends IncomingMessage {
  /** What a body parser made of the body. */
  body?: unknown;
  /** The exact bytes, where a platform keeps them. */
  rawBody?: unknown;
}

/** Reads the parameters from the body of a request. */
export type ReadBody = (
  req: RequestWithBody,
  res: ServerResponse,
  hasBody: boolean,
) => Promise<Pair[]>;

/**
 * Makes the step that reads a body: from `req.rawBody`, a Buffer or string in `req.body`, the
 * unread stream, or a flat form in `req.body`.
 *
 * @throws WebhookError (by what it returns) `BODY_TOO_LARGE` as soon as the limit is passed,
 *   `BODY_TIMEOUT`, `BODY_MALFORMED`, `BODY_CONSUMED`.
 */
export function createReadBody(limitBytes: number, bodyTimeoutMs: number): ReadBody {
  const readStream = createReadStream(limitBytes, bodyTimeoutMs);

  async function readUnread(req: RequestWithBody, res: ServerResponse): Promise<Uint8Array> {
    // No need to wait for all of the body: an HTTP/2 request never says that it is complete.
    if (!canPause(req) || getHttp2Stream(req) !== undefined) return readStream(req, res);
    // What flows to another listener meanwhile would be lost to this one.
    req.pause();
    await new Promise<void>((resolve) => nextTurn(resolve));
    const body = takeArrived(req, limitBytes);
    if (body !== undefined) return body;
    const read = readStream(req, res);
    // Now that it listens.
    req.resume();
    return read;
  }

  return async function readBody(req, res, hasBody) {
    for (const exact of [req.rawBody, req.body]) {
      const pairs = readExact(exact, limitBytes);
      if (pairs !== undefined) return pairs;
    }
    if (hasBody && isUnread(req)) {
      return decodeForm(await readUnread(req, res));
    }
    const pairs = readFlatForm(req.body, limitBytes);
    if (pairs !== undefined) return pairs;
    if (hasBody) throw consumed();
    return [];
  };
}

/**
 * Reads a body that is at hand: bytes, a string, or a flat form of strings and lists of strings.
 *
 * @throws WebhookError `BODY_TOO_LARGE`, `BODY_MALFORMED`; `BODY_CONSUMED` for anything else.
 */
export function readGivenBody(body: unknown, limitBytes: number): Pair[] {
  if (body === undefined || body === null) return [];
  const pairs = readExact(body, limitBytes) ?? readFlatForm(body, limitBytes);
  if (pairs === undefined) throw consumed();
  return pairs;
}

function readExact(body: unknown, limitBytes: number): Pair[] | undefined {
  if (typeof body === "string") {
    if (Buffer.byteLength(body) > limitBytes) throw tooLarge(limitBytes);
    return decodePairs(body);
  }
  if (body instanceof Uint8Array) {
    if (body.length > limitBytes) throw tooLarge(limitBytes);
    return decodeForm(body);
  }
  return undefined;
}

/** A form that another parser decoded; only one that it did not nest says what was signed. */
function readFlatForm(body: unknown, limitBytes: number): Pair[] | undefined {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
  const pairs: Pair[] = [];
  let bytes = 0;
  for (const [name, value] of Object.entries(body) as [string, unknown][]) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof one !== "string") return undefined;
      assertWellFormed(name);
      assertWellFormed(one);
      pairs.push([name, one]);
      bytes += Buffer.byteLength(name) + Buffer.byteLength(one);
    }
  }
  if (pairs.length > MAX_PARAMETERS || bytes > limitBytes) throw tooLarge(limitBytes);
  // A parser that did not know the content type leaves an empty object behind.
  return pairs.length > 0 ? pairs : undefined;
}

function isUnread(req: IncomingMessage): boolean {
  return !req.readableDidRead && !req.readableEnded;
}

// As it was when this was loaded: a test may fake the timers of its app.
const nextTurn = setImmediate;

/**
 * The body, if all of it waits in the stream: so it is, one turn of the loop after its head, where
 * both are in one packet. It then takes no listeners and no timer.
 */
function takeArrived(req: RequestWithBody, limitBytes: number): Uint8Array | undefined {
  if (!isUnread(req)) throw consumed();
  const { complete, readableLength, headers } = req;
  if (!complete || readableLength === 0 || readableLength !== Number(headers["content-length"])) {
    if (isGone(req)) throw truncated(req.errored);
    return undefined;
  }
  if (readableLength > limitBytes) throw tooLarge(limitBytes);
  const body = req.read() as Uint8Array;
  req.body = body;
  return body;
}

/** Whether pausing is safe: no other reader is attached and no decoder is set. */
function canPause(req: IncomingMessage): boolean {
  return req.listenerCount("readable") === 0 && req.readableEncoding === null;
}

/** Whether the client disconnected. body-parser would report this as "already consumed". */
function isGone(req: Partial<IncomingMessage>): boolean {
  // Adapters of serverless platforms have no socket, or one that says nothing.
  return req.destroyed === true || req.socket?.readable === false;
}

function createReadStream(limitBytes: number, bodyTimeoutMs: number) {
  const readRaw = bodyParser.raw({ type: () => true, limit: limitBytes, inflate: false });

  return async function readStream(req: RequestWithBody, res: ServerResponse): Promise<Uint8Array> {
    let timer: NodeJS.Timeout | undefined;
    let stop: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        timer = setTimeout(() => reject(timedOut(bodyTimeoutMs)), bodyTimeoutMs);
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
          // body-parser finds this too, but says so only after the whole upload.
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
    "The body ended, or its sender went away, before all of it was read.",
    { cause },
  );
}

function timedOut(bodyTimeoutMs: number): WebhookError {
  return new WebhookError(
    "BODY_TIMEOUT",
    `The body was not complete within bodyTimeoutMs, ${bodyTimeoutMs} ms.`,
  );
}

function consumed(cause?: unknown): WebhookError {
  return new WebhookError(
    "BODY_CONSUMED",
    "Another middleware has read the body and left nothing that the signature can be checked against. Mount pushWebhooks() before express.json(), express.urlencoded() and the like, or have them keep the bytes in req.rawBody.",
    { cause },
  );
}
