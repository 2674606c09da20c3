import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { exports } from "../../package.json";
import { packPackage } from "../support/built-package";

/** The files of the entries, and the packages whose types each may name. */
const ENTRIES = Object.values(exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [relative("dist", entry.types)],
);
const ALLOWED: Record<string, string[]> = { "admin/index.d.ts": ["express"] };

/** Lists the packages that a file of declarations imports, also by way of the files it imports. */
function listPackages(folder: string, first: string): string[] {
  const found = new Set<string>();
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
      else if (!name.startsWith("node:")) found.add(name);
    }
  }
  return [...found];
}

it.each(ENTRIES)("the declarations of %s reach no package but those they may", async (entry) => {
  const folder = join(await packPackage(), "dist");
  expect(listPackages(folder, entry)).toEqual(ALLOWED[entry] ?? []);
  // What the check finds elsewhere.
  expect(listPackages(folder, "durable/redis/connection.d.ts")).toContain("ioredis");
});
