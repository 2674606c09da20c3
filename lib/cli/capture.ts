import { readFile } from "node:fs/promises";
import { parseJson } from "../form/text";
import type { Capture } from "../observability/reporter";
import { UsageError } from "./usage-error";

/** Reads a file of captures. @throws UsageError for a file without any, or a line that is none. */
export async function readCaptures(file: string): Promise<Capture[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UsageError(`The file of captures ${file} cannot be read.`, { cause: error });
  });
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new UsageError(`${file} has no capture.`);
  return lines.map((line, index) => {
    const capture = parseJson(line);
    if (isCapture(capture)) return capture;
    throw new UsageError(
      `${file}, line ${index + 1}: a capture is a JSON object with method, url, headers (a list of pairs) and body (base64).`,
    );
  });
}

function isCapture(value: unknown): value is Capture {
  const { method, url, headers, body } = Object(value) as Partial<Capture>;
  const isText = [method, url, body].every((text) => typeof text === "string");
  return isText && Array.isArray(headers) && headers.every(isHeader);
}

function isHeader(pair: unknown): boolean {
  return Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string");
}

/** Replaces the value of entity_identity; the signature no longer matches then. */
export function hideIdentity(form: string): string {
  return form.replaceAll(/((?:^|[?&])entity_identity=)[^&#]*/g, "$1masked");
}
