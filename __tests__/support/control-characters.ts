/** Texts with characters that a terminal or a log may take for more than text. */
import fc from "fast-check";

export const hostileText = fc
  .array(
    fc.constantFrom(
      ..."\u0000\u0007\n\r\t\u001B[]31m;\u007F\u0085\u009B\u009D\u00AD\u061C\u200B\u202E\u2028\u2029\u2066\uFEFF",
      ..."aä€😀%/?=&#@:",
      "\u{E0001}",
      "\uD800",
      "%9B",
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

/** A uuid that a receiver accepts. */
export const HOSTILE_UUID = "evt\n\u001B[2J\u202Etxt\u0000\u2028";

export const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export function listTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Object.values(Object(value) as object).flatMap(listTexts);
}
