import type { IncomingMessage } from "node:http";
import { clearTimeout } from "node:timers";
import { isUint8Array } from "node:util/types";
import { Callbacks } from "../../kit/callbacks";
import { WebhookError } from "../errors/webhook-error";
import { listFlatPairs } from "../../kit/pairs";
import { encodeForm } from "../../kit/text";
import { assertWellFormed, decodeForm, isRawBody, type Form } from "../event/form";

/**
 * Reads a form from bytes, a string, or an object of strings and lists of strings.
 *
 * @throws WebhookError `BODY_TOO_LARGE`, `BODY_CONSUMED`; FormError as {@link decodeForm}.
 */
export function readForm(body: unknown, limitBytes: number): Form {
  if (isRawBody(body)) {
    if (Buffer.byteLength(body) > limitBytes) throw createTooLargeError(limitBytes);
    return decodeForm(body);
  }
  // Another parser decoded the body. A nested form cannot be verified: nesting loses names.
  const pairs = listFlatPairs(body);
  if (pairs === undefined) throw createConsumedError(NOTHING_KEPT);
  let bytes = 0;
  for (const [name, value] of pairs) {
    assertWellFormed(name);
    assertWellFormed(value);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  if (bytes > limitBytes) throw createTooLargeError(limitBytes);
  return decodeForm(encodeForm(pairs));
}

class BodyCollector {
  // One buffer: a client may send a chunk per byte, and each chunk would take 200 bytes.
  #buffer: Uint8Array | undefined;
  #bytes = 0;

  constructor(readonly limitBytes: number) {}

  /**
   * Adds bytes, or text that a stream decoded with an encoding.
   *
   * @throws WebhookError `BODY_TOO_LARGE`; `BODY_CONSUMED` for another value.
   */
  add(part: unknown, encoding?: BufferEncoding | null): void {
    const chunk = typeof part === "string" ? Buffer.from(part, encoding ?? "utf8") : part;
    if (!isUint8Array(chunk)) throw createConsumedError("the stream has neither bytes nor text");
    const start = this.#bytes;
    this.#bytes += chunk.length;
    if (this.#bytes > this.limitBytes) throw createTooLargeError(this.limitBytes);
    // Usually the first chunk is the whole body.
    if (this.#buffer === undefined) {
      this.#buffer = chunk;
      return;
    }
    if (this.#bytes > this.#buffer.length) {
      const size = Math.max(this.#bytes, 2 * this.#buffer.length);
      this.#buffer = Buffer.concat([this.#buffer], size);
    }
    this.#buffer.set(chunk, start);
  }

  take(): Uint8Array {
    const buffer = this.#buffer ?? new Uint8Array();
    return buffer.length === this.#bytes ? buffer : buffer.subarray(0, this.#bytes);
  }
}

/** Reads what a platform has put back into a request whose stream has ended. */
export function readAgain(req: IncomingMessage, { limitBytes }: BodyLimits): Uint8Array {
  const collector = new BodyCollector(limitBytes);
  for (let chunk: unknown; (chunk = req.read()) !== null;) collector.add(chunk);
  return collector.take();
}

/** Reads the stream of a request, within the limits. */
export function readNodeStream(req: IncomingMessage, limits: BodyLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (req.destroyed) return reject(createTruncatedError(req.errored));
    const callbacks = new Callbacks(reject);
    const collector = new BodyCollector(limits.limitBytes);
    let isSettled = false;
    let timer: NodeJS.Timeout | undefined;
    const fail = (error: unknown) => {
      isSettled = true;
      clearTimeout(timer);
      reject(error);
      // Flow control then stops the client, until the response is written.
      req.pause();
    };
    const cut = (cause?: unknown) => {
      if (!isSettled) fail(createTruncatedError(cause));
    };
    callbacks
      .on(req, "data", (chunk: unknown) => {
        if (isSettled) return;
        try {
          collector.add(chunk, req.readableEncoding);
        } catch (error) {
          fail(error);
        }
      })
      .on(req, "end", () => {
        isSettled = true;
        clearTimeout(timer);
        resolve(collector.take());
      })
      .on(req, "error", cut)
      .on(req, "close", cut);
    // Another middleware may have paused it; a mock has no such state.
    if (isStream(req) && req.isPaused()) req.resume();
    // Most bodies arrive with their headers, and need no timer.
    callbacks.setImmediate(() => {
      if (isSettled) return;
      timer = callbacks.setTimeout(() => {
        const isHeld = req.readableLength > 0;
        fail(
          isHeld
            ? createConsumedError("another listener holds the stream")
            : createBodyTimeoutError(limits),
        );
      }, bodyTimeMs(limits));
    });
  });
}

/** Returns whether a request is a stream; a mock is not, and may emit events. */
export function isStream(req: IncomingMessage): boolean {
  return typeof (req as Partial<IncomingMessage>).pause === "function";
}

/** Reads the stream of a `Request`, within the limits. */
export async function readWebStream(body: ReadableStream, limits: BodyLimits): Promise<Uint8Array> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const callbacks = new Callbacks(reject);
    timer = callbacks.setTimeout(() => reject(createBodyTimeoutError(limits)), bodyTimeMs(limits));
  });
  try {
    return await Promise.race([collect(reader, limits), late]);
  } catch (error) {
    // It ends a pending read. Not awaited: a source that hangs would delay the response.
    cancel(reader).catch(() => "the error of the read is thrown");
    throw error instanceof WebhookError ? error : createTruncatedError(error);
  } finally {
    clearTimeout(timer);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function collect(reader: Reader, { limitBytes }: BodyLimits): Promise<Uint8Array> {
  const collector = new BodyCollector(limitBytes);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return collector.take();
    collector.add(value);
  }
}

async function cancel(reader: Reader): Promise<void> {
  await reader.cancel();
}

export function createTooLargeError(limitBytes: number): WebhookError {
  return new WebhookError("BODY_TOO_LARGE", `The body is over limitBytes, ${limitBytes} bytes.`);
}

/** Bounds a body; no deadline is 10 s. */
export interface BodyLimits {
  limitBytes: number;
  deadlineMs?: number;
}

/** Returns how long a body may take to arrive: 10 s, or the shorter deadline of the request. */
export function bodyTimeMs({ deadlineMs = MAX_BODY_MS }: Pick<BodyLimits, "deadlineMs">): number {
  return Math.min(deadlineMs, MAX_BODY_MS);
}

const MAX_BODY_MS = 10_000;

function createBodyTimeoutError(limits: BodyLimits): WebhookError {
  const message = `The body was not complete within ${bodyTimeMs(limits)} ms, the shorter of 10 s and deadlineMs.`;
  return new WebhookError("BODY_TIMEOUT", message);
}

function createTruncatedError(cause: unknown): WebhookError {
  const message = "The body ended, or the client disconnected, before all of the body was read.";
  return new WebhookError("BODY_MALFORMED", message, { cause });
}

const MOUNT_BEFORE =
  "Mount pushWebhooks() before express.json(), express.urlencoded() and the like, or have them keep the bytes in req.rawBody.";

/** What is left of a body that cannot be used. */
export const NOTHING_KEPT = "it kept neither bytes, text nor a flat form";

/** `found` says what another middleware has left of the body. */
export function createConsumedError(found: string, fix = MOUNT_BEFORE): WebhookError {
  const message = `Another middleware has read the body: ${found}. ${fix}`;
  return new WebhookError("BODY_CONSUMED", message);
}
