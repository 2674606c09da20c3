import type { SignatureCauseCode } from "../../errors/signature-causes";
import { listBodyPairs, listUnwrapped, parseJsonObject, type GivenBody } from "./bodies";
import { collectVariants, type Variant } from "./variants";
import { isRawBody } from "../../event/form";
import { listFlatPairs, type Pair } from "../../../kit/pairs";
import { KNOWN_NAMES } from "../../event/event-parameters";
import { decodeSafely, encodeSafely } from "../../../kit/text";
import { joinParams } from "../signature";

const MAX_VARIANTS = 600;
/** How many characters of parameters one report may create. */
const MAX_CHARACTERS = 2_000_000;
/** Longer parameters are not changed, and a longer body is not decoded. */
const MAX_CHANGED_CHARACTERS = 131_072;
/** How many parameters are changed one by one. */
const MAX_CHANGED = 60;

type Change = [code: SignatureCauseCode, change: (value: string) => string];

const decodeFormText = (text: string) => decodeSafely(text.replaceAll("+", " "));

/** The mistakes that change all names and values. */
const CHANGES_OF_ALL: Change[] = [
  ["PARAMS_PLUS", (value) => value.replaceAll(" ", "+")],
  ["PARAMS_PLUS", (value) => value.replaceAll("+", " ")],
  ["PARAMS_ENCODED", decodeFormText],
  ["PARAMS_ENCODED", decodeSafely],
  ["PARAMS_CHARSET", (value) => Buffer.from(value, "latin1").toString("utf8")],
  ["PARAMS_CHARSET", (value) => value.normalize("NFC")],
  ["PARAMS_CHARSET", (value) => value.normalize("NFD")],
];

/** The mistakes that change a single value. */
const CHANGES_OF_ONE: Change[] = [
  ["PARAMS_PLUS", (value) => value.replaceAll(" ", "+")],
  ["PARAMS_PLUS", (value) => value.replace(" ", "+")],
  ["PARAMS_PLUS", (value) => value.replaceAll("+", " ")],
  ["PARAMS_WHITESPACE", (value) => value.trim()],
  ["PARAMS_WHITESPACE", (value) => `${value} `],
  ["PARAMS_WHITESPACE", (value) => ` ${value}`],
  ["PARAMS_WHITESPACE", (value) => `${value}\n`],
  ["PARAMS_ENCODED", (value) => encodeSafely(value)],
  ["PARAMS_ENCODED", (value) => value.replaceAll("%", "%25")],
];

/** Lists the parameters that the service may have signed, joined by {@link joinParams}. */
export function listParams(
  params: readonly Pair[],
  url: string,
  body: GivenBody | undefined,
): Variant[] {
  const variants = collectVariants(varyParams(params, url, body), MAX_VARIANTS, MAX_CHARACTERS);
  // Last: every other cause is likelier.
  return [...variants, { value: "", causes: ["PARAMS_UNSIGNED"] }];
}

function* varyParams(
  params: readonly Pair[],
  url: string,
  body: GivenBody | undefined,
): Generator<Variant> {
  const given = joinParams(params);
  yield { value: given, causes: [] };
  if (given.length > MAX_CHANGED_CHARACTERS) return;
  const inJson = listFlatPairs(parseJsonObject(body));
  if (inJson !== undefined) {
    yield vary(inJson, "BODY_JSON", "body");
  } else if (!isRawBody(body) || body.length <= MAX_CHANGED_CHARACTERS) {
    const inForm = listBodyPairs(body);
    if (inForm !== undefined) yield vary(inForm, compareWithBody(params, inForm));
  }
  for (const { by, pairs } of listUnwrapped(body)) yield vary(pairs, "BODY_WRAPPED", by);
  for (const [code, change] of CHANGES_OF_ALL) {
    const changed = params.map(([name, value]): Pair => [change(name), change(value)]);
    yield vary(changed, code);
  }
  const [, query = ""] = url.replace(/#.*$/s, "").split(/\?(.*)/s);
  const inQuery = new Set(listBodyPairs(query)?.map(([name]) => name));
  const notInQuery = params.filter(([name]) => !inQuery.has(name));
  yield vary(notInQuery, "PARAMS_ADDED");
  const known = params.filter(([name]) => KNOWN_NAMES.has(name));
  if (known.length > 0) yield vary(known, "PARAMS_ADDED");
  for (const [index, [name, value]] of params.slice(0, MAX_CHANGED).entries()) {
    yield vary(params.toSpliced(index, 1), "PARAMS_ADDED", name);
    for (const [code, change] of CHANGES_OF_ONE) {
      yield vary(params.toSpliced(index, 1, [name, change(value)]), code, name);
    }
  }
}

function vary(changed: readonly Pair[], code: SignatureCauseCode, subject?: string): Variant {
  return { value: joinParams(changed), causes: [code], subject };
}

/** Compares the given pairs with the body, and returns the cause of the difference. */
function compareWithBody(params: readonly Pair[], exact: readonly Pair[]): SignatureCauseCode {
  if (params.length === 0) return "PARAMS_MISSING";
  const isEqual = (change: (value: string) => string) =>
    params.length === exact.length &&
    params.every(([, value], index) => change(value) === change(exact[index]?.[1] ?? ""));
  if (isEqual((value) => value.replaceAll("+", " "))) return "PARAMS_PLUS";
  return isEqual((value) => value.trim()) ? "PARAMS_WHITESPACE" : "PARAMS_ALTERED";
}
