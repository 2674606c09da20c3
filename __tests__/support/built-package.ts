import { execFile } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { dependencies, name } from "../../package.json";
import { ROOT } from "./docs";
import { makeOncePerRun } from "./once-per-run";

const run = promisify(execFile);

/** Returns a folder with what `npm run build` writes into dist, without the page of the console. */
export function buildPackage(): Promise<string> {
  // Not `npm run build`: it removes dist/, which other tests pack at the same time.
  return makeOncePerRun("dist", async (folder) => {
    const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    await run(process.execPath, [tsc, "-p", ROOT, "--outDir", folder]);
    await run("npm", ["run", "build:zod", "--", `--outdir=${folder}`], { cwd: ROOT });
    const thread = join(ROOT, "lib", "durable", "sqlite", "build-thread.js");
    await run(process.execPath, [thread, join(folder, "durable", "sqlite")]);
  });
}

/** Installs the package into the `node_modules` of a folder, as `npm run build` builds it. */
export async function installPackage(folder: string): Promise<void> {
  const home = join(folder, "node_modules", name);
  mkdirSync(home, { recursive: true });
  cpSync(join(ROOT, "package.json"), join(home, "package.json"));
  cpSync(await buildPackage(), join(home, "dist"), { recursive: true });
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
