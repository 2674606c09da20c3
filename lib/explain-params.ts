import { V2_PARAMETERS } from "./call-parameters";
import { createVariants, type SignatureCauseCode, type Variant } from "./explain-causes";
import { decodeForm, decodePairs, type Pair } from "./form";
import { decodeSafely, encodeSafely } from "./percent-encoding";

const MAX_VARIANTS = 600;
const MAX_CHANGED_ONE_BY_ONE = 60;

/** What parameters are explained with. */
export interface ParamsEvidence {
  params: readonly Pair[];
  url: string;
  /** The body as received, when it is known. */
  body: string | Uint8Array | undefined;
}

/** Lists the parameters that the service may have signed instead of the given ones. */
export function listParamsVariants({ params, url, body }: ParamsEvidence): Variant<Pair[]>[] {
  const variants = createVariants<Pair[]>((value) => JSON.stringify(value), MAX_VARIANTS);
  variants.add([...params], []);

  for (const [cause, change] of CHANGES_OF_ALL) {
    variants.add(mapValues(params, change), [cause]);
  }
  for (const change of CHANGES_OF_NAMES) {
    variants.add(
      params.map(([name, value]) => [change(name), change(value)]),
      ["PARAMS_ENCODED"],
    );
  }
  const inQuery = new Set(listQueryNames(url));
  variants.add(
    params.filter(([name]) => !inQuery.has(name)),
    ["PARAMS_QUERY_MERGED"],
  );
  for (const [index, [name, value]] of params.slice(0, MAX_CHANGED_ONE_BY_ONE).entries()) {
    for (const [cause, change] of CHANGES_OF_ONE) {
      variants.add(params.toSpliced(index, 1, [name, change(value)]), [cause], name);
    }
    for (const spaced of listSpacesAsPlus(value)) {
      variants.add(params.toSpliced(index, 1, [name, spaced]), ["PARAMS_PLUS"], name);
    }
    variants.add(params.toSpliced(index, 1), ["PARAMS_ADDED"], name);
  }
  const known = params.filter(([name]) => (V2_PARAMETERS as readonly string[]).includes(name));
  if (known.length > 0) variants.add(known, ["PARAMS_ADDED"]);
  const names = new Set(params.map(([name]) => name));
  for (const name of OFTEN_EMPTY) {
    if (params.length > 0 && !names.has(name)) {
      variants.add([...params, [name, ""]], ["PARAMS_EMPTY_DROPPED"], name);
    }
  }
  const exact = readBody(body);
  if (exact !== undefined) {
    variants.add(exact, [compareWithBody(params, exact)]);
  }
  // The last: it is right to look for anything else first.
  variants.add([], ["PARAMS_UNSIGNED"]);
  return variants.list;
}

const OFTEN_EMPTY = [
  "entity_identity",
  "factor_friendly_name",
  "factor_metadata",
  "challenge_details",
  "challenge_hidden_details",
  "challenge_metadata",
];

type Change = [SignatureCauseCode, (value: string) => string];

/** What happens to all values at once; each function undoes it. */
const CHANGES_OF_ALL: Change[] = [
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

const CHANGES_OF_NAMES = [decodeFormText, decodeSafely];

/** What happens to a value of which others must stay as they are. */
const CHANGES_OF_ONE: Change[] = [
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

/** The value with one of its first spaces a plus sign, as in a telephone number. */
function listSpacesAsPlus(value: string): string[] {
  const at = [...value.matchAll(/ /g)].slice(0, 8).map(({ index }) => index);
  return at.map((index) => `${value.slice(0, index)}+${value.slice(index + 1)}`);
}

function mapValues(params: readonly Pair[], change: (value: string) => string): Pair[] {
  return params.map(([name, value]) => [name, change(value)]);
}

/** What became of the body's pairs, where they can be laid beside those that were given. */
function compareWithBody(params: readonly Pair[], exact: readonly Pair[]): SignatureCauseCode {
  if (params.length === 0) return "PARAMS_MISSING";
  for (const [cause, likeness] of LIKENESSES) {
    if (
      params.length === exact.length &&
      params.every(([, value], index) => likeness(value) === likeness(exact[index]?.[1] ?? ""))
    ) {
      return cause;
    }
  }
  return "PARAMS_ALTERED";
}

const LIKENESSES: Change[] = [
  ["PARAMS_PLUS", (value) => value.replaceAll("+", " ")],
  ["PARAMS_NEWLINES", (value) => value.replaceAll(/\r\n?/g, "\n")],
  ["PARAMS_WHITESPACE", (value) => value.trim()],
  ["PARAMS_NORMALIZED", (value) => value.normalize("NFC")],
  ["PARAMS_DECODED_TWICE", decodeFormText],
];

/** The pairs of a body; undefined for none, and for what is no form. */
export function readBody(body: ParamsEvidence["body"]): Pair[] | undefined {
  if (body === undefined || body.length === 0) return undefined;
  try {
    return typeof body === "string" ? decodePairs(body) : decodeForm(body);
  } catch {
    return undefined;
  }
}

function listQueryNames(url: string): string[] {
  const [, query = ""] = url.replace(/#.*$/s, "").split(/\?(.*)/s);
  try {
    return decodePairs(query).map(([name]) => name);
  } catch {
    return [];
  }
}

function decodeFormText(text: string): string {
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
