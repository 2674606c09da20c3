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
  const problem = mayBeUnsafe(text) ? findFault(value) : undefined;
  return problem === undefined ? { value } : { problem };
}

/** Returns whether the value of a text needs a walk; that of nearly no text does. */
function mayBeUnsafe(text: string): boolean {
  return text.includes("__proto__") || text.includes("\\u") || hasMoreBrackets(text, MAX_LEVELS);
}

function findFault(json: unknown): string | undefined {
  let level = [json];
  for (let depth = 0; ; depth++) {
    level = level.filter((value) => typeof value === "object" && value !== null);
    if (level.length === 0) return undefined;
    if (depth === MAX_LEVELS) return `is nested more than ${MAX_LEVELS} levels deep`;
    if (level.some((value) => Object.hasOwn(value as object, "__proto__"))) {
      return "has a member named __proto__";
    }
    level = level.flatMap((value) => Object.values(value as object) as unknown[]);
  }
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
