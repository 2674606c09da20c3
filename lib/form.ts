import { isUtf8 } from "node:buffer";
import { WebhookError } from "./errors";

/** Name and value of one parameter, decoded. */
export type Pair = readonly [name: string, value: string];

/** The content types of a form: the specification's own spelling (section 5), and the usual one. */
export const FORM_CONTENT_TYPES = [
  "application/x-www-urlencoded",
  "application/x-www-form-urlencoded",
] as const;

/** Whether a Content-Type names a form, with any parameters. */
export function isFormType(contentType: string): boolean {
  const [type = ""] = contentType.split(";", 1);
  return (FORM_CONTENT_TYPES as readonly string[]).includes(type.trim().toLowerCase());
}

/** How many parameters a call may have. */
export const MAX_PARAMETERS = 1000;

const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;
const CUTS_PER_PAIR = 4;

/** What each byte is worth as a hexadecimal digit; -1: it is none. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? -1 : digit;
});

/**
 * Decodes the exact bytes of a form into its pairs, in the order of arrival.
 *
 * Decoded once: `+` is a space, `%XX` UTF-8. Nothing is trimmed, normalised, nested or merged:
 * `a[b]` and `__proto__` are names like any other, and a repeated name is a repeated pair.
 * Decoding stops at the first broken escape.
 *
 * @throws WebhookError `BODY_MALFORMED` for invalid UTF-8 or percent-encoding, `BODY_TOO_LARGE`
 *   for more than {@link MAX_PARAMETERS} parameters.
 */
export function decodeForm(form: Uint8Array): Pair[] {
  if (!isUtf8(form)) throw malformed("has bytes that are not UTF-8");
  const bytes = Buffer.allocUnsafe(form.length + 1);
  /** Of each pair: where its name begins and ends, where its value ends, and its bytes or-ed. */
  const cuts: number[] = [];
  let length = 0;
  let start = 0;
  let nameEnd = -1;
  let bits = 0;
  for (let at = 0; at <= form.length; at++) {
    let byte = at < form.length ? (form[at] ?? 0) : AMPERSAND;
    if (byte === AMPERSAND) {
      if (length > start) cuts.push(start, nameEnd === -1 ? length : nameEnd, length, bits);
      if (cuts.length > CUTS_PER_PAIR * MAX_PARAMETERS) throw tooMany();
      start = length + 1;
      nameEnd = -1;
      bits = 0;
    } else if (byte === EQUALS && nameEnd === -1) {
      nameEnd = length;
    } else if (byte === PLUS) {
      byte = SPACE;
    } else if (byte === PERCENT) {
      byte = (hexOf(form[at + 1]) << 4) | hexOf(form[at + 2]);
      if (byte < 0) throw malformed("has broken percent-encoding");
      at += 2;
    }
    bits |= byte;
    // Separators too: between them, no halves of a character can make up a whole one.
    bytes[length++] = byte;
  }
  return cutPairs(bytes.subarray(0, length), cuts);
}

function cutPairs(bytes: Buffer, cuts: readonly number[]): Pair[] {
  if (!isUtf8(bytes)) throw malformed("has percent-encoding of what is not UTF-8");
  const text = bytes.toString("latin1");
  const pairs: Pair[] = [];
  for (let index = 0; index < cuts.length; index += CUTS_PER_PAIR) {
    const start = cuts[index] ?? 0;
    const nameEnd = cuts[index + 1] ?? 0;
    const end = cuts[index + 2] ?? 0;
    const isAscii = (cuts[index + 3] ?? 0) < 0x80;
    // Not TextDecoder: it drops a leading byte order mark, which was signed as part of a name.
    pairs.push(
      isAscii
        ? [text.slice(start, nameEnd), text.slice(nameEnd + 1, end)]
        : [bytes.toString("utf8", start, nameEnd), bytes.toString("utf8", nameEnd + 1, end)],
    );
  }
  return pairs;
}

function hexOf(byte: number | undefined): number {
  return HEX[byte ?? 0] ?? -1;
}

/**
 * Decodes a form, or the query of a URL, that is a string already; see {@link decodeForm}.
 *
 * @throws WebhookError as {@link decodeForm}.
 */
export function decodePairs(form: string): Pair[] {
  assertWellFormed(form);
  return decodeForm(Buffer.from(form, "utf8"));
}

/**
 * Makes sure of a text that was no bytes here.
 *
 * @throws WebhookError `BODY_MALFORMED` when it is not well-formed.
 */
export function assertWellFormed(text: string): void {
  if (!isWellFormed(text)) throw malformed("has half a surrogate pair, which no bytes decode to");
}

/** Whether a text has a UTF-8 form of its own: no half of a surrogate pair. */
export function isWellFormed(text: string): boolean {
  // Node 20 has it; the types of ES2023 do not.
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}

function tooMany(): WebhookError {
  return new WebhookError("BODY_TOO_LARGE", `The call has more than ${MAX_PARAMETERS} parameters.`);
}

function malformed(what: string): WebhookError {
  return new WebhookError("BODY_MALFORMED", `The form ${what}; it was refused unread.`);
}
