import type { SignatureCauseCode } from "../../errors/signature-causes";
import { decodeSafely, encodeSafely } from "../../form/percent-encoding";

/** A cause and the function that undoes the mistake in one text. */
export type Change = [SignatureCauseCode, (value: string) => string];

/** The mistakes that change all values. */
export const CHANGES_OF_ALL: Change[] = [
  ["PARAMS_PLUS", (value) => value.replaceAll(" ", "+")],
  ["PARAMS_PLUS", (value) => value.replaceAll("+", " ")],
  ["PARAMS_WHITESPACE", (value) => value.trim()],
  ["PARAMS_NEWLINES", (value) => value.replaceAll(/\r?\n/g, "\r\n")],
  ["PARAMS_NEWLINES", (value) => value.replaceAll("\r\n", "\n")],
  ["PARAMS_ENCODED", decodeFormText],
  ["PARAMS_ENCODED", decodeSafely],
  ["PARAMS_CHARSET", (value) => Buffer.from(value, "latin1").toString("utf8")],
  ["PARAMS_CHARSET", (value) => Buffer.from(value, "utf8").toString("latin1")],
  ["PARAMS_NORMALIZED", (value) => value.normalize("NFC")],
  ["PARAMS_NORMALIZED", (value) => value.normalize("NFD")],
  ["PARAMS_ESCAPED", unescapeHtml],
  ["PARAMS_JSON", (value) => rewriteJson(value, (json) => JSON.stringify(json))],
  ["PARAMS_JSON", (value) => rewriteJson(value, spaceJson)],
];

/** The functions that undo the mistakes that change all names and values. */
export const CHANGES_OF_NAMES = [decodeFormText, decodeSafely];

/** The mistakes that change a single value. */
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

/** Lists copies of a value with one of its first 8 spaces as a plus sign, as in a phone number. */
export function listSpacesAsPlus(value: string): string[] {
  const spaced: string[] = [];
  for (let at = value.indexOf(" "); at !== -1; at = value.indexOf(" ", at + 1)) {
    if (spaced.length === 8) break;
    spaced.push(`${value.slice(0, at)}+${value.slice(at + 1)}`);
  }
  return spaced;
}

/** Decodes text of a form; returns malformed text unchanged. */
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

/** Writes JSON with a space after each comma and colon, like Python. */
function spaceJson(json: unknown): string {
  if (Array.isArray(json)) return `[${json.map(spaceJson).join(", ")}]`;
  if (typeof json !== "object" || json === null) return JSON.stringify(json);
  const members = Object.entries(json).map(
    ([name, value]) => `${JSON.stringify(name)}: ${spaceJson(value)}`,
  );
  return `{${members.join(", ")}}`;
}
