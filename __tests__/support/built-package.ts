import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { dependencies, name } from "../../package.json";
import { ROOT } from "./docs";
import { npm } from "./npm";
import { makeOncePerRun } from "./once-per-run";

const run = promisify(execFile);

/** Returns a folder with the files of the tarball that `npm pack` builds. */
export async function packPackage(): Promise<string> {
  const made = await makeOncePerRun("packed", async (folder) => {
    await run(...npm("pack", "--pack-destination", folder), { cwd: ROOT });
    const [tarball = ""] = readdirSync(folder);
    await run("tar", ["-xzf", join(folder, tarball), "-C", folder]);
  });
  return join(made, "package");
}

/** Installs the packed tarball into the `node_modules` of a folder. */
export async function installPackage(folder: string): Promise<void> {
  const home = join(folder, "node_modules", name);
  mkdirSync(dirname(home), { recursive: true });
  cpSync(await packPackage(), home, { recursive: true });
  linkPackages(folder, Object.keys(dependencies));
}

/** Links packages of this repository into the `node_modules` of a folder. */
export function linkPackages(folder: string, packages: readonly string[]): void {
  for (const linked of packages) {
    const path = join(folder, "node_modules", linked);
    mkdirSync(dirname(path), { recursive: true });
    // On Windows, every user may make a junction.
    symlinkSync(join(ROOT, "node_modules", linked), path, "junction");
  }
}
