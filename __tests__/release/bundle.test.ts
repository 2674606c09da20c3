/** Apps of one entry each, bundled into one file that runs where no package is installed. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, type Format } from "esbuild";
import { signedRequest } from "express-push-verification/testing";
import { installPackage, linkPackages } from "../support/built-package";
import { ROOT } from "../support/docs";
import { findNodeWithSqlite } from "../support/node-24";
import { AUTH_TOKEN as authToken, PUBLIC_URL as publicUrl } from "../support/webhook-requests";

const run = promisify(execFile);
const NAME = "express-push-verification";
const FRAMEWORKS = join(ROOT, "examples", "frameworks");
/** The bundled packages are CommonJS: they call `require` for the modules of Node.js. */
const BANNER =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

const request = signedRequest({ authToken, publicUrl }, "challenge.approved");
const settings = JSON.stringify({ authToken, publicUrl });
/** The code of each app, the line that it prints, and the packages that it installs. */
const APPS: Record<string, [code: string, printed: string, packages: string[]]> = {
  function: [
    `import { verifyPushRequest } from "${NAME}";
    verifyPushRequest(${JSON.stringify(request)}, ${settings}).then(({ type }) => console.log(type));`,
    "challenge.approved",
    [],
  ],
  receiver: [
    `import { pushWebhooks } from "${NAME}";
    console.log(pushWebhooks(${settings}).onAny(() => {}).handledTypes().length);`,
    "5",
    [],
  ],
  sqlite: [
    `import { sqliteQueue } from "${NAME}/durable/sqlite";
    const queue = sqliteQueue({ name: "bundle", file: process.argv[2] });
    queue.ready().then(() => queue.close()).then(() => console.log("closed"));`,
    "closed",
    [],
  ],
  redis: [
    `import { redisQueue } from "${NAME}/durable/redis";
    const queue = redisQueue({ name: "bundle", connection: "redis://127.0.0.1:1" });
    queue.close().then(() => console.log("closed"));`,
    "closed",
    ["bullmq", "ioredis"],
  ],
  postgres: [
    `import { postgresQueue } from "${NAME}/durable/postgres";
    const queue = postgresQueue({ name: "bundle", connection: "postgres://127.0.0.1:1/a" });
    queue.close().then(() => console.log("closed"));`,
    "closed",
    ["pg"],
  ],
};

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "push-bundle-"));
  await installPackage(folder);
  // The app of each entry has only its own dependencies.
  for (const [name, [code, , packages]] of Object.entries(APPS)) {
    cpSync(join(folder, "node_modules"), join(folder, name, "node_modules"), { recursive: true });
    linkPackages(join(folder, name), packages);
    writeFileSync(join(folder, name, "app.mjs"), code);
  }
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Bundles an app into one minified file; returns its path. */
type Bundle = (app: string, output: string) => Promise<string>;

const bundleWith =
  (format: Format): Bundle =>
  async (app, output) => {
    const outfile = join(output, `app.${format === "esm" ? "mjs" : "cjs"}`);
    await build({
      entryPoints: [app],
      outfile,
      bundle: true,
      minify: true,
      platform: "node",
      target: "node20",
      format,
      logLevel: "error",
      ...(format === "esm" && { banner: { js: BANNER } }),
    });
    return outfile;
  };

/** Runs a script of a bundler of examples/frameworks, with the paths of the app and its bundle. */
const bundleByScript =
  (script: string, file = "app.cjs"): Bundle =>
  async (app, output) => {
    const outfile = join(output, file);
    const text = `(async ([app, outfile]) => {${script}})(process.argv.slice(1))`;
    await run(process.execPath, ["-e", text, app, outfile], { cwd: FRAMEWORKS });
    return outfile;
  };

const ROLLUP = `
  const bundle = await require("rollup").rollup({
    input: app,
    plugins: [
      require("@rollup/plugin-node-resolve").default({ preferBuiltins: true }),
      require("@rollup/plugin-commonjs").default(),
      require("@rollup/plugin-json").default(),
    ],
    onwarn() {},
  });
  await bundle.write({ file: outfile, format: outfile.endsWith(".mjs") ? "es" : "cjs" });`;
const WEBPACK = `
  const { basename, dirname } = require("node:path");
  const output = { path: dirname(outfile), filename: basename(outfile) };
  require("webpack")({ mode: "production", target: "node20", entry: app, output }, (error, stats) => {
    if (error ?? stats.hasErrors()) throw error ?? new Error(stats.toString());
  });`;
/** It writes an ES module for an app that is one. */
const NCC = `
  const { code } = await require("@vercel/ncc")(app, { minify: true, quiet: true, cache: false });
  require("node:fs").writeFileSync(outfile, code);`;

/** The bundlers, the apps that each bundles, since some take many seconds, and its package. */
const BUNDLERS: [name: string, bundle: Bundle, apps: string[], needed: string][] = [
  ["esbuild, CommonJS", bundleWith("cjs"), Object.keys(APPS), ""],
  ["esbuild, ES modules", bundleWith("esm"), Object.keys(APPS), ""],
  ["rollup", bundleByScript(ROLLUP, "app.mjs"), ["sqlite"], "rollup"],
  ["webpack", bundleByScript(WEBPACK), ["sqlite"], "webpack"],
  ["ncc", bundleByScript(NCC, "app.mjs"), ["sqlite"], "@vercel/ncc"],
];

describe.each(BUNDLERS)("%s", (_name, bundle, apps, needed) => {
  const isInstalled = needed === "" || existsSync(join(FRAMEWORKS, "node_modules", needed));
  (isInstalled ? it : it.skip).each(apps)(
    "a bundle of the app %s runs",
    async (name) => {
      const node = name === "sqlite" ? findNodeWithSqlite() : process.execPath;
      if (node === undefined) throw new Error("There is no Node.js with node:sqlite.");
      const output = mkdtempSync(join(folder, "bundled-"));
      const outfile = await bundle(join(folder, name, "app.mjs"), output);
      const { stdout } = await run(node, [outfile, join(output, "push.db")], { cwd: tmpdir() });
      expect(stdout).toBe(`${APPS[name]?.[1]}\n`);
      if (name === "receiver") expect(statSync(outfile).size).toBeLessThan(150_000);
    },
    120_000,
  );
});
