import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { dependencies, name } from "../../package.json";
import { ROOT } from "./docs";
import { npm } from "./npm";
import { makeOncePerRun } from "./once-per-run";

const run = promisify(execFile);
/** What a build does not need, or other tests write at the same time. */
const LEFT_OUT = /^(node_modules|__tests__|dist|coverage|screenshots|\.(?!ci$).*)$/;

/** Returns a folder with the files of the tarball that `npm pack` builds. */
export async function packPackage(): Promise<string> {
  const made = await makeOncePerRun("packed", async (folder) => {
    // npm pack changes package.json meanwhile, which other tests read.
    const copy = join(folder, "copy");
    const filter = (path: string) => path === ROOT || !LEFT_OUT.test(basename(path));
    cpSync(ROOT, copy, { recursive: true, filter });
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"), "junction");
    await run(...npm("pack", "--pack-destination", folder), { cwd: copy });
    const tarball = readdirSync(folder).find((file) => file.endsWith(".tgz")) ?? "";
    await run("tar", ["-xzf", join(folder, tarball), "-C", folder]);
  });
  return join(made, "package");
}

export async function installPackage(folder: string): Promise<void> {
  const home = join(folder, "node_modules", name);
  mkdirSync(dirname(home), { recursive: true });
  cpSync(await packPackage(), home, { recursive: true });
  linkPackages(folder, Object.keys(dependencies));
}

export function linkPackages(folder: string, packages: readonly string[]): void {
  for (const linked of packages) {
    const path = join(folder, "node_modules", linked);
    mkdirSync(dirname(path), { recursive: true });
    // On Windows, every user may make a junction.
    symlinkSync(join(ROOT, "node_modules", linked), path, "junction");
  }
}
