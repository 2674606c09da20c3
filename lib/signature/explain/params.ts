import { KNOWN_NAMES } from "../../form/parameters";
import {
  CHANGES_OF_ALL,
  CHANGES_OF_NAMES,
  CHANGES_OF_ONE,
  decodeFormText,
  listSpacesAsPlus,
  type Change,
} from "./changes";
import type { SignatureCauseCode } from "../../errors/signature-causes";
import { createVariants, type Variant } from "./variants";
import { listBodyPairs, listJsonPairs, type GivenBody } from "./bodies";
import type { Pair } from "../../form/form";
import { joinParams } from "../signature";

const MAX_VARIANTS = 600;
/** How many variants are listed after all others: the body, and no parameters. */
const LAST_VARIANTS = 2;
const MAX_CHANGED_ONE_BY_ONE = 60;
/** How many characters one report may change and join; each takes about 10 ns. */
const MAX_WORK_CHARACTERS = 2_000_000;
/** The cost of sorting and joining a pair, in characters. */
const WORK_PER_PAIR = 50;

/**
 * Lists the parameters that the service may have signed instead of the given ones, joined by
 * {@link joinParams}. Long parameters have fewer variants, which bounds the work; the given
 * parameters, those of the body, and no parameters are always listed.
 */
export function listParamsVariants(
  params: readonly Pair[],
  url: string,
  body: GivenBody | undefined,
): Variant[] {
  const variants = createVariants(MAX_VARIANTS);
  let workOfAll = WORK_PER_PAIR * params.length;
  for (const [name, value] of params) workOfAll += name.length + value.length;
  let workLeft = MAX_WORK_CHARACTERS;
  const add = (changed: readonly Pair[], cause: SignatureCauseCode, subject?: string) => {
    const hasRoom = variants.list.length < MAX_VARIANTS - LAST_VARIANTS;
    if ((workLeft -= workOfAll) >= 0 && hasRoom) {
      variants.add(joinParams(changed), [cause], subject);
    }
  };
  const given = joinParams(params);
  variants.add(given, []);
  // Sort first: joinParams sorts each variant, and a nearly sorted list is sorted faster.
  const sorted = params.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

  for (const [cause, change] of CHANGES_OF_ALL) {
    if ((workLeft -= workOfAll) < 0) continue;
    const changed = sorted.map(([name, value]): Pair => [name, change(value)]);
    add(changed, cause);
  }
  for (const change of CHANGES_OF_NAMES) {
    if ((workLeft -= workOfAll) < 0) continue;
    const changed = sorted.map(([name, value]): Pair => [change(name), change(value)]);
    add(changed, "PARAMS_ENCODED");
  }
  const [, query = ""] = url.replace(/#.*$/s, "").split(/\?(.*)/s);
  const inQuery = new Set(listBodyPairs(query)?.map(([name]) => name));
  const notInQuery = sorted.filter(([name]) => !inQuery.has(name));
  add(notInQuery, "PARAMS_QUERY_MERGED");
  // Added parameters come before changed values: they are a more frequent mistake.
  for (const [index, [name]] of sorted.slice(0, MAX_CHANGED_ONE_BY_ONE).entries()) {
    add(sorted.toSpliced(index, 1), "PARAMS_ADDED", name);
  }
  const known = sorted.filter(([name]) => KNOWN_NAMES.has(name));
  if (known.length > 0) add(known, "PARAMS_ADDED");
  for (const [index, [name, value]] of sorted.slice(0, MAX_CHANGED_ONE_BY_ONE).entries()) {
    for (const [cause, change] of CHANGES_OF_ONE) {
      if ((workLeft -= value.length) < 0) break;
      const changed = change(value);
      if (changed !== value) add(sorted.toSpliced(index, 1, [name, changed]), cause, name);
    }
    for (const spaced of listSpacesAsPlus(value)) {
      add(sorted.toSpliced(index, 1, [name, spaced]), "PARAMS_PLUS", name);
    }
  }
  const names = new Set(params.map(([name]) => name));
  for (const name of OFTEN_EMPTY) {
    if (params.length > 0 && !names.has(name)) {
      add([...sorted, [name, ""]], "PARAMS_EMPTY_DROPPED", name);
    }
  }
  addBody(variants.add, params, given, body);
  // Listed last: every other cause is likelier.
  variants.add("", ["PARAMS_UNSIGNED"]);
  return variants.list;
}

function addBody(
  add: (joined: string, causes: SignatureCauseCode[], subject?: string) => void,
  params: readonly Pair[],
  given: string,
  body: GivenBody | undefined,
): void {
  const inJson = listJsonPairs(body);
  if (inJson !== undefined) return add(joinParams(inJson), ["BODY_JSON"], "body");
  const inForm = listBodyPairs(body);
  if (inForm === undefined) return;
  const joined = joinParams(inForm);
  // Usually the parameters are those of the body.
  if (joined !== given) add(joined, [compareWithBody(params, inForm)]);
}

/** The parameters that are empty most often. */
const OFTEN_EMPTY = [
  "entity_identity",
  "factor_friendly_name",
  "factor_metadata",
  "challenge_details",
  "challenge_hidden_details",
  "challenge_metadata",
];

/** Compares the given pairs with those of the body, and returns the cause of the difference. */
function compareWithBody(params: readonly Pair[], exact: readonly Pair[]): SignatureCauseCode {
  if (params.length === 0) return "PARAMS_MISSING";
  if (params.length !== exact.length) return "PARAMS_ALTERED";
  const difference = NORMALIZATIONS.find(([, normalize]) =>
    params.every(([, value], index) => normalize(value) === normalize(exact[index]?.[1] ?? "")),
  );
  return difference?.[0] ?? "PARAMS_ALTERED";
}

/** Functions under which two values are equal if they differ by one cause only. */
const NORMALIZATIONS: Change[] = [
  ["PARAMS_PLUS", (value) => value.replaceAll("+", " ")],
  ["PARAMS_NEWLINES", (value) => value.replaceAll(/\r\n?/g, "\n")],
  ["PARAMS_WHITESPACE", (value) => value.trim()],
  ["PARAMS_NORMALIZED", (value) => value.normalize("NFC")],
  ["PARAMS_DECODED_TWICE", decodeFormText],
];
