import { isUtf8 } from "node:buffer";
import { WebhookError } from "./errors";

/** Name and value of one parameter, decoded. */
export type Pair = readonly [name: string, value: string];

/** The content types of a form: the specification's own spelling (section 5), and the usual one. */
export const FORM_CONTENT_TYPES = [
  "application/x-www-urlencoded",
  "application/x-www-form-urlencoded",
] as const;

/** Whether a Content-Type names a form, whatever its parameters. */
export function isFormType(contentType: string): boolean {
  const [type = ""] = contentType.split(";", 1);
  return (FORM_CONTENT_TYPES as readonly string[]).includes(type.trim().toLowerCase());
}

/** How many parameters a call may have. */
export const MAX_PARAMETERS = 1000;

/**
 * Decodes the exact bytes of a form into its pairs, in the order of arrival.
 *
 * Decoded once: `+` is a space, `%XX` UTF-8. Nothing is trimmed, normalised, nested or merged:
 * `a[b]` and `__proto__` are names like any other, and a repeated name is a repeated pair.
 *
 * @throws WebhookError `BODY_MALFORMED` for invalid UTF-8 or percent-encoding, `BODY_TOO_LARGE`
 *   for more than {@link MAX_PARAMETERS} parameters.
 */
export function decodeForm(form: Uint8Array): Pair[] {
  if (!isUtf8(form)) throw malformed("has bytes that are not UTF-8");
  // Not TextDecoder: it drops a leading byte order mark, which the sender signed as part of a name.
  return decodePairs(Buffer.from(form.buffer, form.byteOffset, form.length).toString("utf8"));
}

/**
 * Decodes a form, or the query of a URL, that is a string already; see {@link decodeForm}.
 *
 * @throws WebhookError as {@link decodeForm}.
 */
export function decodePairs(form: string): Pair[] {
  const pairs: Pair[] = [];
  for (let start = 0; start < form.length;) {
    let end = form.indexOf("&", start);
    if (end === -1) end = form.length;
    if (end > start) {
      if (pairs.length === MAX_PARAMETERS) {
        throw new WebhookError(
          "BODY_TOO_LARGE",
          `The call has more than ${MAX_PARAMETERS} parameters.`,
        );
      }
      const equals = form.indexOf("=", start);
      const nameEnd = equals === -1 || equals > end ? end : equals;
      pairs.push([decode(form.slice(start, nameEnd)), decode(form.slice(nameEnd + 1, end))]);
    }
    start = end + 1;
  }
  return pairs;
}

function decode(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    // The URIError says nothing that this message does not.
    throw malformed("has percent-encoding that is broken or does not encode UTF-8");
  }
}

function malformed(what: string): WebhookError {
  return new WebhookError("BODY_MALFORMED", `The form ${what}; it was refused unread.`);
}
