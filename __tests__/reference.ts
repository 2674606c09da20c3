/** Compares docs/api with what the generator makes of the code now: `npm run check:reference`. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./support/docs";

const written = join(ROOT, "docs", "api");
const made = join(ROOT, "node_modules", ".cache", "api");
const generator = join(ROOT, "docs", "node_modules", "typedoc", "bin", "typedoc");

const args = [generator, "--options", join(ROOT, "docs", "typedoc.json"), "--out", made];
execFileSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
const read = (folder: string, file: string) =>
  existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : undefined;
const files = new Set([written, made].flatMap((folder) => readdirSync(folder)));
const changed = [...files].filter((file) => read(written, file) !== read(made, file));
for (const file of changed) console.log(`docs/api/${file} differs: run npm run docs.`);
process.exitCode = changed.length === 0 ? 0 : 1;
