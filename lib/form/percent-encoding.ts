import type { Pair } from "./form";

/** Decodes `%XX`; returns a text with malformed sequences unchanged. */
export function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Encodes a text; returns a text with half a surrogate pair unchanged. */
export function encodeSafely(text: string, encode: (text: string) => string = encodeURIComponent) {
  try {
    return encode(text);
  } catch {
    return text;
  }
}

/** Encodes pairs as a form, or as the query of a URL: a space becomes `+`. */
export function encodeForm(pairs: readonly Pair[]): string {
  return new URLSearchParams(pairs as [string, string][]).toString();
}
