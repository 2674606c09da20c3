import { isUtf8 } from "node:buffer";
import { isUint8Array } from "node:util/types";
import { StacklessError } from "../../kit/stackless-error";
import type { Pair } from "../../kit/pairs";
import { KNOWN_NAMES } from "./event-parameters";

/** Returns whether a body is the exact text or bytes that were received. */
export function isRawBody(body: unknown): body is string | Uint8Array {
  // Not instanceof: the bytes of Node.js belong to another realm than a test in jsdom.
  return typeof body === "string" || isUint8Array(body);
}

/** How many parameters a form may have. */
export const MAX_PARAMETERS = 1000;

/** A form that cannot be decoded. */
export class FormError extends StacklessError {
  override readonly name = "FormError";
  /** `"malformed"`: not UTF-8 or broken percent-encoding; `"too long"`: too many parameters. */
  readonly reason: "malformed" | "too long";

  constructor(reason: FormError["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Decodes the exact bytes or the text of a form, or a query, into pairs in the order of arrival.
 *
 * Decoded once: `+` is a space, `%XX` UTF-8. Nothing is trimmed, normalised, nested or merged:
 * `a[b]` and `__proto__` are names like any other, and a repeated name is a repeated pair.
 * Decoding stops at the first broken escape and after {@link MAX_PARAMETERS} parameters.
 *
 * @throws FormError for invalid UTF-8 or percent-encoding, a lone surrogate, too many parameters.
 */
export function decodeForm(form: Uint8Array | string): Pair[] {
  if (typeof form === "string") assertWellFormed(form);
  const bytes = typeof form === "string" ? Buffer.from(form) : form;
  const decoded = bytes.length < ROOM.length ? ROOM : Buffer.allocUnsafe(bytes.length + 1);
  let length = 0;
  // In UTF-16 code units of the decoded text, as `offsets`.
  let at = 0;
  let start = 0;
  let equalsAt = -1;
  let count = 0;
  let isAscii = true;
  let hasRawBytes = false;

  for (let index = 0; index <= bytes.length; index++) {
    let byte = bytes[index] ?? AMPERSAND;
    if (byte === AMPERSAND) {
      if (at > start) {
        if (count === MAX_PARAMETERS) throw tooLong();
        OFFSETS[3 * count] = start;
        OFFSETS[3 * count + 1] = equalsAt;
        OFFSETS[3 * count + 2] = at;
        count++;
      }
      start = at + 1;
      equalsAt = -1;
    } else if (byte === EQUALS_SIGN && equalsAt === -1) {
      equalsAt = at;
    } else if (byte === PLUS_SIGN) {
      byte = SPACE;
    } else if (byte === PERCENT_SIGN) {
      byte = 16 * (DIGITS[bytes[++index] ?? 0] ?? 0) + (DIGITS[bytes[++index] ?? 0] ?? 0);
      if (byte < 0) throw malformed("has broken percent-encoding");
    } else if (byte > MAX_ASCII) {
      hasRawBytes = true;
    }
    // Separators are kept: no character may begin in one part and end in the next one.
    decoded[length++] = byte;
    if (byte > MAX_ASCII) isAscii = false;
    // A byte that continues a character is no unit; a character of four bytes has two.
    if (byte < FIRST_CONTINUATION || byte >= FIRST_LEAD) at += byte >= FIRST_LEAD_OF_FOUR ? 2 : 1;
  }
  if (hasRawBytes && !isUtf8(bytes)) throw malformed("has bytes that are not UTF-8");
  if (!isAscii && !isUtf8(decoded.subarray(0, length))) {
    throw malformed("has percent-encoding of bytes that are not UTF-8");
  }
  // Not TextDecoder, which drops a leading byte order mark: it is signed as part of a name.
  return cutPairs(decoded.toString(isAscii ? "latin1" : "utf8", 0, length), count);
}

const AMPERSAND = 0x26;
const EQUALS_SIGN = 0x3d;
const PLUS_SIGN = 0x2b;
const PERCENT_SIGN = 0x25;
const SPACE = 0x20;
const MAX_ASCII = 0x7f;
const FIRST_CONTINUATION = 0x80;
const FIRST_LEAD = 0xc0;
const FIRST_LEAD_OF_FOUR = 0xf0;

/** The value of each byte that is a hexadecimal digit; -256 for any other, so that each sum with one is negative. */
const DIGITS = Int16Array.from({ length: 256 }, (_, byte) => {
  const digit = "0123456789abcdef".indexOf(String.fromCharCode(byte).toLowerCase());
  return digit === -1 ? -256 : digit;
});

// Used again by each call, which is synchronous: a form of the default limit allocates its text only.
const ROOM = Buffer.alloc(65_536 + 1);
/** The start, the `=` or -1, and the end of each parameter. */
const OFFSETS = new Int32Array(3 * MAX_PARAMETERS);

function cutPairs(text: string, count: number): Pair[] {
  const pairs: Pair[] = [];
  for (let index = 0; index < count; index++) {
    const start = OFFSETS[3 * index];
    const equalsAt = OFFSETS[3 * index + 1] ?? -1;
    const end = OFFSETS[3 * index + 2];
    const name = text.slice(start, equalsAt === -1 ? end : equalsAt);
    const value = equalsAt === -1 ? "" : text.slice(equalsAt + 1, end);
    pairs.push([KNOWN_NAMES.get(name) ?? name, value]);
  }
  return pairs;
}

/** Rejects a string with a lone surrogate, which has no UTF-8 form: throws FormError. */
export function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw malformed("has a lone surrogate, which no bytes decode to");
}

function tooLong(): FormError {
  return new FormError(
    "too long",
    `The webhook request has more than ${MAX_PARAMETERS} parameters.`,
  );
}

function malformed(problem: string): FormError {
  return new FormError("malformed", `The form ${problem}; it was rejected.`);
}
