import type { SignatureCauseCode } from "./explain-causes";
import { decodeSafely, encodeSafely } from "./percent-encoding";

/** A cause, and what undoes it. */
export type Change = [SignatureCauseCode, (value: string) => string];

/** What happens to all values at once; each function undoes it. */
export const CHANGES_OF_ALL: Change[] = [
  ["PARAMS_PLUS", (value) => value.replaceAll(" ", "+")],
  ["PARAMS_PLUS", (value) => value.replaceAll("+", " ")],
  ["PARAMS_WHITESPACE", (value) => value.trim()],
  ["PARAMS_NEWLINES", (value) => value.replaceAll(/\r?\n/g, "\r\n")],
  ["PARAMS_NEWLINES", (value) => value.replaceAll("\r\n", "\n")],
  ["PARAMS_ENCODED", (value) => decodeFormText(value)],
  ["PARAMS_ENCODED", (value) => decodeSafely(value)],
  ["PARAMS_CHARSET", (value) => Buffer.from(value, "latin1").toString("utf8")],
  ["PARAMS_CHARSET", (value) => Buffer.from(value, "utf8").toString("latin1")],
  ["PARAMS_NORMALIZED", (value) => value.normalize("NFC")],
  ["PARAMS_NORMALIZED", (value) => value.normalize("NFD")],
  ["PARAMS_ESCAPED", unescapeHtml],
  ["PARAMS_JSON", (value) => rewriteJson(value, (json) => JSON.stringify(json))],
  ["PARAMS_JSON", (value) => rewriteJson(value, spaceJson)],
];

/** What happens to all names and values at once. */
export const CHANGES_OF_NAMES = [decodeFormText, decodeSafely];

/** What happens to a single value, where the others must stay as they are. */
export const CHANGES_OF_ONE: Change[] = [
  ["PARAMS_PLUS", (value) => value.replaceAll(" ", "+")],
  ["PARAMS_PLUS", (value) => value.replaceAll("+", " ")],
  ["PARAMS_WHITESPACE", (value) => value.trim()],
  ["PARAMS_WHITESPACE", (value) => `${value} `],
  ["PARAMS_WHITESPACE", (value) => ` ${value}`],
  ["PARAMS_WHITESPACE", (value) => ` ${value} `],
  ["PARAMS_WHITESPACE", (value) => `${value}\n`],
  ["PARAMS_WHITESPACE", (value) => `${value}\r\n`],
  ["PARAMS_DECODED_TWICE", (value) => encodeSafely(value)],
  ["PARAMS_DECODED_TWICE", (value) => encodeSafely(value).replaceAll("%20", "+")],
  ["PARAMS_DECODED_TWICE", (value) => value.replaceAll(/[%+&= ]/g, encodeURIComponent)],
  ["PARAMS_DECODED_TWICE", (value) => value.replaceAll("+", "%2B")],
  ["PARAMS_DECODED_TWICE", (value) => value.replaceAll("%", "%25")],
  ["PARAMS_JSON", (value) => rewriteJson(value, spaceJson)],
];

/** Lists the value with one of its first spaces a plus sign, as in a telephone number. */
export function listSpacesAsPlus(value: string): string[] {
  const spaced: string[] = [];
  for (
    let at = value.indexOf(" ");
    at !== -1 && spaced.length < 8;
    at = value.indexOf(" ", at + 1)
  ) {
    spaced.push(`${value.slice(0, at)}+${value.slice(at + 1)}`);
  }
  return spaced;
}

/** Decodes a text as a form does; a malformed one stays as it is. */
export function decodeFormText(text: string): string {
  return decodeSafely(text.replaceAll("+", " "));
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  "#39": "'",
  "#x27": "'",
  "#x2F": "/",
  "#x5C": "\\",
  "#96": "`",
};

function unescapeHtml(text: string): string {
  return text.replaceAll(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}

function rewriteJson(text: string, write: (json: unknown) => string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return write(JSON.parse(text));
  } catch {
    return text;
  }
}

/** JSON with a space after each comma and colon, as Python and others write it. */
function spaceJson(json: unknown): string {
  if (Array.isArray(json)) return `[${json.map(spaceJson).join(", ")}]`;
  if (typeof json !== "object" || json === null) return JSON.stringify(json);
  const members = Object.entries(json).map(
    ([name, value]) => `${JSON.stringify(name)}: ${spaceJson(value)}`,
  );
  return `{${members.join(", ")}}`;
}
