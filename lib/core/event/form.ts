import { isUtf8 } from "node:buffer";
import { isUint8Array } from "node:util/types";
import { StacklessError } from "../../kit/stackless-error";
import type { Pair } from "../../kit/pairs";
import { findKnownName } from "./event-parameters";

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

/** A decoded form. */
export interface Form {
  /** In the order of arrival. */
  readonly pairs: Pair[];
  /**
   * As a signature covers them (specification, section 5): each distinct name and value, sorted by
   * UTF-16 code unit, without a separator. The pairs are slices of it.
   */
  readonly joined: string;
}

/**
 * Decodes the exact bytes or the text of a form, or a query.
 *
 * Decoded once: `+` is a space, `%XX` UTF-8. Nothing is trimmed, normalised, nested or merged:
 * `a[b]` and `__proto__` are names like any other, and a repeated name is a repeated pair.
 * Decoding stops at the first broken escape and after `maxParameters`.
 *
 * @throws FormError for invalid UTF-8 or percent-encoding, a lone surrogate, too many parameters.
 */
export function decodeForm(form: Uint8Array | string, maxParameters = MAX_PARAMETERS): Form {
  if (typeof form === "string") assertWellFormed(form);
  const bytes = typeof form === "string" ? Buffer.from(form) : form;
  const isUsual = bytes.length <= USUAL_BYTES && maxParameters <= MAX_PARAMETERS;
  if (isUsual) return DECODER.decode(bytes, maxParameters);
  // A parameter has one byte at least.
  const decoder = new FormDecoder(bytes.length, Math.min(bytes.length, maxParameters));
  return decoder.decode(bytes, maxParameters);
}

const AMPERSAND = 0x26;
const EQUALS_SIGN = 0x3d;
const PLUS_SIGN = 0x2b;
const PERCENT_SIGN = 0x25;
const SPACE = 0x20;
const MAX_ASCII = 0x7f;

/** The value of each hexadecimal digit; -256 for any other byte, so that each sum with one is negative. */
const DIGITS = Int16Array.from({ length: 256 }, (_, byte) => {
  const digit = "0123456789abcdef".indexOf(String.fromCharCode(byte).toLowerCase());
  return digit === -1 ? -256 : digit;
});

/** Returns the byte of the escape that begins at `index`; below 0 if a digit is none. */
const readEscape = (bytes: Uint8Array, index: number) =>
  16 * (DIGITS[bytes[index + 1] as number] as number) +
  (DIGITS[bytes[index + 2] as number] as number);

/** The UTF-16 code units that begin at each byte of UTF-8: the first of four begins two. */
const UNITS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const continues = byte >= 0x80 && byte < 0xc0;
  return continues ? 0 : byte < 0xf0 ? 1 : 2;
});

/** Orders the bytes of UTF-8 like code units of UTF-16, where U+E000 to U+FFFF are the last. */
const rankOf = (byte: number) => (byte === 0xee || byte === 0xef ? byte + 0x10 : byte);

/**
 * Decodes forms in the same memory: a form allocates its text and its pairs only.
 * The name of the parameter `index` is the part `2 * index`, its value the next one.
 */
class FormDecoder {
  readonly #decoded: Buffer;
  readonly #joined: Buffer;
  /** Where in `#decoded` each part begins and ends. */
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  /** Where in the joined text each parameter begins, and each part ends, in UTF-16 code units. */
  readonly #cutStarts: Uint32Array;
  readonly #cutEnds: Uint32Array;
  /** The sorted parameters. */
  readonly #order: Uint32Array;
  #count = 0;

  constructor(maxBytes: number, maxParameters: number) {
    this.#decoded = Buffer.allocUnsafeSlow(maxBytes + 1);
    this.#joined = Buffer.allocUnsafeSlow(maxBytes);
    this.#starts = new Uint32Array(2 * maxParameters);
    this.#ends = new Uint32Array(2 * maxParameters);
    this.#cutStarts = new Uint32Array(maxParameters);
    this.#cutEnds = new Uint32Array(2 * maxParameters);
    this.#order = new Uint32Array(maxParameters);
  }

