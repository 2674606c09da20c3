import { cutText, parseJson, toAsciiJson } from "../form/text";
import type { EventFailure } from "./durable-queue";

/** How many failed attempts of an event are kept. */
export const MAX_FAILURES = 10;
const MAX_ERROR_CHARACTERS = 1_000;

interface StoredFailure {
  at: number;
  error: string;
}

/** Writes a failed attempt that ends now, as JSON of ASCII characters. */
export function writeFailure(error: string): string {
  const failure: StoredFailure = { at: Date.now(), error: cutText(error, MAX_ERROR_CHARACTERS) };
  return toAsciiJson(failure);
}

/** Adds a failed attempt that ends now to the stored ones. */
export function addFailure(stored: string | null, error: string): string {
  const kept = parse(stored).slice(1 - MAX_FAILURES);
  return `[${[...kept.map(toAsciiJson), writeFailure(error)].join()}]`;
}

/** Reads the last failed attempts. */
export function readFailures(stored: string | null): EventFailure[] {
  return parse(stored).map(({ at, error }) => ({ at: new Date(at), error }));
}

function parse(stored: string | null): StoredFailure[] {
  const failures = stored === null ? [] : (parseJson(stored) as StoredFailure[]);
  return failures.slice(-MAX_FAILURES);
}
