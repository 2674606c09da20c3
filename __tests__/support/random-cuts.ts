import { chooseHonestCut } from "./attacker-texts";
import {
  countForeign,
  joinCut,
  KNOWN_TYPES,
  listPositions,
  MAX_NAME_CHARACTERS,
  NAMES,
  SID_PREFIXES,
  type Cut,
} from "./cuts";

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
