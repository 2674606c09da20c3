/** Details and metadata have few levels; JSON.stringify fails at some thousands. */
const MAX_LEVELS = 32;

/**
 * Parses the text of a parameter that is stringified JSON, of at most 32 levels.
 *
 * @returns its `value`, or a description of the `problem` that quotes nothing from the text.
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
  if (isTooDeep(text, value)) return { problem: `is nested more than ${MAX_LEVELS} levels deep` };
  return { value };
}

function isTooDeep(text: string, json: unknown): boolean {
  // Omit the walk if there are too few brackets, as in nearly all texts; a level takes two.
  if (text.length <= 2 * MAX_LEVELS || !hasMoreBrackets(text, MAX_LEVELS)) return false;
  let level = [json];
  for (let depth = 0; depth <= MAX_LEVELS; depth++) {
    level = level.filter((value) => typeof value === "object" && value !== null);
    if (level.length === 0) return false;
    level = level.flatMap((value) => Object.values(value as object) as unknown[]);
  }
  return true;
}

function hasMoreBrackets(text: string, limit: number): boolean {
  let count = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++count > limit) return true;
    }
  }
  return false;
}

function hasPrototypeKey(text: string, json: unknown): boolean {
  // Omit the walk if the text has neither the name nor an escape, as nearly all texts.
  if (!text.includes("__proto__") && !text.includes("\\u")) return false;
  const rest = [json];
  for (const value of rest) {
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "__proto__")) return true;
    for (const member of Object.values(value)) rest.push(member);
  }
  return false;
}
