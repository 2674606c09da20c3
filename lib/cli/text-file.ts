import { readFile } from "node:fs/promises";
import { printNote, type Terminal } from "./terminal";
import { UsageError } from "./arguments";

/** How files of Windows begin: with a byte order mark, or with one half of a character of UTF-16. */
const ENCODINGS: readonly (readonly [begins: RegExp, name: string, label: string])[] = [
  [/^\xEF\xBB\xBF/, "UTF-8 with a byte order mark", "utf-8"],
  [/^(?:\xFF\xFE|[^\0]\0)/s, "UTF-16, as the > of Windows PowerShell 5.1 writes it", "utf-16le"],
  [/^(?:\xFE\xFF|\0[^\0])/s, "UTF-16", "utf-16be"],
];

/** Reads a file that editors and shells of any platform may have written; its bytes are UTF-8. */
export async function readTextFile(
  terminal: Terminal,
  flag: string,
  file: string,
): Promise<Buffer> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new UsageError(`${flag} ${file} cannot be read.`, { cause: error });
  });
  const start = bytes.toString("latin1", 0, 3);
  const [, name, label] = ENCODINGS.find(([begins]) => begins.test(start)) ?? [];
  if (name === undefined) return bytes;
  printNote(terminal, `${file} is ${name}. Its text is read as UTF-8.`);
  return Buffer.from(new TextDecoder(label).decode(bytes));
}
