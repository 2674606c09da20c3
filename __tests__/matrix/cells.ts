import { readdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { listResolutions, ROOT, type App, type Neighbours } from "./versions";
import { runCommand, type Workshop } from "./workshop";

// The imports of a suite are resolved from its app, wherever Jest itself is.
// A busy machine starts Express in more than the five seconds of Jest's default.
const JEST = [join(ROOT, "node_modules", "jest", "bin", "jest.js"), "--testTimeout=60000"];

// Declarations of other packages are read in full, too: skipLibCheck is off.
const STRICT =
  "--noEmit --strict --exactOptionalPropertyTypes --esModuleInterop --target es2022 --types node";

const POSTGRES_SUITES = join("__tests__", "durable", "postgres");

/** One thing that must work. */
export interface Cell {
  name: string;
  /** Rejects with the failure. */
  run(): Promise<unknown>;
}

/** The part of all supported versions that is tested. */
export interface Plan {
  nodes?: number[];
  apps?: App[];
  typescripts?: string[];
  /** The apps whose types are read; by default all. */
  typedApps?: App[];
  postgreses?: string[];
  installs?: Neighbours[];
}

/** Every cell of a plan; cells that others need come first. */
export function listCells(plan: Plan, workshop: Workshop): Cell[] {
  const { nodes = [], apps = [], typescripts = [], typedApps = apps } = plan;
  const { postgreses = [], installs = [] } = plan;
  const install = (name: string, run: () => Promise<string>) => {
    return { name: `${name} · install`, run };
  };
  return [
    { name: "tarball · pack", run: () => workshop.pack() },
    ...typescripts.map((one) =>
      install(`typescript ${one}`, () => workshop.installTypescript(one)),
    ),
    ...nodes.map((major) => install(`node ${major}`, () => workshop.installNode(major))),
    ...apps.map((app) => install(app.name, () => workshop.installApp(app))),
    ...postgreses.map((one) => install(`postgres ${one}`, () => workshop.installPostgres(one))),
    ...nodes.flatMap((major) => apps.flatMap((app) => listRuns(major, app, workshop))),
    ...typescripts.flatMap((version) =>
      typedApps.flatMap((app) => listCompilations(version, app, workshop)),
    ),
    ...postgreses.flatMap((version) => listSuites(version, workshop)),
    ...installs.map((neighbours) => ({
      name: `${neighbours.manager} · beside ${neighbours.packages.join(", ")}`,
      run: async () => {
        const cwd = await workshop.installBeside(neighbours);
        await runStory(process.execPath, "require.cjs", neighbours.folder, cwd);
      },
    })),
  ];
}

function listRuns(major: number, app: App, workshop: Workshop): Cell[] {
  const cell = (name: string, run: (node: string, cwd: string) => Promise<unknown>): Cell => ({
    name: `node ${major} · ${app.name} · ${name}`,
    run: async () => run(await workshop.installNode(major), await workshop.installApp(app)),
  });
  const suite = (name: string, file: string, ...flags: string[]) =>
    cell(name, (node, cwd) => runCommand(node, [...flags, ...JEST, `app/${file}`], { cwd }));
  const suites = [
    suite("jest", "suite.test.js"),
    suite("jest esm", "suite.test.mjs", "--experimental-vm-modules"),
  ];
  return [
    cell("cjs", (node, cwd) => runStory(node, "require.cjs", app.folder, cwd)),
    cell("esm", (node, cwd) => runStory(node, "import.mjs", app.folder, cwd)),
    cell("push-webhooks", showHelp),
    ...(app.folder === "express" ? suites : []),
  ];
}

async function runStory(node: string, file: string, folder: string, cwd: string): Promise<void> {
  const args = ["--throw-deprecation", join("app", file), folder];
  const told = await runCommand(node, args, { cwd });
  // A process whose promise never settles ends with 0 as well.
  if (told !== "told\n") throw new Error(`${file} ended early: ${told}`);
}

async function showHelp(node: string, cwd: string): Promise<void> {
  const env = { ...process.env, PATH: dirname(node) + delimiter + (process.env.PATH ?? "") };
  const bin = join("node_modules", ".bin", "push-webhooks");
  const help = await runCommand(bin, ["--help"], { cwd, env });
  if (!help.startsWith("Usage: push-webhooks")) throw new Error(`push-webhooks said: ${help}`);
}

function listCompilations(version: string, app: App, workshop: Workshop): Cell[] {
  if (Number(version) < app.minTypescript) return [];
  return listResolutions(Number(version)).map(([name, files, args]) => ({
    name: `typescript ${version} · ${app.name} · ${name}`,
    async run() {
      const tsc = await workshop.installTypescript(version);
      const cwd = await workshop.installApp(app);
      const paths = files.map((file) => join("app", app.folder, file));
      const all = [tsc, ...`${STRICT} ${args}`.split(" "), ...paths];
      await runCommand(process.execPath, all, { cwd });
    },
  }));
}

/** The suites of the queue in Postgres, on this Node and the sources of this repository. */
function listSuites(postgres: string, workshop: Workshop): Cell[] {
  return readdirSync(join(ROOT, POSTGRES_SUITES)).map((file) => ({
    name: `postgres ${postgres} · ${file}`,
    run: async () => {
      const binaries = await workshop.installPostgres(postgres);
      const env = { ...process.env, PUSH_TEST_POSTGRES_BIN: binaries };
      const args = [...JEST, join(POSTGRES_SUITES, file)];
      return runCommand(process.execPath, args, { cwd: ROOT, env });
    },
  }));
}
