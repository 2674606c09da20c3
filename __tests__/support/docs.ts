import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(__dirname, "..", "..");

/** A block of TypeScript in a document. */
export interface DocsBlock {
  /** Of the document and its place in it, such as `tasks-3`; also the name of its file. */
  name: string;
  code: string;
}

/** README.md and the files of docs. */
export const DOCUMENTS = [
  "README.md",
  ...readdirSync(join(root, "docs")).map((file) => `docs/${file}`),
];

/** Reads a file of the repository. */
export function readText(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** Lists the blocks of a language in a document, in order. */
export function listBlocks(file: string, language = "ts"): DocsBlock[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm");
  const prefix = file.replace(/^docs\/|\.md$/g, "").toLowerCase();
  return [...readText(file).matchAll(fence)].map(([, code = ""], index) => ({
    name: `${prefix}-${index + 1}`,
    code,
  }));
}

/** Returns the text of a document from one heading to the next of its level. */
export function readSection(file: string, heading: string): string {
  const [, section] = readText(file).split(`\n${heading}\n`);
  if (section === undefined) throw new Error(`${file} has no heading ${heading}`);
  const [level = ""] = heading.split(" ");
  return section.split(`\n${level} `)[0] ?? "";
}
