/**
 * Parses a URL; returns undefined for a text that is not a URL.
 *
 * Not `URL.canParse`: the optimized version in Node 20 rejects URLs such as
 * `https://bücher.example/`.
 */
export function parseUrl(url: string, base?: string): URL | undefined {
  try {
    return new URL(url, base);
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a value is an absolute http or https URL, without spaces, that can be sent and
 * signed.
 */
export function isHttpUrl(value: unknown): boolean {
  return (
    typeof value === "string" &&
    /^https?:\/\/[^/?#\s]\S*$/i.test(value) &&
    !/\p{Surrogate}/u.test(value) &&
    parseUrl(value) !== undefined
  );
}

/** A URL without its user and password, for messages. */
export function hideUserInfo(url: string): string {
  return url.replaceAll(/\/\/[^/?#]*@/g, "//***@");
}
