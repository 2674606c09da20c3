import type { IncomingHttpHeaders } from "node:http";
import { parseUrl } from "../url";

/** What is read of a request of Express to find out which page sent it. */
export interface BrowserRequest {
  headers: IncomingHttpHeaders;
  /** Whether it came over TLS, as far as the app trusts the proxy that says so. */
  secure: boolean;
  socket: { remoteAddress?: string | undefined };
  app: { get(setting: string): unknown };
}

/**
 * Returns whether a browser sent a request for a page of another origin.
 *
 * `Sec-Fetch-Site` decides where the browser sends it; else `Origin` must have the host and port
 * of the request. The scheme counts only where the request is known to have come over TLS: a proxy
 * that terminates TLS may not say so. A request with neither header is a script's, not a browser's.
 */
export function isCrossSite(req: BrowserRequest): boolean {
  const site = req.headers["sec-fetch-site"];
  // A page can neither set nor remove this header, and it is right also where a proxy rewrites Host.
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  const { origin } = req.headers;
  return origin !== undefined && !isOwnOrigin(origin, req);
}

function isOwnOrigin(origin: string, req: BrowserRequest): boolean {
  const page = parseUrl(origin);
  // "null", which sandboxed frames send, is no URL.
  if (page?.origin !== origin || !/^https?:$/.test(page.protocol)) return false;
  if (page.protocol === "http:" && req.secure) return false;
  // With the scheme of the page, the default port may be spelled out in the one and not in the other.
  return parseUrl(`${page.protocol}//${readHost(req)}`)?.host === page.host;
}

/** The host that the client asked for: X-Forwarded-Host counts only from a trusted proxy. */
function readHost({ headers, socket, app }: BrowserRequest): string {
  const forwarded = headers["x-forwarded-host"];
  const trusts = app.get("trust proxy fn") as (address: string | undefined, hop: number) => boolean;
  const isTrusted = forwarded !== undefined && trusts(socket.remoteAddress, 0);
  // Of a chain of proxies, the first wrote what the client asked for.
  return (isTrusted ? String(forwarded).split(",")[0]?.trim() : headers.host) ?? "";
}
