/**
 * Parses the text of a parameter that is stringified JSON.
 *
 * @returns its `value`, or the `problem` it has, in words that repeat nothing of the text.
 */
export function parseJsonParameter(
  text: string,
  maxCharacters: number,
): { value?: unknown; problem?: string } {
  if (text.length > maxCharacters) return { problem: `is over ${maxCharacters} characters` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The SyntaxError quotes the text, which is personal data.
    return { problem: "is not JSON" };
  }
  if (hasPrototypeKey(text, value)) return { problem: "has a member named __proto__" };
  return { value };
}

function hasPrototypeKey(text: string, json: unknown): boolean {
  // Neither spelled out nor behind an escape: spares the walk, which nearly no call needs.
  if (!text.includes("__proto__") && !text.includes("\\u")) return false;
  const rest = [json];
  for (const value of rest) {
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "__proto__")) return true;
    for (const member of Object.values(value)) rest.push(member);
  }
  return false;
}
