import type { IncomingRequest } from "./incoming-request";

/**
 * Returns the URL that a request shows, with the prefix, host and scheme that a proxy passes on. The
 * client chooses these headers: no signature is verified against it.
 */
export function joinReceivedUrl(request: Pick<IncomingRequest, "target" | "listHeader">): string {
  const { target } = request;
  const raw = (name: string) => request.listHeader(name)[0];
  const first = (name: string) => raw(name)?.split(",")[0]?.trim();
  // RFC 7239: for=192.0.2.1;host=app.example.com;proto=https
  const forwarded = (name: string) =>
    new RegExp(`(?:^|[;\\s])${name}="?([^";\\s]+)`, "i").exec(first("forwarded") ?? "")?.[1];
  const prefix = first("x-forwarded-prefix")?.replace(/\/$/, "") ?? "";
  const prefixed = target.startsWith(`${prefix}/`) ? target : prefix + target;
  const path = ORIGINAL_PATHS.map(raw).find((one) => one !== undefined) ?? prefixed;
  if (/^https?:/i.test(path)) return path;
  const host = first("x-forwarded-host") ?? forwarded("host") ?? first("host");
  const scheme = first("x-forwarded-proto") ?? forwarded("proto") ?? "https";
  return `${scheme}://${host ?? first(":authority") ?? ""}${path}`;
}

/** What nginx, IIS, Caddy, Traefik and Envoy call the path before they rewrite it. */
const ORIGINAL_PATHS = [
  "x-original-uri",
  "x-original-url",
  "x-forwarded-uri",
  "x-envoy-original-path",
];
