import type { z } from "zod";

/** What a parameter whose value is stringified JSON must hold. */
export interface JsonParameter {
  schema: z.ZodType;
  maxCharacters?: number;
}

/**
 * Parses the text of a JSON parameter.
 *
 * @returns `value`, or in words that repeat nothing of the text the `problem` it has.
 */
export function parseJsonParameter(
  text: string,
  { schema, maxCharacters = Number.POSITIVE_INFINITY }: JsonParameter,
): { value?: unknown; problem?: string } {
  if (text.length > maxCharacters) return { problem: `is over ${maxCharacters} characters` };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The SyntaxError quotes the text, which is personal data.
    return { problem: "is not JSON" };
  }
  if (hasPrototypeKey(text, json)) return { problem: "has a member named __proto__" };
  const result = schema.safeParse(json);
  if (result.success) return { value: result.data };
  return { problem: "does not have the specified members" };
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
