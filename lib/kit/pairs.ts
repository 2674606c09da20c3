/** A name and a value: of a parameter, decoded, or of a header. */
export type Pair = readonly [name: string, value: string];

/** Lists the pairs of an object whose values are strings or lists of strings; else undefined. */
export function listFlatPairs(value: unknown): Pair[] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const pairs: Pair[] = [];
  for (const [name, one] of Object.entries(value) as [string, unknown][]) {
    for (const text of Array.isArray(one) ? (one as unknown[]) : [one]) {
      if (typeof text !== "string") return undefined;
      pairs.push([name, text]);
    }
  }
  // A parser sets an empty object when it does not know the content type.
  return pairs.length > 0 ? pairs : undefined;
}

/** Returns the pairs of a list in which names and values alternate. */
export function pairHeaders(rawHeaders: readonly string[]): Pair[] {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names.map((name, index) => [name, rawHeaders[2 * index + 1] ?? ""]);
}
