/**
 * Which spellings of the port are tried. `"exact"`: the URL as given. `"ports"`: the URL
 * as given, then with an explicit port removed, or with the default port of its scheme added.
 */
export type UrlMatching = "exact" | "ports";

const AUTHORITY = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^/?#]*)([^#]*)/i;

/** Returns a URL without the parts that are never signed: user info and fragment. */
export function stripUnsigned(url: string): string {
  return url.replace(AUTHORITY, "$1$2$3").replace(/#.*/s, "");
}

/** Returns the spellings of a URL that may be signed, as `urlMatching` allows, likeliest first. */
export function listSignedUrls(url: string, urlMatching: UrlMatching): string[] {
  const asGiven = stripUnsigned(url);
  const parts = AUTHORITY.exec(asGiven);
  if (urlMatching === "exact" || parts === null) return [asGiven];
  const [, scheme = "", host = "", rest = ""] = parts;
  const bareHost = host.replace(/:\d+$/, "");
  if (bareHost !== host) return [asGiven, scheme + bareHost + rest];
  const defaultPort = scheme.toLowerCase() === "http://" ? 80 : 443;
  return [asGiven, `${scheme}${host}:${defaultPort}${rest}`];
}
