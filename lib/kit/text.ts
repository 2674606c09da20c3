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
export function encodeForm(pairs: readonly (readonly [string, string])[]): string {
  return new URLSearchParams(pairs as [string, string][]).toString();
}

/** Parses JSON; undefined for any other text, such as an empty body or the page of a proxy. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Cuts a text of a sender or of an error, so that it stays small; never within a character. */
export function cutText(text: string, maxCharacters = 1_024): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Also line separators, marks that reverse the direction of text, and lone surrogates. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Escapes the control characters of a text for logs and terminals, as `\u` and hexadecimal digits. */
export function escapeControls(text: string): string {
  return text.replaceAll(
    INVISIBLE,
    (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, "0")}`,
  );
}

/** Adds a member, whose value needs no escapes, to the JSON of an object that has one. */
export const addMember = (json: string, name: string, value: string) =>
  `${json.slice(0, -1)},"${name}":"${value}"}`;

/**
 * Writes a value as JSON of ASCII characters: a database of any encoding stores it, NUL and lone
 * surrogates included.
 */
export function toAsciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
