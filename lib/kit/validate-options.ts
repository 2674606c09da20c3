import { inspect } from "node:util";
import { escapeControls } from "./text";
import { hideUserInfo } from "./url";

export interface OptionRule {
  accepts: (value: unknown) => boolean;
  /** Completes the sentence "… must be …": the values that are accepted. */
  expected: string;
  /** Returns a sentence about a value that is not accepted, without secrets. */
  explain?: (value: unknown) => string;
  required?: boolean;
  /** Whether the value may contain a secret; messages then show only its type. */
  secret?: boolean;
}

export type OptionRules<Options> = Readonly<Record<keyof Options & string, OptionRule>>;

/** Options with their defaults: none is undefined. */
export type Complete<Options> = { [Name in keyof Options]-?: Exclude<Options[Name], undefined> };

/** The shortest part of a name that suggests the name. */
const SHORTEST_PART = 3;

/** The longest delay of a timer, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Validates the options of the function `owner`.
 *
 * @throws TypeError that names the option, shows its value unless it may be secret, and says what is
 *   accepted.
 */
export function validateOptions<Options extends object>(
  owner: string,
  options: Options,
  rules: OptionRules<Options>,
): void {
  // Not shown: JavaScript code may pass the token itself.
  if (typeof options !== "object" || (options as unknown) === null || Array.isArray(options)) {
    throw new TypeError(
      `${owner}: options must be an object; received ${describeType(options)}. Pass { name: value }.`,
    );
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(rules, name)) throw unknownOption(owner, name, Object.keys(rules));
  }
  for (const [name, rule] of Object.entries<OptionRule>(rules)) {
    const value = (options as Record<string, unknown>)[name];
    if (value === undefined && rule.required !== true) continue;
    if (value === undefined) {
      throw new TypeError(
        `${owner}: option ${name} is not set. It must be ${rule.expected}. If it comes from an environment variable, set that one.`,
      );
    }
    if (rule.accepts(value)) continue;
    const problem = rule.explain === undefined ? "" : ` ${rule.explain(value)}`;
    const received = rule.secret === true ? `${describeType(value)} (not shown)` : show(value);
    throw new TypeError(
      `${owner}: option ${name} must be ${rule.expected}; received ${received}.${problem}`,
    );
  }
}

/** Creates a rule for a whole number in a range. */
export function wholeNumber(min: number, max: number, unit: string): OptionRule {
  return {
    accepts: (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
    expected: `a whole number of ${unit} from ${min} to ${max}`,
  };
}

/** Creates a rule for one of several values. */
export function oneOf(...allowed: readonly (string | boolean)[]): OptionRule {
  return {
    accepts: (value) => (allowed as readonly unknown[]).includes(value),
    expected: allowed.map(show).join(" or "),
  };
}

/** Returns whether a value is a string that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Returns whether a value is an object that is no list. */
export function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns whether a value is an object that has all these methods. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}

/** Returns a sentence for a message, with the known names that a mistyped one may mean; or "". */
export function suggestName(name: string, known: readonly string[]): string {
  const typed = name.toLowerCase().replaceAll("_", "");
  const containing = known.filter((one) => one.toLowerCase().includes(typed));
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: countEdits(typed, candidate) }))
    .filter(({ candidate, edits }) => edits <= candidate.length / 2)
    .toSorted((a, b) => a.edits - b.edits);
  const nearestNames = nearest === undefined ? [] : [nearest.candidate];
  const isPart = typed.length >= SHORTEST_PART && containing.length > 0;
  const meant = isPart ? containing : nearestNames;
  return meant.length === 0 ? "" : ` Did you mean ${meant.map(show).join(" or ")}?`;
}

/** Names of options in other packages, and their name here; a part of a name needs no row. */
const ALIASES: Readonly<Record<string, string>> = { webhookurl: "publicUrl", secret: "authToken" };

function unknownOption(owner: string, name: string, known: readonly string[]): TypeError {
  const options = `The options are: ${known.join(", ")}.`;
  const alias = ALIASES[name.toLowerCase().replaceAll("_", "")] ?? "";
  const hint = suggestName(known.includes(alias) ? alias : name, known);
  return new TypeError(`${owner}: there is no option ${show(name)}.${hint} ${options}`);
}

function countEdits(from: string, to: string): number {
  const target = to.toLowerCase();
  let row = Array.from({ length: target.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line++) {
    const next = [line];
    for (let column = 1; column <= target.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (from[line - 1] === target[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[target.length] ?? 0;
}

function show(value: unknown): string {
  if (typeof value === "string") {
    // A URL may contain credentials.
    const safe = hideUserInfo(value);
    return escapeControls(JSON.stringify(safe.length > 80 ? `${safe.slice(0, 80)}…` : safe));
  }
  return inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY });
}

/** Names the type of a value that a message must not show. */
export function describeType(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (value === "") return "an empty string";
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
