import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { RequestWithBody } from "./body";
import type { RequestHeaders } from "./headers";
import { mayHaveHttp2Body } from "./http2-stream";
import type { RejectedRequest } from "../observability/reporter";

/** Returns the headers of a request. */
export function readHeaders(req: Partial<IncomingMessage>): RequestHeaders {
  // Read once: Express gives each request a hidden class of its own, so that each property that is
  // read takes about 1 µs on Node 20.
  const { method, rawHeaders = [], headers = {}, httpVersionMajor } = req;
  return {
    method,
    listHeader: (name) => listValues(rawHeaders, headers, name),
    listHeaderNames: () => Object.keys(headers),
    mayHaveBody: mayHaveHttp2Body(req, httpVersionMajor),
  };
}

function listValues(rawHeaders: readonly string[], headers: IncomingHttpHeaders, name: string) {
  if (headers[name] === undefined) return [];
  const values: string[] = [];
  // The raw headers: Node keeps only the first of a repeated Content-Type.
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const rawName = rawHeaders[index] ?? "";
    // The length first: it costs less than the lower case of every name.
    if (rawName.length === name.length && rawName.toLowerCase() === name) {
      values.push(rawHeaders[index + 1] ?? "");
    }
  }
  // Adapters of serverless platforms have no raw headers.
  return values.length > 0 ? values : [headers[name] ?? []].flat();
}

/** Returns the requested path with its query, wherever the receiver is mounted. */
export function readTarget(req: IncomingMessage & { originalUrl?: string }): string {
  // Express removes the mount path from url and keeps the whole path in originalUrl.
  return req.originalUrl ?? req.url ?? "";
}

/**
 * Returns the URL that a target and its headers show: the original target and the prefix, host and
 * scheme that a proxy passes on. The client chooses these headers, so the URL is a hint for
 * explanations, and no signature is verified against it.
 */
export function joinReceivedUrl(headers: RequestHeaders, target: string): string {
  const raw = (name: string) => headers.listHeader(name)[0];
  const first = (name: string) => raw(name)?.split(",")[0]?.trim();
  // RFC 7239: for=192.0.2.1;host=app.example.com;proto=https
  const forwarded = (name: string) =>
    new RegExp(`(?:^|[;\\s])${name}="?([^";\\s]+)`, "i").exec(first("forwarded") ?? "")?.[1];
  const prefix = first("x-forwarded-prefix")?.replace(/\/$/, "") ?? "";
  const prefixed = target.startsWith(`${prefix}/`) ? target : prefix + target;
  const path = raw("x-original-uri") ?? raw("x-original-url") ?? prefixed;
  if (/^https?:/i.test(path)) return path;
  const host = first("x-forwarded-host") ?? forwarded("host") ?? first("host");
  const scheme = first("x-forwarded-proto") ?? forwarded("proto") ?? "https";
  return `${scheme}://${host ?? first(":authority") ?? ""}${path}`;
}

/** Returns the body that the parameters were read from: exact bytes or text before an object. */
export function findReceivedBody({ rawBody, body }: RequestWithBody): unknown {
  const isExact = typeof rawBody === "string" || rawBody instanceof Uint8Array;
  return isExact ? rawBody : body;
}

const MAX_PATH_CHARACTERS = 200;

/** Describes a rejected request for logs; its path is that of {@link shortenPath}. */
export function describeRequest(req: IncomingMessage): RejectedRequest {
  const path = shortenPath(readTarget(req));
  // Adapters of serverless platforms have no socket.
  const socket = req.socket as IncomingMessage["socket"] | undefined;
  return { method: req.method ?? "", path, remoteAddress: socket?.remoteAddress };
}

/** Returns the path of a target for messages: without query, escaped, at most 200 characters. */
export function shortenPath(target: string): string {
  // Cut first: a target may have 16 kB, and an escaped character has 6 characters.
  const [path = ""] = target.slice(0, MAX_PATH_CHARACTERS + 1).split("?", 1);
  // Includes line separators, marks that reverse the direction of text, and lone surrogates.
  const escaped = path.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, "0")}`,
  );
  return escaped.length > MAX_PATH_CHARACTERS
    ? `${escaped.slice(0, MAX_PATH_CHARACTERS)}…`
    : escaped;
}
