import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readText, ROOT } from "../support/docs";

const PAGES = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/** Pronouns for an unnamed person, clauses in place of a noun, and personification. */
const BANNED = [
  "anybody",
  "asked of",
  "eaten",
  "heard of",
  "in vain",
  "makes? sure of",
  "nobody",
  "sa(?:id|ys) of",
  "sits? out",
  "somebody",
  "strangers?",
  "tells? of",
  "those who",
  "told of",
  "what bec[ao]mes? of",
  "what of",
  "whatever",
  "whichever",
  "whoever",
  "whosoever",
];
// A line break and the start of a comment line may stand between two words; `const what of` is code.
const PATTERN = new RegExp(
  `(?<!const )\\b(${BANNED.join("|")})\\b`.replaceAll(" ", "(?:\\s|\\*|//)+"),
  "gi",
);
const TEST_NAME = /\b(?:it|describe)\w*(?:\.each\([^]*?\]\))?\(\s*"((?:[^"\\]|\\.)+)"/g;
/** A request is rejected and gets a response. */
const WRONG_IN_TEST_NAMES = /\b(refuses?|answers|is answered)\b/g;

/** Finds words that a plain sentence never needs, in code, documents and names of tests. */
export function checkLanguage(): string[] {
  const inText = [...PAGES, ...listFiles("lib"), ...listFiles("docs"), ...listFiles("examples")];
  const inNames = listFiles("__tests__").filter((file) => /(\.test|contract)\.ts$/.test(file));
  return [
    ...inText.flatMap((file) => findBanned(file, readText(file))),
    ...inNames.flatMap((file) => {
      const names = Array.from(readText(file).matchAll(TEST_NAME), ([, name]) => name).join("\n");
      const wrong = names.match(WRONG_IN_TEST_NAMES) ?? [];
      return findBanned(file, names).concat(wrong.map((word) => `${file}: "${word}"`));
    }),
  ];
}

function listFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(tsx?|md|js|cjs|html|css)$/.test(file) && !file.includes("node_modules"))
    .map((file) => join(folder, file));
}

function findBanned(file: string, text: string): string[] {
  return [...text.matchAll(PATTERN)].map(({ 0: found, index }) => {
    const line = text.slice(0, index).split("\n").length;
    return `${file}:${line}: "${found.replaceAll(/(?:\s|\*|\/\/)+/g, " ")}"`;
  });
}
