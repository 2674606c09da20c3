/**
 * Cuts: other sets of parameters that have the same signed text. An implementation of its own, so
 * that a mistake of the library does not hide here as well.
 */
import {
  chooseHonestCut,
  FRAGMENTS,
  honestCut,
  listFreeFields,
  words,
  type Cut,
} from "./attacker-texts";
import { createFindAmbiguity } from "../../lib/receiver/ambiguity";
import { parseEvent } from "../../lib/event/parse";

export type { Cut } from "./attacker-texts";

/** The names of the specification, sorted. */
const NAMES = [
  ...words("account_sid challenge_details challenge_hidden_details challenge_metadata"),
  ...words("challenge_sid entity_identity factor_friendly_name factor_metadata factor_sid"),
  ...words("factor_type service_sid type uuid"),
];
const ACCOUNT = NAMES.indexOf("account_sid");
const TYPE = NAMES.indexOf("type");
const UUID = NAMES.indexOf("uuid");

/** How the value of each SID parameter begins. */
const SID_PREFIXES: Record<string, string> = {
  account_sid: "AC",
  challenge_sid: "YC",
  factor_sid: "YF",
  service_sid: "VA",
};
/** The parameters that decide the meaning of an event. */
const DECISIVE = new Set([...Object.keys(SID_PREFIXES), "entity_identity", "type", "uuid"]);
/** The types of the specification. */
const KNOWN_TYPES = words(
  "challenge.approved challenge.denied factor.created factor.deleted factor.verified",
);
/** Longer names of unknown parameters are cut off: only their order decides. */
const MAX_NAME_CHARACTERS = 24;

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
function listPositions(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) found.push(at);
  return found;
}

/** Chooses cuts of a text at random: places of known names in their order, unknown ones between. */
export function createChooseCut(text: string, random: () => number): () => Cut | undefined {
  const positions = NAMES.map((name) => [name, listPositions(text, name)] as const);
  const below = (limit: number) => Math.floor(random() * limit);

  function choosePlaces(): [at: number, name: string][] {
    const places: [number, string][] = [];
    let from = 0;
    for (const [name, all] of positions) {
      const possible = all.filter((at) => at >= from);
      const isOptional = !["account_sid", "type", "uuid"].includes(name);
      if (possible.length === 0 || (isOptional && random() < 0.05)) continue;
      const at = possible[random() < 0.5 ? 0 : below(possible.length)] ?? 0;
      places.push([at, name]);
      from = at + name.length;
    }
    if (places[0]?.[0] !== 0) places.unshift([0, text.slice(0, 1 + below(8))]);
    return places;
  }

  function chooseLength(name: string, value: string): number {
    if (SID_PREFIXES[name] !== undefined) return 34;
    const type = name === "type" && KNOWN_TYPES.find((one) => value.startsWith(one));
    if (type && random() < 0.9) return type.length;
    const isOften = ["entity_identity", "type", "uuid"].includes(name);
    return random() < (isOften ? 0.4 : 0.05) ? below(value.length + 1) : value.length;
  }

  return function chooseCut() {
    const pairs: [string, string][] = [];
    const places = choosePlaces();
    for (const [index, [at, name]] of places.entries()) {
      const [end, nextName] = places[index + 1] ?? [text.length, "\uFFFF"];
      const start = at + name.length;
      if (start > end) return undefined;
      const value = text.slice(start, end);
      const length = chooseLength(name, value);
      pairs.push([name, value.slice(0, length)]);
      const gap = value.slice(length);
      if (gap === "") continue;
      const gapName = gap.slice(0, 1 + below(Math.min(gap.length, MAX_NAME_CHARACTERS)));
      if (gapName <= name || gapName >= nextName) return undefined;
      pairs.push([gapName, gap.slice(gapName.length)]);
    }
    return pairs;
  };
}

/** A random request, and how many of its random cuts mean another event, and how many are accepted. */
export function countRandom(random: () => number, cuts: number, declared: readonly string[] = []) {
  const honest = chooseHonestCut(random, declared);
  const chooseCut = createChooseCut(joinCut(honest), random);
  return { honest, ...countForeign(honest, Array.from({ length: cuts }, chooseCut), declared) };
}

const ADDED = Object.fromEntries(
  new URLSearchParams("api_version=2&delivery_attempt=1&factor_status=on&tag=t&tz=UTC&zone=eu"),
);
const PAIRS = FRAGMENTS.flatMap((one) => FRAGMENTS.map((other) => one + other));

/** The events that are attacked, with the parameters that the service added, and the texts. */
export const ATTACKED: readonly (readonly [
  version: "v1" | "v2",
  type: string,
  added: Record<string, string>,
  texts: readonly string[],
])[] = [
  ["v1", "challenge.approved", {}, FRAGMENTS],
  ["v1", "factor.verified", {}, [...FRAGMENTS, ...PAIRS]],
  ["v1", "challenge.approved", ADDED, FRAGMENTS],
  ["v1", "factor.verified", ADDED, FRAGMENTS],
  ["v2", "challenge.approved", {}, FRAGMENTS.slice(0, 9)],
  ["v2", "factor.verified", {}, FRAGMENTS],
  ["v2", "factor.verified", { tag: "t" }, FRAGMENTS.slice(0, 8)],
  ["v1", "challenge.expired", { zone: "eu", tag: "t" }, FRAGMENTS],
];

function* listAttacked([version, type, added, texts]: (typeof ATTACKED)[number]): Generator<Cut> {
  for (const field of [...listFreeFields(version, type), ...Object.keys(added)]) {
    // Its values are words of the service; see SECURITY.md.
    if (field === "factor_status") continue;
    for (const text of texts) yield honestCut(version, type, { ...added, [field]: text });
  }
}

/** Every request of a row in which an attacker chose one field: counts all cuts that mean another event, of one in so many of the requests of a row. */
export function countAttacked(row: (typeof ATTACKED)[number], oneIn: number) {
  const count = { foreign: 0, accepted: 0 };
  for (const [index, honest] of [...listAttacked(row)].entries()) {
    if (index % oneIn !== 0) continue;
    const cuts = listCuts(joinCut(honest), ["event_x", "f"]);
    const { foreign, accepted } = countForeign(honest, cuts);
    count.foreign += foreign;
    count.accepted += accepted;
  }
  return count;
}
