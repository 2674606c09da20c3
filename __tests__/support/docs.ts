import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(__dirname, "..", "..");

export interface DocsBlock {
  /** Of the document and its place in it, such as `events-3`; also the name of its file. */
  name: string;
  code: string;
  /** The name of a comment `<!-- recipe: name -->` before it. */
  recipe: string | undefined;
}

/** README.md and the pages of docs that are written by hand. */
export const DOCUMENTS = [
  "README.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
];

/** Reads the code of `lib`. */
export const readLibrary = (): string =>
  readdirSync(join(ROOT, "lib"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readText(join("lib", file)))
    .join("\n");

export function readText(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

export function listBlocks(file: string, language = "ts"): DocsBlock[] {
  const fence = new RegExp(
    `(?:<!-- recipe: (\\w+) -->\\n\\n)?^\`\`\`${language}\\n([^]*?)^\`\`\`$`,
    "gm",
  );
  const prefix = file.replace(/^docs\/|\.md$/g, "").toLowerCase();
  return [...readText(file).matchAll(fence)].map(([, recipe, code = ""], index) => ({
    name: `${prefix}-${index + 1}`,
    code,
    recipe,
  }));
}

export function listRecipes(): DocsBlock[] {
  const folder = "examples/frameworks";
  return readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => {
      const name = file.replace(".ts", "");
      return { name, code: readText(`${folder}/${file}`), recipe: name };
    });
}

export function findRecipe(name: string): string {
  const blocks = [...listRecipes(), ...DOCUMENTS.flatMap((file) => listBlocks(file))];
  const found = blocks.find(({ recipe }) => recipe === name);
  if (found === undefined) throw new Error(`There is no recipe ${name}`);
  return found.code;
}

/** Returns the text of a document from one heading to the next of its level or a higher one. */
export function readSection(file: string, heading: string): string {
  const [, section] = readText(file).split(`\n${heading}\n`);
  if (section === undefined) throw new Error(`${file} has no heading ${heading}`);
  const [{ length: level } = ""] = heading.split(" ");
  return section.split(new RegExp(`^#{2,${level}} `, "m"))[0] ?? "";
}
