import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { exports } from "../../package.json";
import { packPackage } from "../support/built-package";

/** The files of the entries, and the packages whose types each may name. */
const ENTRIES = Object.values(exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [relative("dist", entry.types)],
);
const ALLOWED: Record<string, string[]> = { "admin/index.d.ts": ["express"] };

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

it.each(ENTRIES)("the declarations of %s reach no package but those it may", (entry) => {
  const names = new Set(listImports(entry).map(({ name }) => name));
  expect([...names].filter((name) => !name.startsWith("node:"))).toEqual(ALLOWED[entry] ?? []);
});

it.each([
  ["zod", "validation/zod.d.ts"],
  ["ioredis", "durable/redis/connection.d.ts"],
])("finds the import of %s in %s", (name, file) => {
  expect(listImports(file)).toContainEqual({ file: join(...file.split("/")), name });
});
