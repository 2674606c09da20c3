import { decodeForm, isRawBody } from "../../form/form";
import { listFlatPairs, type Pair } from "../../form/parameters";
import { parseJson } from "../../form/text";

const MAX_JSON_LENGTH = 65_536;

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
