import { isUtf8 } from "node:buffer";
import { isUint8Array } from "node:util/types";
import { StacklessError } from "../../kit/stackless-error";
import { KNOWN_NAMES, type Pair } from "./event-parameters";

/** The content types of a form: the specification's own spelling (section 5), and the usual one. */
export const FORM_CONTENT_TYPES = [
  "application/x-www-urlencoded",
  "application/x-www-form-urlencoded",
] as const;

const FORM_TYPE = new RegExp(`^\\s*(?:${FORM_CONTENT_TYPES.join("|")})\\s*(?:;|$)`, "i");

/** Returns whether a Content-Type names a form, with any parameters. */
export function isFormType(contentType: string): boolean {
  return FORM_TYPE.test(contentType);
}

/** Returns whether a body is the exact text or bytes that were received. */
export function isRawBody(body: unknown): body is string | Uint8Array {
  // Not instanceof: the bytes of Node.js belong to another realm than a test in jsdom.
  return typeof body === "string" || isUint8Array(body);
}

/** Copies the bytes of a form into a text, one byte a character. */
export function readBytes(form: string | Uint8Array): string {
  return viewBytes(form).toString("latin1");
}

function viewBytes(form: string | Uint8Array): Buffer {
  if (typeof form === "string") return Buffer.from(form);
  return Buffer.from(form.buffer, form.byteOffset, form.length);
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
  const text = readText(form);
  const pairs: Pair[] = [];
  let end = -1;
  while (end < text.length) {
    const start = end + 1;
    end = text.indexOf("&", start);
    if (end === -1) end = text.length;
    if (end === start) continue;
    if (pairs.length === MAX_PARAMETERS) {
      const message = `The webhook request has more than ${MAX_PARAMETERS} parameters.`;
      throw new FormError("too long", message);
    }
    const parameter = text.slice(start, end);
    const equalsAt = parameter.indexOf("=");
    const name = decodePart(equalsAt === -1 ? parameter : parameter.slice(0, equalsAt));
    const value = equalsAt === -1 ? "" : decodePart(parameter.slice(equalsAt + 1));
    pairs.push([KNOWN_NAMES.get(name) ?? name, value]);
  }
  return pairs;
}

/** Decoding writes it in place of bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

/** Returns the text of a form, with a space for each plus. */
function readText(form: Uint8Array | string): string {
  // Not the text "+": V8 would join a piece for each.
  return decodeText(form).replaceAll(/\+/g, " ");
}

function decodeText(form: Uint8Array | string): string {
  if (typeof form === "string") {
    assertWellFormed(form);
    return form;
  }
  // Not TextDecoder, which drops a leading byte order mark: it is signed as part of a name.
  const text = viewBytes(form).toString("utf8");
  const isAscii = text.length === form.length && !text.includes(REPLACEMENT);
  if (!isAscii && !isUtf8(form)) throw malformed("has bytes that are not UTF-8");
  return text;
}

function decodePart(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    throw malformed(
      /%(?![0-9a-f]{2})/i.test(part)
        ? "has broken percent-encoding"
        : "has percent-encoding of bytes that are not UTF-8",
    );
  }
}

/** Rejects a string with a lone surrogate, which has no UTF-8 form: throws FormError. */
export function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw malformed("has a lone surrogate, which no bytes decode to");
}

function malformed(problem: string): FormError {
  return new FormError("malformed", `The form ${problem}; it was rejected.`);
}
