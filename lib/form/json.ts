/** Parses JSON; undefined for any other text, such as an empty body or the page of a proxy. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
