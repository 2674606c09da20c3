import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { packPackage } from "../support/built-package";

const root = join(__dirname, "..", "..");

/** The entry points to walk from, and the packages whose types each may name. */
const ENTRIES: [entry: string, allowed: string[]][] = [
  [".", []],
  ["admin", ["express"]],
  ["durable", []],
  ["durable/sqlite", []],
  ["durable/redis", []],
  ["durable/postgres", []],
  ["emulator", []],
  ["otel", []],
  ["testing", []],
];

let folder: string;

beforeAll(async () => {
  folder = join(await packPackage(), "dist");
});

/** Returns each import of a package that a file of declarations reaches, over the files it imports. */
function listImports(first: string): { file: string; name: string }[] {
  const found: { file: string; name: string }[] = [];
  const files = new Set([join(folder, first)]);
  // Files that are added meanwhile are visited, too.
  for (const file of files) {
    const text = readFileSync(file, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
    const targets = text.matchAll(
      /(?<!")\b(?:from|import|require)\s*\(?\s*"([^"\s]+)"|<reference types="([^"]+)"/g,
    );
    for (const [, target, reference] of targets) {
      const name = target ?? reference ?? "";
      const path = join(dirname(file), name);
      if (name === "..") files.add(join(path, "index.d.ts"));
      else if (name.startsWith(".")) files.add(`${path}.d.ts`);
      else found.push({ file: relative(folder, file), name });
    }
  }
  return found;
}

describe.each(ENTRIES)("the declarations of %s/index", (entry, allowed) => {
  it(`reach no package but ${allowed.length === 0 ? "those of Node.js" : allowed.join(", ")}`, () => {
    const names = new Set(listImports(`${entry}/index.d.ts`).map(({ name }) => name));
    expect([...names].filter((name) => !name.startsWith("node:"))).toEqual(allowed);
  });
});

it.each([
  ["zod", "validation/zod.d.ts"],
  ["ioredis", "durable/redis/connection.d.ts"],
])("finds the import of %s in %s", (name, file) => {
  expect(listImports(file)).toContainEqual({ file: join(...file.split("/")), name });
});

it("walks the declarations of every entry of package.json", () => {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, string | { types: string }>;
  };
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [entry.types],
  );
  const walked = ENTRIES.map(([entry]) => `./${join("dist", entry, "index.d.ts")}`);
  expect(walked.toSorted()).toEqual(entries.toSorted());
});
