/** Decodes `%XX`; a text that has malformed ones stays as it is. */
export function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Encodes a text with a function such as encodeURIComponent; one that cannot be stays as it is. */
export function encodeSafely(
  text: string,
  encode: (text: string) => string = encodeURIComponent,
): string {
  try {
    return encode(text);
  } catch {
    return text;
  }
}
