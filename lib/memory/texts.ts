import type { Pair } from "../form/parameters";

/** Copies a text: a slice of the body that it was parsed from would keep the whole body. */
export function copyText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** Measured: a string without its characters. */
const TEXT_BYTES = 24;

/** Returns how many bytes a text takes in memory: two for each character if one is beyond Latin-1. */
export function sizeOfText(text: string): number {
  return TEXT_BYTES + (/[\u0100-\uffff]/.test(text) ? 2 * text.length : text.length);
}

/** Joins pairs to one text, from which {@link splitPairs} reads them. */
export function joinPairs(pairs: readonly Pair[]): string {
  let text = "";
  for (const [name, value] of pairs) text += `${name.length} ${value.length} ${name}${value}`;
  return text;
}

/** Reads the pairs of a text of {@link joinPairs}. */
export function splitPairs(text: string): Pair[] {
  const pairs: Pair[] = [];
  const lengths = /(\d+) (\d+) /y;
  for (let found = lengths.exec(text); found !== null; found = lengths.exec(text)) {
    const valueAt = lengths.lastIndex + Number(found[1]);
    const end = valueAt + Number(found[2]);
    pairs.push([text.slice(lengths.lastIndex, valueAt), text.slice(valueAt, end)]);
    lengths.lastIndex = end;
  }
  return pairs;
}
