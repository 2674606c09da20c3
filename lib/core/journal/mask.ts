import type { PushEvent, UnknownPushEvent } from "../event/event";
import { cutText, parseJson } from "../../kit/text";
import { hashText } from "../../kit/hash";

type Event = PushEvent | UnknownPushEvent;

/**
 * Masks an identity: 3 characters at its start and 3 at its end remain, of a short one at most a
 * third of it in all.
 */
export function maskIdentity(identity: string): string {
  // Whole characters: half an emoji is not one.
  const characters = Array.from(identity);
  const shown = Math.min(6, Math.floor(characters.length / 3));
  const atEnd = Math.floor(shown / 2);
  const start = characters.slice(0, shown - atEnd);
  const end = atEnd === 0 ? [] : characters.slice(-atEnd);
  return `${start.join("")}…${end.join("")}`;
}

/**
 * Names an identity by a keyed hash: see `Journal.createPseudonym`. It is cut, so that it needs no HMAC,
 * which takes five times as long.
 */
export function createPseudonym(secret: string, identity: string): string {
  return hashText(`${secret} ${identity}`).slice(0, 8);
}

/** Parameters whose values many events have in common. */
const COMMON_NAMES = new Set(["type", "factor_type", "account_sid", "service_sid"]);
/** A value that is shorter is masked only where it is a word: "me" also occurs in "time". */
const MIN_PART_CHARACTERS = 6;
/** The least of a value at the end of a text that shows that the text was cut within it. */
const MIN_CUT_CHARACTERS = 3;

const MAX_ERROR_CHARACTERS = 500;
/** Of an event with more texts, or deeper JSON, nothing is shown: masking stays below 20 ms. */
const MAX_TEXTS = 300;
const MAX_LEVELS = 32;
const NOT_SHOWN = "(not shown)";

/**
 * Cuts a text of the handlers of an event, and masks the values of the event unless it `reveals`. Of
 * an event that is not known, only what is before the first colon remains: the code of an error.
 */
export function maskText(text: string, event: Event | undefined, reveals = false): string {
  const cut = cutText(text, MAX_ERROR_CHARACTERS);
  if (reveals) return cut;
  return event === undefined ? cut.replace(/:.*$/s, "") : maskValues(cut, event, cut.endsWith("…"));
}

/**
 * Replaces each value of an event in a text by the name of its parameter, such as
 * `<entity_identity>`: also a value within its JSON, in another case or percent-encoded, and the
 * start of one at the end of a text that was cut. So one failure has one text for all users.
 *
 * @returns `(not shown)` for an event with too many texts.
 */
function maskValues(text: string, event: Event, isCut: boolean): string {
  const texts = listOwnTexts(event);
  if (texts === undefined) return NOT_SHOWN;
  const lower = toLowerCase(text);
  const values = new Map<string, string>();
  for (const [value, name] of texts) {
    for (const spelled of listSpellings(value)) values.set(toLowerCase(spelled), name);
  }
  values.delete("");
  /** The name in place of each character of a value; "" after the first. */
  const names: (string | undefined)[] = [];
  // The longest first: it may contain others.
  for (const [value, name] of [...values].toSorted(([a], [b]) => b.length - a.length)) {
    let at = lower.indexOf(value);
    for (; at !== -1; at = lower.indexOf(value, at + 1)) {
      const end = at + value.length;
      // A longer one that overlaps it has one of its ends.
      if (names[at] !== undefined || names[end - 1] !== undefined) continue;
      if (value.length < MIN_PART_CHARACTERS && !isWord(lower, at, end)) continue;
      for (let index = at; index < end; index++) names[index] = index === at ? `<${name}>` : "";
    }
  }
  if (isCut) maskCutValue(lower.slice(0, -1), values, names);
  return Array.from({ length: text.length }, (_, at) => names[at] ?? text.charAt(at)).join("");
}

/** Lists the texts of an event with the names of their parameters; undefined for too many. */
function listOwnTexts({ params }: Event): Map<string, string> | undefined {
  const texts = new Map<string, string>();
  for (const [name, value] of params) {
    if (COMMON_NAMES.has(name)) continue;
    texts.set(value, name);
    let level: unknown[] = [parseJson(value)];
    for (let depth = 0; level.length > 0; depth++) {
      for (const one of level) if (typeof one === "string") texts.set(one, name);
      if (depth === MAX_LEVELS || texts.size > MAX_TEXTS) return undefined;
      level = level.flatMap((one) =>
        typeof one === "object" && one !== null ? (Object.values(one) as unknown[]) : [],
      );
    }
  }
  return texts;
}

/** The spellings of a value that may be in a text. */
function listSpellings(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())];
}

/** Of each character by itself: "İ" would become two, and "Σ" at the end of a word another one. */
function toLowerCase(text: string): string {
  return text.replaceAll("İ", "i").toLowerCase().replaceAll("ς", "σ");
}

function isWord(text: string, at: number, end: number): boolean {
  return !/[\p{L}\p{N}]$/u.test(text.slice(0, at)) && !/^[\p{L}\p{N}]/u.test(text.slice(end));
}

/** Masks the start of a value at the end of a text: the longest one. */
function maskCutValue(
  text: string,
  values: ReadonlyMap<string, string>,
  names: (string | undefined)[],
): void {
  const entries = [...values];
  for (let at = 0; at <= text.length - MIN_CUT_CHARACTERS; at++) {
    const end = text.slice(at);
    const [, name] = entries.find(([value]) => value.startsWith(end)) ?? [];
    if (name === undefined) continue;
    for (let index = at; index < text.length; index++)
      names[index] = index === at ? `<${name}>` : "";
    return;
  }
}
