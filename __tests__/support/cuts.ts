/**
 * Cuts: other sets of parameters that have the same signed text. An implementation of its own, so
 * that a mistake of the library does not hide here as well.
 */
import { words } from "./attacker-texts";
import { createFindAmbiguity } from "../../lib/receiver/ambiguity";
import { parseEvent } from "../../lib/event/parse";

/** Parameters in the order in which they are signed. */
export type Cut = readonly (readonly [name: string, value: string])[];

/** The names of the specification, sorted. */
export const NAMES = [
  ...words("account_sid challenge_details challenge_hidden_details challenge_metadata"),
  ...words("challenge_sid entity_identity factor_friendly_name factor_metadata factor_sid"),
  ...words("factor_type service_sid type uuid"),
];
const ACCOUNT = NAMES.indexOf("account_sid");
const TYPE = NAMES.indexOf("type");
const UUID = NAMES.indexOf("uuid");

/** How the value of each SID parameter begins. */
export const SID_PREFIXES: Record<string, string> = {
  account_sid: "AC",
  challenge_sid: "YC",
  factor_sid: "YF",
  service_sid: "VA",
};
/** The parameters that decide the meaning of an event. */
const DECISIVE = new Set([...Object.keys(SID_PREFIXES), "entity_identity", "type", "uuid"]);
/** The types of the specification. */
export const KNOWN_TYPES = words(
  "challenge.approved challenge.denied factor.created factor.deleted factor.verified",
);
/** Longer names of unknown parameters are cut off: only their order decides. */
export const MAX_NAME_CHARACTERS = 24;

/** The text that is signed beside the URL. */
export function joinCut(cut: Cut): string {
  const sorted = cut.toSorted(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : 1));
  const distinct = sorted.filter((pair, at) => String(pair) !== String(sorted[at - 1]));
  return distinct.map(([name, value]) => name + value).join("");
}

/** The fields of an event that decide, as one text. */
export function listDecisive(event: object): string {
  const read = (names: string) => words(names).map((name) => String(Reflect.get(event, name)));
  const ofUser = "version" in event ? read("entity_identity factor_sid challenge_sid") : [];
  return [...read("type account_sid service_sid uuid"), ...ofUser].join("\n");
}

/** The event of a cut; undefined when it is none. */
function readEvent(cut: Cut): ReturnType<typeof parseEvent> | undefined {
  try {
    return parseEvent(cut);
  } catch {
    return undefined;
  }
}

/** Counts the cuts of a request that mean another event, and how many of those are accepted. */
export function countForeign(
  honest: Cut,
  cuts: Iterable<Cut | undefined>,
  extraParameters: readonly string[] = [],
) {
  const own = listDecisive(parseEvent(honest));
  const text = joinCut(honest);
  const findAmbiguity = createFindAmbiguity(extraParameters);
  const count = { foreign: 0, accepted: 0 };
  for (const cut of cuts) {
    const event = cut && readEvent(cut);
    if (cut === undefined || event === undefined || listDecisive(event) === own) continue;
    if (cut.flat().join("") !== text) throw new Error("This cut has another text.");
    count.foreign++;
    if (findAmbiguity(event, text) === undefined) count.accepted++;
  }
  return count;
}

/**
 * Lists the cuts of a text that could be accepted.
 *
 * Each choice of decisive values is listed in its simplest form. A gap has one unknown parameter at
 * most, since further ones could only lead to more rejections. A value that decides nothing and has
 * no format has none after it, since it may be longer instead. The parameters with JSON are left
 * out, since the value before them, or an unknown parameter, can hold their text.
 *
 * @param unknownNames names of unknown parameters that are tried beside the shortest possible one.
 */
export function* listCuts(text: string, unknownNames: readonly string[] = []): Generator<Cut> {
  const positions = NAMES.map((name) => listPositions(text, name));
  const isStart: true[] = [];
  for (const at of positions.flat()) isStart[at] = true;
  const seen = new Set<string>();
  yield* cutFrom(0, -1, "", [], "");

  /** `key` holds all that an acceptance can depend on. */
  function* cutFrom(
    at: number,
    last: number,
    lastName: string,
    pairs: Cut,
    key: string,
  ): Generator<Cut> {
    const state = `${at} ${lastName} ${key}`;
    if (seen.has(state)) return;
    seen.add(state);
    for (const required of [TYPE, UUID]) {
      if (last < required && !positions[required]?.some((one) => one >= at)) return;
    }
    if (at === text.length && last === UUID) yield pairs;
    for (const known of listNext(last)) {
      const name = NAMES[known] ?? "";
      if (name < lastName || !text.startsWith(name, at)) continue;
      const start = at + name.length;
      for (const end of listEnds(known, start)) {
        const value = text.slice(start, end);
        const nextKey = `${key}${known}${DECISIVE.has(name) ? value : ""}|`;
        yield* cutFrom(end, known, name, [...pairs, [name, value]], nextKey);
      }
    }
    if (last !== -1 && !DECISIVE.has(NAMES[last] ?? "")) return;
    for (const gapName of listGapNames(at, lastName)) {
      const start = at + gapName.length;
      if (last === UUID) yield [...pairs, [gapName, text.slice(start)]];
      for (const known of listNext(last)) {
        if ((NAMES[known] ?? "") < gapName) continue;
        for (const end of positions[known]?.filter((one) => one >= start) ?? []) {
          const gap = [gapName, text.slice(start, end)] as const;
          yield* cutFrom(end, known - 1, gapName, [...pairs, gap], `${key}${gapName}|`);
        }
      }
    }
  }

  /** The known names that may come next: none of the required ones is left out. */
  function listNext(last: number): number[] {
    const required = [ACCOUNT, TYPE, UUID].find((one) => one > last) ?? -1;
    return NAMES.flatMap((_, known) =>
      known > last && known <= required && !/data$|details$/.test(NAMES[known] ?? "")
        ? [known]
        : [],
    );
  }

  function listEnds(known: number, start: number): number[] {
    const name = NAMES[known] ?? "";
    const prefix = SID_PREFIXES[name];
    if (prefix !== undefined) {
      const isSid = /^..[0-9a-fA-F]{32}/.test(text.slice(start)) && text.startsWith(prefix, start);
      return isSid ? [start + 34] : [];
    }
    const longest =
      known === TYPE
        ? (/^[A-Za-z][\w.-]{0,99}/.exec(text.slice(start))?.[0].length ?? -1)
        : Infinity;
    const ends: number[] = [];
    const isDecisive = DECISIVE.has(name);
    for (let at = start; at <= Math.min(text.length, start + longest); at++) {
      const isEnd =
        at === text.length ||
        (isStart[at] === true && NAMES.some((next) => next > name && text.startsWith(next, at))) ||
        (isDecisive && listGapNames(at, name).length > 0);
      if (isEnd) ends.push(at);
    }
    return ends;
  }

  /** The shortest unknown name that can begin here and sort after a name, and the given ones. */
  function listGapNames(at: number, after: string): string[] {
    const longest = text.slice(at, at + MAX_NAME_CHARACTERS);
    if (longest <= after) return [];
    let length = 1;
    while (length <= longest.length && longest.slice(0, length) <= after) length++;
    const names = ["entity_identity", "type", "uuid"].includes(after)
      ? unknownNames.filter((name) => name > after && text.startsWith(name, at))
      : [];
    if (length <= longest.length) names.push(longest.slice(0, length));
    return names.filter((name) => !NAMES.includes(name));
  }
}

/** Lists where a part stands in a text. */
export function listPositions(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) found.push(at);
  return found;
}
