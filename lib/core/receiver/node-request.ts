import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import {
  createConsumedError,
  isStream,
  NOTHING_KEPT,
  readAgain,
  readNodeStream,
  type BodyLimits,
} from "./body";
import type { IncomingRequest } from "./incoming-request";
import { andThen } from "../../kit/pending";
import { readThrown } from "../../kit/thrown-value";
import type { WebhookError } from "../errors/webhook-error";
import { isRawBody } from "../event/form";
import { listFlatPairs, pairHeaders, type Pair } from "../../kit/pairs";

/** A request of `node:http` whose body another middleware or a platform may have read. */
export interface NodeMessage extends IncomingMessage {
  /** The whole path, where Express has removed the mount path from `url`. */
  originalUrl?: string;
  /** The route of Express that matches, such as `app.post(path, push)`. */
  route?: { path?: unknown };
  /** The body as a body parser decoded it. */
  body?: unknown;
  /** The exact bytes, on platforms that keep them. */
  rawBody?: unknown;
}

/** A webhook request of `node:http`, Express or connect, or of an adapter that imitates it. */
export class NodeRequest implements IncomingRequest {
  readonly method: string;
  body: unknown;
  incompleteBody: WebhookError | undefined;
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

  /** Whether Express or connect has removed a mount path from `url`, or a route has a path. */
  get isMounted(): boolean {
    const { url, route } = this.req;
    return this.target !== url || (route !== undefined && !isWildcard(route.path));
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
    if (joined === undefined) return NO_VALUES;
    let values = NO_VALUES;
    // The raw headers: Node keeps only the first of a repeated Content-Type.
    for (let index = 0; index + 1 < this.#rawHeaders.length; index += 2) {
      const rawName = this.#rawHeaders[index] ?? "";
      if (rawName.length === name.length && rawName.toLowerCase() === name) {
        const value = this.#rawHeaders[index + 1] ?? "";
        // No push to an empty list: V8 gives it room for 17 values.
        values = values.length === 0 ? [value] : [...values, value];
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
  readBody(isAnnounced: boolean): unknown {
    const { req, limits } = this;
    const { readableDidRead: wasRead, readableEnded: hasEnded } = req;
    const length = Number(this.#headers["content-length"] ?? 0);
    // A mock emits its body, unless it has an object.
    const mayFollow =
      (isAnnounced || this.mayHaveBody) && (isStream(req) || readForm(req) === undefined);
    const kept = listKept(req);
    const whole = kept.find((raw) => isWhole(raw, length, hasEnded || !mayFollow));
    if (whole !== undefined) return whole;
    const rest = !mayFollow ? "" : hasEnded ? readAgain(req, limits) : readNodeStream(req, limits);
    return andThen(rest, (read) => {
      if (mayFollow && isWhole(read, length, hasEnded || !wasRead)) return read;
      const isEmpty = !isAnnounced || (!wasRead && length === 0);
      return this.#chooseBody(read, length, Buffer.byteLength(kept[0] ?? ""), isEmpty);
    });
  }

  /** Chooses what has the whole body, after the stream has ended without it. */
  #chooseBody(rest: string | Uint8Array, length: number, keptBytes: number, isEmpty: boolean) {
    const { req } = this;
    // A middleware that collects the body has the rest now, too, unless it has stopped.
    const [collected = ""] = listKept(req);
    const expected = length || keptBytes + rest.length;
    const bytes = Buffer.byteLength(collected);
    if (bytes > 0 && bytes >= expected) return collected;
    const form = readForm(req);
    if (form !== undefined) return form;
    if (isEmpty) return "";
    if (bytes + rest.length === 0) throw createConsumedError(findThrowing(req) ?? NOTHING_KEPT);
    const keptIn = collected === readKept(req, "body") ? "req.body" : "req.rawBody";
    const name = bytes === 0 ? "the stream" : keptIn;
    const all = length > 0 ? length : `at least ${expected}`;
    const error = createConsumedError(`${name} has ${bytes || rest.length} of ${all} bytes`);
    if (length > 0) throw error;
    // A middleware may have put back all that it read.
    this.incompleteBody = error;
    return bytes > rest.length ? collected : rest;
  }
}

/** Returns whether bytes are a whole body; without a length, only if no other source can have more. */
function isWhole(raw: string | Uint8Array, length: number, isLast: boolean): boolean {
  return Buffer.byteLength(raw) >= (length || (isLast ? 1 : Infinity));
}

/** Returns the flat form that a body parser has left; undefined for anything else. */
function readForm(req: NodeMessage): unknown {
  return listFlatPairs(readKept(req, "body")) === undefined ? undefined : req.body;
}

/** Where a middleware or a platform keeps a body. */
const KEPT_IN = ["rawBody", "body"] as const;
const NO_VALUES: readonly string[] = [];

function listKept(req: NodeMessage): (string | Uint8Array)[] {
  const kept: (string | Uint8Array)[] = [];
  for (const name of KEPT_IN) {
    const raw = readKept(req, name);
    if (isRawBody(raw) && raw.length > 0) kept.push(raw);
  }
  return kept;
}

/** Reads a member whose getter throws on some platforms, for a body that they cannot parse. */
function readKept(req: NodeMessage, name: "rawBody" | "body"): unknown {
  try {
    return req[name];
  } catch {
    return undefined;
  }
}

function findThrowing(req: NodeMessage): string | undefined {
  const name = KEPT_IN.find((one) => readThrown(() => [req[one]]) === undefined);
  return name && `its getter of req.${name} throws`;
}

function isWildcard(path: unknown): boolean {
  return typeof path === "string" && /^[/{(]*\*/.test(path);
}
