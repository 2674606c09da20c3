import type { SignatureCauseCode } from "./causes";
import { listBodyPairs, parseJsonObject, type GivenBody } from "./bodies";
import { Variants, type Variant } from "./variants";
import { KNOWN_NAMES, listFlatPairs, type Pair } from "../../form/parameters";
import { decodeSafely, encodeSafely } from "../../form/text";
import { joinParams } from "../signature";

const MAX_VARIANTS = 600;
/** How many characters of parameters one report may create. */
const MAX_CHARACTERS = 2_000_000;
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
];

/** The mistakes that change a single value. */
const CHANGES_OF_ONE: Change[] = [
  ["PARAMS_PLUS", (value) => value.replaceAll(" ", "+")],
  ["PARAMS_PLUS", (value) => value.replace(" ", "+")],
  ["PARAMS_PLUS", (value) => value.replaceAll("+", " ")],
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
  const variants = new Variants(MAX_VARIANTS, MAX_CHARACTERS);
  const add = (changed: readonly Pair[], code: SignatureCauseCode, subject?: string) => {
    if (!variants.isFull) variants.add(joinParams(changed), [code], subject);
  };
  const given = joinParams(params);
  variants.add(given, []);
  addBody(add, params, body);
  for (const [code, change] of CHANGES_OF_ALL) {
    const changed = params.map(([name, value]): Pair => [change(name), change(value)]);
    add(changed, code);
  }
  const [, query = ""] = url.replace(/#.*$/s, "").split(/\?(.*)/s);
  const inQuery = new Set(listBodyPairs(query)?.map(([name]) => name));
  const notInQuery = params.filter(([name]) => !inQuery.has(name));
  add(notInQuery, "PARAMS_ADDED");
  const known = params.filter(([name]) => KNOWN_NAMES.has(name));
  if (known.length > 0) add(known, "PARAMS_ADDED");
  const changed = params.slice(0, MAX_CHANGED).entries();
  for (const [index, [name, value]] of changed) {
    add(params.toSpliced(index, 1), "PARAMS_ADDED", name);
    for (const [code, change] of CHANGES_OF_ONE) {
      if (!variants.isFull) add(params.toSpliced(index, 1, [name, change(value)]), code, name);
    }
  }
  // Last: every other cause is likelier.
  variants.add("", ["PARAMS_UNSIGNED"]);
  return variants.list;
}

function addBody(
  add: (pairs: readonly Pair[], code: SignatureCauseCode, subject?: string) => void,
  params: readonly Pair[],
  body: GivenBody | undefined,
): void {
  const inJson = listFlatPairs(parseJsonObject(body));
  if (inJson !== undefined) return add(inJson, "BODY_JSON", "body");
  const inForm = listBodyPairs(body);
  if (inForm !== undefined) add(inForm, compareWithBody(params, inForm));
}

/** Compares the given pairs with those of the body, and returns the cause of the difference. */
function compareWithBody(params: readonly Pair[], exact: readonly Pair[]): SignatureCauseCode {
  if (params.length === 0) return "PARAMS_MISSING";
  const isEqual = (change: (value: string) => string) =>
    params.length === exact.length &&
    params.every(([, value], index) => change(value) === change(exact[index]?.[1] ?? ""));
  if (isEqual((value) => value.replaceAll("+", " "))) return "PARAMS_PLUS";
  return isEqual((value) => value.trim()) ? "PARAMS_WHITESPACE" : "PARAMS_ALTERED";
}
