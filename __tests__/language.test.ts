/** Words that a plain sentence never needs are kept out of code and documents. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(__dirname, "..");
const PLACES = [
  "lib",
  "docs",
  "examples",
  "README.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
];

/** Pronouns for an unnamed person, clauses in place of a noun, and personification. */
const BANNED = [
  "anybody",
  "asked of",
  "eaten",
  "heard of",
  "in vain",
  "make sure of",
  "makes sure of",
  "nobody",
  "said of",
  "says of",
  "sit out",
  "sits out",
  "somebody",
  "stranger",
  "strangers",
  "tell of",
  "tells of",
  "those who",
  "told of",
  "what becomes of",
  "what became of",
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

function findBanned(text: string): string[] {
  return [...text.matchAll(PATTERN)].map(({ 0: found, index }) => {
    const line = text.slice(0, index).split("\n").length;
    return `${line}: ${found.replaceAll(/(?:\s|\*|\/\/)+/g, " ").toLowerCase()}`;
  });
}

const files = PLACES.flatMap((place) =>
  statSync(join(root, place)).isDirectory()
    ? readdirSync(join(root, place), { recursive: true, encoding: "utf8" })
        .filter((file) => /\.(ts|md|js|cjs|html|css)$/.test(file))
        .map((file) => join(place, file))
    : [place],
).filter((file) => !file.includes("node_modules"));

const testFiles = readdirSync(__dirname, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts") || file.endsWith("contract.ts"))
  .map((file) => join("__tests__", file))
  .filter((file) => !file.includes("node_modules"));
const TEST_NAME = /\b(?:it|describe)\w*(?:\.each\([^]*?\]\))?\(\s*"((?:[^"\\]|\\.)+)"/g;
/** A request is rejected and gets a response. */
const WRONG_IN_TESTS = /\b(refuses?|answers|is answered)\b/g;

describe("plain language", () => {
  it("checks code and documents", () => {
    expect(files.filter((file) => file.startsWith("lib")).length).toBeGreaterThan(100);
    expect(files).toContain("README.md");
  });

  it.each(files)("%s has no banned words", (file) => {
    expect(findBanned(readFileSync(join(root, file), "utf8"))).toEqual([]);
  });

  it.each(testFiles)("%s has plain names of tests", (file) => {
    const matches = readFileSync(join(root, file), "utf8").matchAll(TEST_NAME);
    const names = Array.from(matches, ([, name]) => name).join("\n");
    expect([...findBanned(names), ...(names.match(WRONG_IN_TESTS) ?? [])]).toEqual([]);
  });

  it.each([
    ["The body was eaten.", ["1: eaten"]],
    ["a\n * What\n * of the rest", ["2: what of"]],
    ["// those\n// who wait", ["1: those who"]],
    ["Whoever calls", ["1: whoever"]],
    ["strangeness, a beaten path, for (const what of list)", []],
  ])("finds the banned words of %j", (text, found) => {
    expect(findBanned(text)).toEqual(found);
  });
});
