/**
 * Writes a value as JSON of ASCII characters: a database of any encoding stores it, NUL and lone
 * surrogates included.
 */
export function toAsciiJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!/[\u007f-\uffff]/.test(text)) return text;
  return text.replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
