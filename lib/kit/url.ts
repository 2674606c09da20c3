/** Parses a URL; returns undefined for a text that is not a URL. */
export function parseUrl(url: string, base?: string): URL | undefined {
  // Not URL.canParse: the optimized version in Node 20 rejects https://bücher.example/.
  try {
    return new URL(url, base);
  } catch {
    return undefined;
  }
}

/** Returns whether a value is an absolute http(s) URL, without spaces, that can be signed. */
export function isHttpUrl(value: unknown): boolean {
  return (
    typeof value === "string" &&
    /^https?:\/\/[^/?#\s]\S*$/i.test(value) &&
    value.isWellFormed() &&
    parseUrl(value) !== undefined
  );
}

/** A URL without its user and password, for messages. */
export function hideUserInfo(url: string): string {
  return url.replaceAll(/\/\/[^/?#]*@/g, "//***@");
}
