import { Option } from "commander";
import { isHttpUrl } from "../form/url";

/** Mistake in the arguments or the environment; ends the program with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Creates an option that takes one of these values; without `byDefault`, it may be left out. */
export function choice(flags: string, what: string, values: readonly string[], byDefault?: string) {
  return new Option(flags, what).choices(values).default(byDefault);
}

/** Asserts that an argument is an absolute http or https URL. @throws UsageError for any other. */
export function assertUrl(flag: string, url: string): void {
  if (isHttpUrl(url)) return;
  throw new UsageError(
    `${flag} must be an absolute http or https URL; received ${JSON.stringify(url)}.`,
  );
}

/** Reads an argument that is a port. @throws UsageError for any other text. */
export function readPort(text: string): number {
  if (/^\d+$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(
    `--port must be a number from 0 to 65535; received ${JSON.stringify(text)}.`,
  );
}
