import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";

const root = join(__dirname, "..");

/** Packages whose types an app must not need to have in order to compile against this package. */
const HIDDEN = ["zod", "bullmq", "ioredis"];

/** The entry points to walk from, and the packages whose types each may name. */
const ENTRIES: [entry: string, allowed: string[]][] = [["admin", ["express"]]];

let folder: string;

// Not `npm run build`: it removes dist/, which other tests pack at the same time.
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "push-declarations-"));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const settings = ["-p", join(root, "tsconfig.build.json")];
  const output = ["--emitDeclarationOnly", "--outDir", folder];
  await promisify(execFile)(process.execPath, [tsc, ...settings, ...output]);
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns each import of a package that a file of declarations reaches, over the files it imports. */
function listImports(first: string): { file: string; name: string }[] {
  const found: { file: string; name: string }[] = [];
  const files = new Set([join(folder, first)]);
  // Files that are added meanwhile are visited, too.
  for (const file of files) {
    const text = readFileSync(file, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
    const targets = text.matchAll(
      /\b(?:from|import|require)\s*\(?\s*"([^"]+)"|<reference types="([^"]+)"/g,
    );
    for (const [, target, reference] of targets) {
      const name = target ?? reference ?? "";
      if (name.startsWith(".")) files.add(`${join(dirname(file), name)}.d.ts`);
      else found.push({ file: relative(folder, file), name });
    }
  }
  return found;
}

describe.each(ENTRIES)("the declarations of %s", (entry, allowed) => {
  it(`reach no import of ${HIDDEN.join(", ")}`, () => {
    const hidden = listImports(`${entry}/index.d.ts`).filter(({ name }) =>
      HIDDEN.some((one) => name === one || name.startsWith(`${one}/`)),
    );
    expect(hidden).toEqual([]);
  });

  it(`reach no other package than ${allowed.join(", ")}`, () => {
    const names = new Set(listImports(`${entry}/index.d.ts`).map(({ name }) => name));
    expect([...names].filter((name) => !name.startsWith("node:"))).toEqual(allowed);
  });
});

it("finds the import of zod in a file that has one", () => {
  const found = { file: join("admin", "view.d.ts"), name: "zod" };
  expect(listImports("admin/view.d.ts")).toContainEqual(found);
});
