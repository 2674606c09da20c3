/**
 * Parses a URL; undefined for what is none.
 *
 * Not `URL.canParse`: that of Node 20, once it is optimised, denies URLs such as
 * `https://bücher.example/`.
 */
export function parseUrl(url: string, base?: string): URL | undefined {
  try {
    return new URL(url, base);
  } catch {
    return undefined;
  }
}

/** Whether a value is an absolute http or https URL, without spaces, that can be sent and signed. */
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
