/**
 * Cuts: other sets of parameters that have the same signed text. An implementation of its own, so
 * that a mistake of the library does not hide here as well.
 */
import { parseEvent } from "../../lib/core/event/parse";
import { V2_PARAMETERS } from "../../lib/core/event/event-parameters";
import { AmbiguityCheck } from "../../lib/core/receiver/ambiguity";
import { words, type Choose, type Cut } from "./attacker-texts";

export type { Cut } from "./attacker-texts";

/** The names of the specification, sorted. */
const NAMES: readonly string[] = V2_PARAMETERS.toSorted();
const DECISIVE = words(
  "account_sid challenge_sid entity_identity factor_sid service_sid type uuid",
);
const SID_CHARACTERS = 34;

/** The text that is signed beside the URL. */
export function joinCut(cut: Cut): string {
  const sorted = cut.toSorted(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : 1));
  const distinct = sorted.filter(
    (pair, at) => JSON.stringify(pair) !== JSON.stringify(sorted[at - 1]),
  );
  return distinct.map(([name, value]) => name + value).join("");
}

export function listDecisive(event: object): string {
  const isKnown = "version" in event;
  const names = isKnown ? DECISIVE : words("account_sid service_sid type uuid");
  return names.map((name) => String(Reflect.get(event, name))).join("\n");
}

/** Counts the cuts of requests that mean another event, and lists those that are accepted. */
export function countForeign(
  requests: Iterable<Cut>,
  cutsOf: (text: string) => Iterable<Cut>,
  declared: readonly string[] = [],
) {
  const ambiguityCheck = new AmbiguityCheck(declared);
  const found = { foreign: 0, accepted: [] as Cut[] };
  for (const honest of requests) {
    const [own, text] = [listDecisive(parseEvent(honest)), joinCut(honest)];
    for (const cut of cutsOf(text)) {
      if (cut.flat().join("") !== text) throw new Error("This cut has another text.");
      const event = readEvent(cut);
      if (event === undefined || listDecisive(event) === own) continue;
      found.foreign++;
      if (ambiguityCheck.find(event, text) === undefined) found.accepted.push(cut);
    }
  }
  return found;
}

function readEvent(cut: Cut): ReturnType<typeof parseEvent> | undefined {
  try {
    return parseEvent(cut);
  } catch {
    return undefined;
  }
}

type Step = readonly [name: string, end: number];

/**
 * Lists the cuts of a text that could be accepted, each choice of decisive values in its simplest
 * form. Only a decisive value has an unknown parameter after it: others may be longer instead. One is
 * enough, since further ones could only lead to more rejections. JSON is left out for the same
 * reason: the value before it, or an unknown parameter, can hold its text.
 *
 * @param choose picks which of the next parameters to follow; by default, all.
 */
export function* listCuts(text: string, choose = (steps: Step[]): Step[] => steps): Generator<Cut> {
  const starts = new Set(NAMES.flatMap((name) => listPositions(text, name)));
  const seen = new Set<string>();
  yield* cutFrom(0, 0, "", [], "");

  /** `next` is the first known name that may follow; `key` holds all that an acceptance depends on. */
  function* cutFrom(
    at: number,
    next: number,
    last: string,
    pairs: Cut,
    key: string,
  ): Generator<Cut> {
    const state = `${at} ${last} ${key}`;
    if (seen.has(state)) return;
    seen.add(state);
    if (at === text.length && next === NAMES.length) yield pairs;
    const required = words("account_sid type uuid").find((name) => NAMES.indexOf(name) >= next);
    if (required !== undefined && !text.includes(required, at)) return;
    const known = NAMES.slice(next, NAMES.indexOf(required ?? "") + 1).filter(
      (name) => !/data$|details$/.test(name),
    );
    const steps = known
      .filter((name) => name >= last && text.startsWith(name, at))
      .flatMap((name) => listEnds(name, at + name.length).map((end) => [name, end] as Step));
    const gap = last === "" || DECISIVE.includes(last) ? findUnknown(at, last) : undefined;
    if (gap !== undefined) {
      const ends = known.flatMap((name) => (name < gap ? [] : listPositions(text, name)));
      if (required === undefined) ends.push(text.length);
      for (const end of ends) if (end >= at + gap.length) steps.push([gap, end]);
    }
    for (const [name, end] of choose(steps)) {
      const value = text.slice(at + name.length, end);
      const index = NAMES.indexOf(name);
      const decided = `${key}${index}${DECISIVE.includes(name) ? value : ""}|`;
      const after = index === -1 ? next : index + 1;
      yield* cutFrom(end, after, name, [...pairs, [name, value]], decided);
    }
  }

  function listEnds(name: string, start: number): number[] {
    const isDecisive = DECISIVE.includes(name);
    const ends: number[] = [];
    if (name.endsWith("_sid")) {
      return /^[A-Z]{2}[0-9a-fA-F]{32}/.test(text.slice(start)) ? [start + SID_CHARACTERS] : [];
    }
    const longest = name === "type" ? start + 100 : text.length;
    for (let at = start; at <= Math.min(longest, text.length); at++) {
      const isEnd = at === text.length || starts.has(at);
      if (isEnd || (isDecisive && findUnknown(at, name) !== undefined)) ends.push(at);
    }
    return ends;
  }

  /** The shortest unknown name that begins here and sorts after a name. */
  function findUnknown(at: number, after: string): string | undefined {
    for (let end = at + 1; end <= Math.min(text.length, at + after.length + 1); end++) {
      const name = text.slice(at, end);
      if (name > after && !NAMES.includes(name)) return name;
    }
    return undefined;
  }
}

/** Chooses cuts of a text at random, most of them before known or declared names. */
export function chooseCuts(text: string, { from }: Choose, declared: readonly string[] = []) {
  const names = [...NAMES, ...declared];
  const ends = new Set([...names.flatMap((name) => listPositions(text, name)), text.length]);
  return listCuts(text, (steps) => {
    const likely = steps.filter(([, end]) => ends.has(end));
    return [likely, likely, steps].flatMap((some) => (some.length > 0 ? [from(some)] : []));
  });
}

function listPositions(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) found.push(at);
  return found;
}
