import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { parseUrl } from "./url";

/** Returns whether a value is the name of a host, without scheme and port. */
export function isHostname(value: unknown): boolean {
  return typeof value === "string" && /^\w[\w.-]*$/.test(value);
}

/**
 * Returns whether the `Host` of a request is a name of the loopback, an address, or a name in `allowed`: a
 * page can let a name of its own lead to this machine (DNS rebinding), and never an address.
 */
export function isLocalHost({ host = "" }: IncomingHttpHeaders, allowed: readonly string[]) {
  const url = /^[\w.:[\]-]+$/.test(host) ? parseUrl(`http://${host}`) : undefined;
  if (url === undefined) return false;
  const name = url.hostname.replaceAll(/^\[|\]$/g, "");
  const isLoopback = name === "localhost" || name.endsWith(".localhost");
  return isLoopback || isIP(name) !== 0 || allowed.some((one) => one.toLowerCase() === name);
}

/** Returns whether a browser sent a request for a page of another origin; by default over HTTP. */
export function isForOtherPage(
  { host, origin, "sec-fetch-site": site }: IncomingHttpHeaders,
  isOwnOrigin = (one: string) => one === `http://${host}`,
): boolean {
  // A page can neither set nor remove this header, and it is correct when a proxy rewrites Host.
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  return origin !== undefined && !isOwnOrigin(origin);
}

/** Reads a body; undefined for one that is over the limit, which is not read to its end. */
export async function readLimited(body: AsyncIterable<Uint8Array>, maxBytes: number) {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