  decode(bytes: Uint8Array, maxParameters: number): Form {
    const isAscii = this.#decodeBytes(bytes, maxParameters);
    this.#sort();
    const length = this.#join();
    // Not TextDecoder, which drops a leading byte order mark: it is signed as part of a name.
    const joined = this.#joined.toString(isAscii ? "latin1" : "utf8", 0, length);
    return { pairs: this.#cutPairs(joined), joined };
  }

  /** Returns whether all decoded bytes are ASCII. */
  #decodeBytes(bytes: Uint8Array, maxParameters: number): boolean {
    const decoded = this.#decoded;
    const starts = this.#starts;
    const ends = this.#ends;
    const bytesEnd = bytes.length;
    let length = 0;
    let start = 0;
    let equalsAt = -1;
    let count = 0;
    let rawBits = 0;
    let decodedBits = 0;

    // Each index is within bounds: an element that may be undefined takes V8 twice as long.
    for (let index = 0; index <= bytesEnd; index++) {
      let byte = index < bytesEnd ? (bytes[index] as number) : AMPERSAND;
      rawBits |= byte;
      if (byte === AMPERSAND) {
        if (length > start) {
          if (count === maxParameters) throw createTooLongError();
          starts[2 * count] = start;
          ends[2 * count] = equalsAt === -1 ? length : equalsAt;
          starts[2 * count + 1] = equalsAt === -1 ? length : equalsAt + 1;
          ends[2 * count + 1] = length;
          count++;
        }
        start = length + 1;
        equalsAt = -1;
      } else if (byte === EQUALS_SIGN && equalsAt === -1) {
        equalsAt = length;
      } else if (byte === PLUS_SIGN) {
        byte = SPACE;
      } else if (byte === PERCENT_SIGN) {
        byte = index + 2 < bytesEnd ? readEscape(bytes, index) : -1;
        if (byte < 0) throw createMalformedError("has broken percent-encoding");
        index += 2;
      }
      // Separators are kept: no character may begin in one part and end in the next one.
      decoded[length++] = byte;
      decodedBits |= byte;
    }
    if (rawBits > MAX_ASCII && !isUtf8(bytes)) {
      throw createMalformedError("has bytes that are not UTF-8");
    }
    const isAscii = decodedBits <= MAX_ASCII;
    if (!isAscii && !isUtf8(decoded.subarray(0, length))) {
      throw createMalformedError("has percent-encoding of bytes that are not UTF-8");
    }
    this.#count = count;
    return isAscii;
  }

  /** Sorts the parameters by insertion, which takes no other memory. */
  #sort(): void {
    const order = this.#order;
    for (let index = 0; index < this.#count; index++) {
      let low = 0;
      let high = index;
      // First the last one, then the middle of the rest: many forms are sorted already.
      for (let middle = index - 1; low < high; middle = (low + high) >>> 1) {
        if (this.#compare(order[middle] as number, index) > 0) high = middle;
        else low = middle + 1;
      }
      order.copyWithin(low + 1, low, index);
      order[low] = index;
    }
  }

  /** Compares two parameters by name, then by value. */
  #compare(one: number, other: number): number {
    return this.#compareParts(2 * one, 2 * other) || this.#compareParts(2 * one + 1, 2 * other + 1);
  }

  #compareParts(one: number, other: number): number {
    const decoded = this.#decoded;
    const end = this.#ends[one] as number;
    const otherEnd = this.#ends[other] as number;
    let at = this.#starts[one] as number;
    let otherAt = this.#starts[other] as number;
    while (at < end && otherAt < otherEnd) {
      const byte = decoded[at++] as number;
      const otherByte = decoded[otherAt++] as number;
      if (byte !== otherByte) return rankOf(byte) - rankOf(otherByte);
    }
    return end - at - (otherEnd - otherAt);
  }

  /** Joins the sorted parameters, each distinct one once; returns the number of bytes. */
  #join(): number {
    const decoded = this.#decoded;
    const joined = this.#joined;
    let bytes = 0;
    let units = 0;
    let bytesBefore = 0;
    let unitsBefore = 0;
    for (let place = 0; place < this.#count; place++) {
      const index = this.#order[place] as number;
      // A repeated parameter is written over the one before, and is cut out of the same place.
      if (place > 0 && this.#compare(this.#order[place - 1] as number, index) === 0) {
        bytes = bytesBefore;
        units = unitsBefore;
      }
      bytesBefore = bytes;
      unitsBefore = units;
      this.#cutStarts[index] = units;
      for (let part = 2 * index; part <= 2 * index + 1; part++) {
        const end = this.#ends[part] as number;
        for (let at = this.#starts[part] as number; at < end; at++) {
          const byte = decoded[at] as number;
          joined[bytes++] = byte;
          units += UNITS[byte] as number;
        }
        this.#cutEnds[part] = units;
      }
    }
    return bytes;
  }

  /** Cuts the pairs out of the joined text, in the order of arrival. */
  #cutPairs(joined: string): Pair[] {
    const pairs: Pair[] = [];
    for (let index = 0; index < this.#count; index++) {
      const start = this.#cutStarts[index] as number;
      const nameEnd = this.#cutEnds[2 * index] as number;
      const name = findKnownName(joined, start, nameEnd) ?? joined.slice(start, nameEnd);
      pairs.push([name, joined.slice(nameEnd, this.#cutEnds[2 * index + 1])]);
    }
    return pairs;
  }
}

// One for all calls, which are synchronous.
const USUAL_BYTES = 65_536;
const DECODER = new FormDecoder(USUAL_BYTES, MAX_PARAMETERS);

/** Throws FormError for a lone surrogate, which has no UTF-8 form. */
export function assertWellFormed(text: string): void {
  if (!text.isWellFormed())
    throw createMalformedError("has a lone surrogate, which no bytes decode to");
}

function createTooLongError(): FormError {
  return new FormError(
    "too long",
    `The webhook request has more than ${MAX_PARAMETERS} parameters.`,
  );
}

function createMalformedError(problem: string): FormError {
  return new FormError("malformed", `The form ${problem}; it was rejected.`);
}
