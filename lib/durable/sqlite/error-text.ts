import { parseJson } from "../../form/json";

/**
 * Writes the error of a handler for the file. SQLite replaces a lone surrogate, which UTF-8 does not
 * have: a text with one is written as JSON, which escapes it.
 */
export function writeErrorText(error: string): string {
  return error.isWellFormed() ? error : JSON.stringify(error);
}

/** Reads what {@link writeErrorText} wrote: a text that is no JSON begins with a code. */
export function readErrorText(stored: string): string {
  const parsed = stored.startsWith('"') ? parseJson(stored) : undefined;
  return typeof parsed === "string" ? parsed : stored;
}
