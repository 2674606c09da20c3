import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { RequestWithBody } from "./body";
import type { RequestHead } from "./head";
import { mayHaveHttp2Body } from "./http2-stream";
import type { RejectedRequest } from "./reports";

/** The head of a request, for the step that checks it. */
export function readHead(req: Partial<IncomingMessage>): RequestHead {
  // Looked at once: Express gives each request a hidden class of its own, which is slow to look at.
  const { method, rawHeaders = [], headers = {}, httpVersionMajor } = req;
  return {
    method,
    listHeader: (name) => listValues(rawHeaders, headers, name),
    listHeaderNames: () => Object.keys(headers),
    mayHaveBody: mayHaveHttp2Body(req, httpVersionMajor),
  };
}

function listValues(
  rawHeaders: readonly string[],
  headers: IncomingHttpHeaders,
  name: string,
): readonly string[] {
  if (headers[name] === undefined) return [];
  const values: string[] = [];
  // The raw ones: Node keeps only the first of a repeated Content-Type.
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? "");
  }
  // Adapters of serverless platforms have no raw ones.
  return values.length > 0 ? values : [headers[name] ?? []].flat();
}

/** The target that was requested, with its query, wherever the receiver is mounted. */
export function readTarget(req: RequestWithOriginalUrl): string {
  // Express takes the mount path out of url, and keeps the whole in originalUrl.
  return req.originalUrl ?? req.url ?? "";
}

interface RequestWithOriginalUrl extends IncomingMessage {
  originalUrl?: string;
}

/**
 * The URL as the request shows it. Whoever calls chooses the Host header and the forwarded ones, so
 * this is a hint for explanations and never verified against.
 */
export function readReceivedUrl(req: RequestWithOriginalUrl): string {
  return joinReceivedUrl(readHead(req), readTarget(req));
}

/** As {@link readReceivedUrl}, of a target and the head that it came with. */
export function joinReceivedUrl(head: RequestHead, target: string): string {
  if (/^https?:/i.test(target)) return target;
  const first = (name: string) => head.listHeader(name)[0]?.split(",")[0]?.trim();
  const host = first("x-forwarded-host") ?? first("host") ?? first(":authority") ?? "";
  return `${first("x-forwarded-proto") ?? "https"}://${host}${target}`;
}

/** The body that `createReadBody` read the parameters from: exact bytes or text before an object. */
export function findReceivedBody({ rawBody, body }: RequestWithBody): unknown {
  const isExact = typeof rawBody === "string" || rawBody instanceof Uint8Array;
  return isExact ? rawBody : body;
}

const MAX_PATH_CHARACTERS = 200;

/**
 * Describes a rejected request, for logs: without its query, its path cut after 200 characters, and
 * control characters of the path escaped.
 */
export function describeRequest(req: IncomingMessage): RejectedRequest {
  const path = shortenPath(readTarget(req));
  // Adapters of serverless platforms have no socket.
  const socket = req.socket as IncomingMessage["socket"] | undefined;
  return { method: req.method ?? "", path, remoteAddress: socket?.remoteAddress };
}

function shortenPath(target: string): string {
  // Cut first: a target may have 16 kB, and each character of it becomes up to 6.
  const [path = ""] = target.slice(0, MAX_PATH_CHARACTERS + 1).split("?", 1);
  // Also line separators, marks that reverse the direction of text, and lone surrogates.
  const escaped = path.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, "0")}`,
  );
  return escaped.length > MAX_PATH_CHARACTERS
    ? `${escaped.slice(0, MAX_PATH_CHARACTERS)}…`
    : escaped;
}
