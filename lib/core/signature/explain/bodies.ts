import { unzipSync } from "node:zlib";
import { decodeForm, isRawBody } from "../../event/form";
import { listFlatPairs, type Pair } from "../../../kit/pairs";
import { decodeSafely, encodeForm, parseJson } from "../../../kit/text";
import { trimQuotes } from "./variants";

const MAX_JSON_LENGTH = 65_536;
/** A longer body is not unwrapped, and unwraps to no longer text. */
const MAX_WRAPPED_LENGTH = 131_072;
const MAX_UNWRAPPED = 20;

/** A body: its exact bytes or text, or the flat object that a parser created from it. */
export type GivenBody = string | Uint8Array | Readonly<Record<string, string | readonly string[]>>;

/** Lists the pairs of a form or a flat object; undefined without a body or if it is malformed. */
export function listBodyPairs(body: GivenBody | undefined): Pair[] | undefined {
  if (!isRawBody(body)) return listFlatPairs(body);
  if (body.length === 0) return undefined;
  try {
    return decodeForm(body).pairs;
  } catch {
    return undefined;
  }
}

/** Returns the object whose JSON text a body of at most 64 kB is; undefined for any other body. */
export function parseJsonObject(body: GivenBody | undefined): object | undefined {
  if (!isRawBody(body) || body.length > MAX_JSON_LENGTH) return undefined;
  const text = typeof body === "string" ? body : Buffer.from(body).toString("utf8");
  return /^\s*\{/.test(text) ? (parseJson(text) as object | undefined) : undefined;
}

/** What wraps a body, and how to unwrap it; each character of the text stands for one byte. */
const WRAPPINGS: [name: string, unwrap: (text: string) => unknown][] = [
  // A form has no line break.
  [
    "white space",
    (text) =>
      text
        .replace(/^\xEF\xBB\xBF/, "")
        .replaceAll(/[\r\n]/g, "")
        .trim(),
  ],
  ["JSON", (text) => (/^["{]/.test(text) ? readJsonText(text) : text)],
  ["quotes", trimQuotes],
  ["base64", (text) => (BASE64.test(text) ? toText(Buffer.from(text, "base64")) : text)],
  ["a parameter", readLongestValue],
  ["percent-encoding", (text) => decodeSafely(text.replace(/=$/, ""))],
  ["HTML escapes", (text) => text.replaceAll("&amp;", "&")],
  ["compression", (text) => ("\u001Fx".includes(text.charAt(0)) ? unzip(text) : text)],
  ["multipart", readMultipart],
  [
    "quoted-printable",
    (text) => text.replaceAll(/=\r?\n/g, "").replaceAll(/=([\dA-F]{2})/g, toByte),
  ],
  ["UTF-16", (text) => (text.includes("\0") ? toText(fromBytes(text).toString("utf16le")) : text)],
  ["ISO-8859-1", readLatin1],
];

/** Also in lines, as of an e-mail. */
const BASE64 = /^[\w+/\r\n-]{8,}=*\s*$/;

/** Lists the pairs of the forms within a body that was wrapped, once or more, and by what. */
export function listUnwrapped(body: GivenBody | undefined): { by: string; pairs: Pair[] }[] {
  if (!isRawBody(body) || body.length > MAX_WRAPPED_LENGTH) return [];
  const found = new Map([[toText(body as string), [] as string[]]]);
  // The loop visits what it adds: the text in a text.
  for (const [text, names] of found) {
    for (const [name, unwrap] of WRAPPINGS) {
      const inner = found.size < MAX_UNWRAPPED ? unwrap(text) : undefined;
      if (typeof inner !== "string" || inner.length > MAX_WRAPPED_LENGTH) continue;
      if (!found.has(inner)) found.set(inner, [...names, name]);
    }
  }
  return [...found].slice(1).flatMap(([text, names]) => {
    const pairs = listBodyPairs(Buffer.from(text, "latin1"));
    return pairs === undefined ? [] : [{ by: names.join(", "), pairs }];
  });
}

const fromBytes = (text: string) => Buffer.from(text, "latin1");
const toText = (bytes: Buffer | string) => Buffer.from(bytes as string).toString("latin1");
const toByte = (_all: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));

/** Returns the form in UTF-8 of one that is not: encoded again, it would grow each time. */
function readLatin1(text: string): string {
  if (listBodyPairs(fromBytes(text)) !== undefined) return text;
  return text.replaceAll(/%([89A-F][\dA-F])/gi, (all, hex: string) =>
    encodeURIComponent(toByte(all, hex)),
  );
}

/** Returns whether parameters are of an event. */
export function isEvent(pairs: readonly Pair[]): boolean {
  return pairs.some(([name]) => name === "uuid");
}

/** Returns the longest value of a form that is no event, such as the value of `payload=`. */
function readLongestValue(text: string): string {
  const pairs = listBodyPairs(fromBytes(text)) ?? [];
  if (isEvent(pairs)) return text;
  return toText(pairs.map(([, value]) => value).toSorted((a, b) => b.length - a.length)[0] ?? text);
}

/** Returns the form of the parts of a body of the type `multipart/form-data`. */
function readMultipart(text: string): string {
  const [boundary = ""] = text.trimStart().split(/\r?\n/, 1);
  if (!boundary.startsWith("--")) return text;
  const pairs = text.split(boundary).flatMap((part): Pair[] => {
    const [head = "", ...lines] = part.split(/\r?\n\r?\n/);
    const [, name] = /\bname="([^"\r\n]*)"/.exec(head) ?? [];
    const value = lines.join("\n\n").replace(/\r?\n$/, "");
    return name === undefined ? [] : [[name, fromBytes(value).toString("utf8")]];
  });
  return encodeForm(pairs);
}

/** Returns a JSON string, an event, the body of AWS Lambda, or the bytes of a Buffer. */
function readJsonText(text: string): string {
  const json = parseJson(fromBytes(text).toString("utf8"));
  if (typeof json === "string") return toText(json);
  const pairs = listFlatPairs(json) ?? [];
  if (isEvent(pairs)) return encodeForm(pairs);
  const { body, type, data } = Object(json) as { body?: unknown; type?: unknown; data?: unknown };
  if (type === "Buffer" && Array.isArray(data)) return toText(Buffer.from(data as number[]));
  return typeof body === "string" ? toText(body) : text;
}

function unzip(text: string): string {
  try {
    return toText(unzipSync(Buffer.from(text, "latin1"), { maxOutputLength: MAX_WRAPPED_LENGTH }));
  } catch {
    return text;
  }
}
