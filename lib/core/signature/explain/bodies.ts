import { unzipSync } from "node:zlib";
import { decodeForm, isRawBody } from "../../event/form";
import { listFlatPairs, type Pair } from "../../event/event-parameters";
import { decodeSafely, parseJson } from "../../../kit/text";
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
    return decodeForm(body);
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
  ["white space", (text) => text.replace(/^\xEF\xBB\xBF/, "").trim()],
  ["JSON", (text) => (/^["{]/.test(text) ? readJsonText(parseJson(text)) : text)],
  ["quotes", trimQuotes],
  ["base64", (text) => (/^[\w+/-]{8,}=*$/.test(text) ? toText(Buffer.from(text, "base64")) : text)],
  ["percent-encoding", (text) => decodeSafely(text.replace(/=$/, ""))],
  ["HTML escapes", (text) => text.replaceAll("&amp;", "&")],
  ["compression", (text) => ("\u001Fx".includes(text.charAt(0)) ? unzip(text) : text)],
];

/** Lists the pairs of the forms within a body that was wrapped, once or more, and by what. */
export function listUnwrapped(body: GivenBody | undefined): { by: string; pairs: Pair[] }[] {
  if (!isRawBody(body) || body.length > MAX_WRAPPED_LENGTH) return [];
  const found = new Map([[toText(Buffer.from(body as string)), [] as string[]]]);
  // The loop visits what it adds: the text in a text.
  for (const [text, names] of found) {
    for (const [name, unwrap] of WRAPPINGS) {
      const inner = found.size < MAX_UNWRAPPED ? unwrap(text) : undefined;
      if (typeof inner === "string" && !found.has(inner)) found.set(inner, [...names, name]);
    }
  }
  return [...found].slice(1).flatMap(([text, names]) => {
    const pairs = listBodyPairs(Buffer.from(text, "latin1"));
    return pairs === undefined ? [] : [{ by: names.join(", "), pairs }];
  });
}

const toText = (bytes: Buffer) => bytes.toString("latin1");

/** Returns a JSON string, the body of an event of AWS Lambda, or the bytes of a Buffer. */
function readJsonText(json: unknown): unknown {
  if (typeof json !== "object" || json === null) return json;
  const { body, type, data } = json as { body?: unknown; type?: unknown; data?: unknown };
  return type === "Buffer" && Array.isArray(data) ? toText(Buffer.from(data as number[])) : body;
}

function unzip(text: string): string {
  try {
    return toText(unzipSync(Buffer.from(text, "latin1"), { maxOutputLength: MAX_WRAPPED_LENGTH }));
  } catch {
    return text;
  }
}
