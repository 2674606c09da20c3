import type { PushEvent, UnknownPushEvent } from "../../event/event";
import { cutText, parseJson } from "../../form/text";
import { digest } from "../../signature/signature";

type Event = PushEvent | UnknownPushEvent;

/**
 * Masks an identity: 3 characters at its start and 3 at its end remain, of a short one at most a
 * third of it in all.
 */
export function maskIdentity(identity: string): string {
  const shown = Math.min(6, Math.floor(identity.length / 3));
  const atEnd = Math.floor(shown / 2);
  const start = identity.slice(0, shown - atEnd);
  const end = atEnd === 0 ? "" : identity.slice(-atEnd);
  return `${start}…${end}`;
}

const pseudonymKey = crypto.randomUUID();

/** Names an identity by a keyed hash: the same for one identity, until the process ends. */
export function createPseudonym(identity: string): string {
  const hash = Buffer.from(digest(pseudonymKey, identity, "sha256"), "base64");
  return hash.toString("hex").slice(0, 8);
}

/** Parameters whose values many events have in common. */
const COMMON_NAMES = new Set(["type", "factor_type", "account_sid", "service_sid"]);
/** A value that is shorter is masked only where it is a word: "me" also occurs in "time". */
const MIN_PART_CHARACTERS = 6;
/** The least of a value at the end of a text that shows that the text was cut within it. */
const MIN_CUT_CHARACTERS = 3;

const MAX_ERROR_CHARACTERS = 500;

/** Cuts a text of the handlers of an event, and masks the values of the event unless it `reveals`. */
export function maskText(text: string, event: Event | undefined, reveals = false): string {
  const cut = cutText(text, MAX_ERROR_CHARACTERS);
  if (reveals || event === undefined) return cut;
  const isCut = cut.endsWith("…");
  return isCut ? `${maskValues(cut.slice(0, -1), event, true)}…` : maskValues(cut, event, false);
}

/**
 * Replaces each value of an event in a text by the name of its parameter, such as
 * `<entity_identity>`: also a value within its JSON, in another case or percent-encoded, and the
 * start of one at the end of a text that was cut. So one failure has one text for all users.
 */
export function maskValues(text: string, event: Event, isCut: boolean): string {
  const values = listValues(event, text);
  const names = new Map(values.map(([name, value]) => [value.toLowerCase(), name]));
  const patterns = values.map(([, value]) => {
    const escaped = value.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    return value.length < MIN_PART_CHARACTERS
      ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`
      : escaped;
  });
  const mask = (value: string) => `<${names.get(value.toLowerCase()) ?? "value"}>`;
  const masked =
    values.length === 0 ? text : text.replaceAll(new RegExp(patterns.join("|"), "giu"), mask);
  return isCut ? maskCutValue(masked, event) : masked;
}

/** Lists the values that occur in a text, the longest first. */
function listValues(event: Event, text: string): [name: string, value: string][] {
  const lower = text.toLowerCase();
  return listOwnTexts(event)
    .flatMap(([name, value]) => listSpellings(value).map((spelled) => [name, spelled] as const))
    .filter(([, value]) => value !== "" && lower.includes(value.toLowerCase()))
    .map(([name, value]): [string, string] => [name, value])
    .toSorted(([, a], [, b]) => b.length - a.length);
}

function listOwnTexts({ params }: Event): (readonly [name: string, value: string])[] {
  const own = params.filter(([name]) => !COMMON_NAMES.has(name));
  return own.flatMap(([name, value]) =>
    [value, ...listStrings(parseJson(value))].map((text) => [name, text] as const),
  );
}

function listStrings(json: unknown): string[] {
  if (typeof json === "string") return [json];
  return typeof json === "object" && json !== null ? Object.values(json).flatMap(listStrings) : [];
}

function listSpellings(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())];
}

function maskCutValue(text: string, event: Event): string {
  for (const [name, value] of listOwnTexts(event)) {
    for (let length = Math.min(value.length, text.length); length >= MIN_CUT_CHARACTERS; length--) {
      if (text.endsWith(value.slice(0, length))) return `${text.slice(0, -length)}<${name}>`;
    }
  }
  return text;
}
