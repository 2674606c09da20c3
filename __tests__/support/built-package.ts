import { execFile } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { dependencies, name } from "../../package.json";
import { ROOT } from "./docs";

const run = promisify(execFile);

/** Installs the package into the `node_modules` of a folder, as `npm run build` builds it. */
export async function installPackage(folder: string): Promise<void> {
  const home = join(folder, "node_modules", name);
  mkdirSync(home, { recursive: true });
  cpSync(join(ROOT, "package.json"), join(home, "package.json"));
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  await run(process.execPath, [tsc, "-p", ROOT, "--outDir", join(home, "dist")]);
  const schema = `--outfile=${join(home, "dist/event/schema.js")}`;
  await run("npm", ["run", "build:schema", "--", schema], { cwd: ROOT });
  linkPackages(folder, Object.keys(dependencies));
}

/** Links packages of this repository into the `node_modules` of a folder. */
export function linkPackages(folder: string, packages: readonly string[]): void {
  for (const linked of packages) {
    const path = join(folder, "node_modules", linked);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", linked), path);
  }
}
