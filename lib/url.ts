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
