import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { consumed, NOTHING_KEPT, readAgain, readNodeStream, type BodyLimits } from "./body";
import type { IncomingRequest } from "./incoming-request";
import { isRawBody } from "../event/form";
import { listFlatPairs, type Pair } from "../event/event-parameters";

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
export class NodeRequest implements IncomingRequest {
  readonly method: string;
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

  /** Takes the source that has the whole body: `req.rawBody`, `req.body`, the stream, or a form. */
  async readBody(isAnnounced: boolean): Promise<unknown> {
    const { req, limits } = this;
    const { readableDidRead: wasRead, readableEnded: hasEnded } = req;
    const length = Number(this.#headers["content-length"] ?? 0);
    const mayFollow = isAnnounced || this.mayHaveBody;
    // Without a length, a source is whole only if no other can have more.
    const isWhole = (raw: string | Uint8Array, isLast: boolean) =>
      Buffer.byteLength(raw) >= (length || (isLast ? 1 : Infinity));
    const kept = listKept(req);
    const whole = kept.find((raw) => isWhole(raw, hasEnded || !mayFollow));
    if (whole !== undefined) return whole;
    let rest: string | Uint8Array = "";
    if (mayFollow) {
      rest = hasEnded ? readAgain(req, limits) : await readNodeStream(req, limits);
      if (isWhole(rest, hasEnded || !wasRead)) return rest;
    }
    // A middleware that collects the body has the rest now, too, unless it has stopped.
    const [collected = ""] = listKept(req);
    const expected = length || Buffer.byteLength(kept[0] ?? "") + rest.length;
    const bytes = Buffer.byteLength(collected);
    if (bytes > 0 && bytes >= expected) return collected;
    if (listFlatPairs(req.body) !== undefined) return req.body;
    if (!isAnnounced || (!wasRead && length === 0)) return "";
    if (bytes + rest.length === 0) throw consumed(NOTHING_KEPT);
    const name = bytes === 0 ? "the stream" : collected === req.body ? "req.body" : "req.rawBody";
    const all = length > 0 ? length : `at least ${expected}`;
    throw consumed(`${name} has ${bytes || rest.length} of ${all} bytes`);
  }
}

/** Lists the bytes or the texts that a middleware or a platform has kept. */
function listKept({ rawBody, body }: NodeMessage): (string | Uint8Array)[] {
  return [rawBody, body].filter(isRawBody).filter((raw) => raw.length > 0);
}

/** Returns the pairs of a list in which names and values alternate. */
export function pairHeaders(rawHeaders: readonly string[]): Pair[] {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names.map((name, index) => [name, rawHeaders[2 * index + 1] ?? ""]);
}
