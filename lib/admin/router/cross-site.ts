import type { Request } from "express";
import { isForOtherPage, isLocalHost } from "../../kit/local-server";
import { parseUrl } from "../../kit/url";

/** Whether a value is an origin as browsers send it: scheme, host and port in lower case. */
export function isHttpOrigin(value: unknown): boolean {
  return typeof value === "string" && /^https?:/.test(value) && parseUrl(value)?.origin === value;
}

/**
 * Whether a browser sent a request for a page of an origin that is not allowed. `Sec-Fetch-Site`
 * decides if it is sent, else `Origin` must have the host and port of the request. The scheme is
 * compared only when the request is known to have come over TLS: a proxy that terminates TLS may not
 * tell. A request with neither header comes from a script outside a browser.
 */
export function isCrossSite(req: Request, allowedOrigins: ReadonlySet<string>): boolean {
  if (allowedOrigins.has(req.headers.origin ?? "")) return false;
  return isForOtherPage(req.headers, (origin) => isOwnOrigin(origin, req));
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
 * Whether the router may be reached under the host that a request names. The DNS of a foreign page may
 * resolve its name to this server: the browser then takes both for one origin (DNS rebinding). Without
 * `allowedHosts`, only a direct connection from the same machine is limited to the names of it.
 */
export function isAllowedHost(req: Request, allowedHosts: readonly string[] | undefined): boolean {
  const { remoteAddress = "", localAddress } = req.socket;
  // A browser of this machine may also use another address of it.
  const isDirect = /^(?:::ffff:)?127\.|^::1$/.test(remoteAddress) || remoteAddress === localAddress;
  if (allowedHosts === undefined && (!isDirect || trustsProxy(req))) return true;
  // A page that reaches the app beside its proxy can send X-Forwarded-Host, but not choose Host.
  return [readHost(req), req.headers.host].every((host) =>
    isLocalHost({ host }, allowedHosts ?? []),
  );
}

/** X-Forwarded-Host counts only from a trusted proxy. */
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
