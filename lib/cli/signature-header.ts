import { UsageError } from "./usage-error";

const DEFAULT_NAME = "x-service-signature";

/**
 * Returns the value of the signature header among header lines such as `Name: value`; undefined when
 * there is none. A line without a name is a value of the signature header.
 *
 * Without `name`, the header is the only line, else X-Service-Signature, else the one header whose
 * name ends with `-signature`. A repeated header has its values joined, as Node.js joins them.
 *
 * @throws UsageError when several headers may be the signature header.
 */
export function findSignature(lines: readonly string[], name?: string): string | undefined {
  const headers = lines.map(parseLine);
  if (name === undefined && headers.length === 1) return headers[0]?.value;
  const names = new Set(headers.map((header) => header.name));
  const chosen = name?.toLowerCase() ?? chooseName([...names]);
  const values = headers.filter((header) => header.name === chosen || header.name === "");
  return values.length === 0 ? undefined : values.map(({ value }) => value).join(", ");
}

function chooseName(names: string[]): string | undefined {
  if (names.includes("")) return "";
  if (names.includes(DEFAULT_NAME)) return DEFAULT_NAME;
  const candidates = names.filter((name) => name.endsWith("-signature"));
  if (candidates.length > 1) {
    throw new UsageError(
      `Several headers may hold the signature: ${candidates.join(", ")}. Name the one that the service signs with in --signature-header.`,
    );
  }
  return candidates[0];
}

function parseLine(line: string): { name: string; value: string } {
  const [, name = "", value = line] = /^([\w-]+):\s*(.*)$/s.exec(line) ?? [];
  return { name: name.toLowerCase(), value };
}
