import { isIP } from "node:net";
import type { Request } from "express";
import { parseUrl } from "../../form/url";

/** Returns whether a value is an origin as browsers send it: scheme, host and port in lower case. */
export function isHttpOrigin(value: unknown): boolean {
  return typeof value === "string" && /^https?:/.test(value) && parseUrl(value)?.origin === value;
}

/** Returns whether a value is the name of a host as browsers send it, in lower case and without a port. */
export function isHostName(value: unknown): boolean {
  return typeof value === "string" && /^[\w.-]+$/.test(value) && value === value.toLowerCase();
}

/**
 * Returns whether a browser sent a request for a page of another origin that is not allowed.
 *
 * An `Origin` in `allowedOrigins` is allowed. Else `Sec-Fetch-Site` decides when the browser sends
 * it, otherwise `Origin` must have the host and port of the request. The scheme is compared only
 * when the request is known to have come over TLS: a proxy that terminates TLS may not tell. A
 * request with neither header comes from a script outside a browser.
 */
export function isCrossSite(req: Request, allowedOrigins: ReadonlySet<string>): boolean {
  const { origin, "sec-fetch-site": site } = req.headers;
  if (origin !== undefined && allowedOrigins.has(origin)) return false;
  // A page can neither set nor remove this header, and it is correct when a proxy rewrites Host.
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  return origin !== undefined && !isOwnOrigin(origin, req);
}

function isOwnOrigin(origin: string, req: Request): boolean {
  // "null", which sandboxed frames send, is not a URL.
  if (!isHttpOrigin(origin)) return false;
  const { protocol, host } = new URL(origin);
  if (protocol === "http:" && req.secure) return false;
  // Parse the host with the scheme of the page: only one of the two may have the default port.
  return parseUrl(`${protocol}//${readHost(req)}`)?.host === host;
}

/**
 * Returns whether the router may be reached under the host that a request names (DNS rebinding).
 *
 * A page reaches a server under a name of its own when its DNS resolves that name to the server: the
 * browser then takes both for one origin. IP addresses and localhost need no DNS, so they are
 * allowed. Without `allowedHosts`, a direct connection from the same machine may name no other host.
 */
export function isAllowedHost(
  req: Request,
  allowedHosts: ReadonlySet<string> | undefined,
): boolean {
  const name = parseUrl(`http://${readHost(req)}`)?.hostname ?? "";
  if (isIP(name.replace(/^\[|\]$/g, "")) !== 0 || /^(?:.+\.)?localhost$/.test(name)) return true;
  if (allowedHosts !== undefined) return allowedHosts.has(name);
  const { remoteAddress = "" } = req.socket;
  return !/^(?:::ffff:)?127\.|^::1$/.test(remoteAddress) || trustsProxy(req);
}

/** Reads the host of the request; X-Forwarded-Host counts only from a trusted proxy. */
function readHost(req: Request): string {
  const forwarded = req.headers["x-forwarded-host"];
  const isTrusted = forwarded !== undefined && trustsProxy(req);
  // In a chain of proxies, the first one wrote the host that the client sent.
  return (isTrusted ? String(forwarded).split(",")[0]?.trim() : req.headers.host) ?? "";
}

function trustsProxy({ app, socket }: Request): boolean {
  const trusts = app.get("trust proxy fn") as (address: string | undefined, hop: number) => boolean;
  return trusts(socket.remoteAddress, 0);
}
