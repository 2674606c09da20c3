import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
// Not the global ones: a test may fake the timers of its app, also before this is loaded.
import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import { BodyCollector, bodyTimeout, consumed, truncated } from "./body";
import type { PushWebhooksSettings } from "./options";
import type { ReceivedRequest } from "./received-request";
import { isRawBody } from "../form/form";
import { listFlatPairs, type Pair } from "../form/parameters";

/** Bounds the body that is read. */
export type BodyLimits = Pick<PushWebhooksSettings, "limitBytes" | "bodyTimeoutMs">;

/** A request of `node:http`; its body may have been read by another middleware or a platform. */
export interface NodeMessage extends IncomingMessage {
  /** The whole path, where Express has removed the mount path from `url`. */
  originalUrl?: string;
  /** The body as a body parser decoded it. */
  body?: unknown;
  /** The exact bytes, on platforms that keep them. */
  rawBody?: unknown;
}

/** A webhook request of `node:http`, of Express or connect, or of an adapter that imitates it. */
export class NodeRequest implements ReceivedRequest {
  readonly method: string;
  body: unknown;
  // Adapters of serverless platforms have no raw headers.
  readonly #rawHeaders: readonly string[];
  readonly #headers: IncomingHttpHeaders;

  constructor(
    readonly req: NodeMessage,
    readonly limits: BodyLimits,
  ) {
    const { method = "", rawHeaders = [], headers = {} } = req as Partial<NodeMessage>;
    this.method = method;
    this.#rawHeaders = rawHeaders;
    this.#headers = headers;
  }

  get target(): string {
    return this.req.originalUrl ?? this.req.url ?? "";
  }

  /** Whether Express or connect has removed a mount path from `url`. */
  get isMounted(): boolean {
    return this.target !== this.req.url;
  }

  get remoteAddress(): string | undefined {
    const { socket } = this.req as Partial<NodeMessage>;
    return socket?.remoteAddress;
  }

  /** HTTP/2 announces a body by frames that follow, not by a header. */
  get mayHaveBody(): boolean {
    return this.req.httpVersionMajor > 1;
  }

  listHeader(name: string): readonly string[] {
    const joined = this.#headers[name];
    if (joined === undefined) return [];
    const values: string[] = [];
    // The raw headers: Node keeps only the first of a repeated Content-Type.
    for (let index = 0; index + 1 < this.#rawHeaders.length; index += 2) {
      const rawName = this.#rawHeaders[index] ?? "";
      if (rawName.length === name.length && rawName.toLowerCase() === name) {
        values.push(this.#rawHeaders[index + 1] ?? "");
      }
    }
    return values.length > 0 ? values : [joined].flat();
  }

  listHeaders(): readonly Pair[] {
    if (this.#rawHeaders.length > 0) return pairHeaders(this.#rawHeaders);
    return Object.entries(this.#headers).flatMap(([name, values = []]) =>
      [values].flat().map((value): Pair => [name, value]),
    );
  }

  /** Prefers `req.rawBody`, then bytes or text in `req.body`, the stream, a form in `req.body`. */
  readBody(isAnnounced: boolean): unknown {
    const { rawBody, body } = this.req;
    if (isRawBody(rawBody)) return rawBody;
    if (isRawBody(body)) return body;
    const mayFollow = isAnnounced || this.mayHaveBody;
    if (mayFollow && !this.req.readableDidRead && !this.req.readableEnded) {
      return readNodeStream(this.req, this.limits);
    }
    if (listFlatPairs(body) !== undefined) return body;
    if (isAnnounced) throw consumed();
    return undefined;
  }
}

/** Returns the pairs of a list in which names and values alternate. */
export function pairHeaders(rawHeaders: readonly string[]): Pair[] {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names.map((name, index) => [name, rawHeaders[2 * index + 1] ?? ""]);
}

function readNodeStream(req: IncomingMessage, limits: BodyLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (req.destroyed) return reject(truncated(req.errored));
    const collector = new BodyCollector(limits.limitBytes);
    let isSettled = false;
    let timer: NodeJS.Timeout | undefined;
    const fail = (error: unknown) => {
      isSettled = true;
      clearTimeout(timer);
      // Flow control then stops the client, until the response is written.
      req.off("data", add).pause();
      reject(error);
    };
    const cut = (cause?: unknown) => {
      if (!isSettled) fail(truncated(cause));
    };
    const add = (chunk: unknown) => {
      try {
        collector.add(chunk);
      } catch (error) {
        fail(error);
      }
    };
    const end = () => {
      isSettled = true;
      clearTimeout(timer);
      resolve(collector.take());
    };
    req.on("data", add).on("end", end).on("error", cut).on("close", cut);
    // Another middleware may have paused it.
    if (req.isPaused()) req.resume();
    // Most bodies arrive with their headers, and need no timer.
    setImmediate(() => {
      if (isSettled) return;
      timer = setTimeout(() => fail(bodyTimeout(limits.bodyTimeoutMs)), limits.bodyTimeoutMs);
    });
  });
}
