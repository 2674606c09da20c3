import { readFile } from "node:fs/promises";
import * as z from "../validation/zod";
import { parseJson } from "../form/text";
import type { Capture } from "../observability/reporter";
import { UsageError } from "./arguments";

const captureSchema = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string(),
});

/** Reads a file of captures. @throws UsageError for a file without any, or a line that is none. */
export async function readCaptures(file: string): Promise<Capture[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UsageError(`The file of captures ${file} cannot be read.`, { cause: error });
  });
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new UsageError(`${file} has no capture.`);
  return lines.map((line, index) => {
    const capture = captureSchema.safeParse(parseJson(line));
    if (capture.success) return capture.data;
    throw new UsageError(
      `${file}, line ${index + 1}: a capture is a JSON object with method, url, headers (a list of pairs) and body (base64).`,
    );
  });
}

/** Replaces the value of entity_identity; the signature no longer matches then. */
export function hideIdentity(form: string): string {
  return form.replaceAll(/((?:^|[?&])entity_identity=)[^&#]*/g, "$1masked");
}
