/** The packed tarball: its files, and apps of one entry each, bundled into one file that runs alone. */
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { signedRequest } from "express-push-verification/testing";
import { dependencies, name as NAME, scripts } from "../../package.json";
import { installPackage, linkPackages } from "../support/built-package";
import { ROOT } from "../support/docs";
import { needs } from "../support/needs";
import { findNodeWithSqlite } from "../support/node-24";
import { AUTH_TOKEN as authToken, PUBLIC_URL as publicUrl } from "../support/webhook-requests";

const run = promisify(execFile);
const FRAMEWORKS = join(ROOT, "examples", "frameworks");

const request = signedRequest({ authToken, publicUrl }, "challenge.approved");
const settings = JSON.stringify({ authToken, publicUrl });
const APPS: Record<string, [code: string, printed: string, packages: string[]]> = {
  receiver: [
    `import { pushWebhooks, verifyPushRequest } from "${NAME}";
    const { length } = pushWebhooks(${settings}).onAny(() => {}).handledTypes();
    verifyPushRequest(${JSON.stringify(request)}, ${settings}).then(({ type }) => console.log(type, length));`,
    "challenge.approved 5",
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
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the packed tarball", () => {
  it("depends on body-parser, commander and zod only", () => {
    expect(dependencies).toEqual({ "body-parser": "^2.4.0", commander: "^14.0.0", zod: "^4.6.0" });
  });

  it("has no scripts, of which npm would warn", () => {
    const file = join(folder, "node_modules", NAME, "package.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).not.toHaveProperty("scripts");
  });

  it("is made by prepare in an install from git", () => {
    expect(scripts).toHaveProperty("prepare");
  });

  it("holds only the build, the documents and the examples", () => {
    const home = join(folder, "node_modules", NAME);
    const files = readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(home, join(entry.parentPath, entry.name)));
    const known =
      /^(dist\/.+\.(js|d\.ts)|dist\/admin\/console\/assets\/(page\.(html|css)|icon\.svg)|docs\/.+\.(md|png)|examples\/(.+\.(tsx?|c?js|html|css|svg|md|yaml|conf)|deploy\/Dockerfile))$/;
    expect(files.filter((file) => !known.test(file)).toSorted()).toEqual([
      "CHANGELOG.md",
      "CONTRIBUTING.md",
      "LICENSE",
      "README.md",
      "SECURITY.md",
      "dist/admin/console/assets/preact.LICENSE",
      "dist/core/event/zod.LICENSE",
      "package.json",
    ]);
  });

  it("is the same module for import and require without express", async () => {
    const script = `import { createRequire } from "node:module"; import { WebhookError } from "${NAME}";
      const require = createRequire(process.cwd() + "/x");
      const loaded = Object.keys(require.cache).filter((file) => /node_modules.express.(?!push)/.test(file));
      console.log(require("${NAME}").WebhookError === WebhookError, loaded.length);`;
    const args = ["--input-type=module", "-e", script];
    const { stdout } = await run(process.execPath, args, { cwd: folder });
    expect(stdout).toBe("true 0\n");
  });
});

// Each script of a bundler has the paths of an app, `app`, and of its bundle, `outfile`.
const ESBUILD = `
  const isModule = outfile.endsWith(".mjs");
  const format = isModule ? "esm" : "cjs";
  const settings = { platform: "node", target: "node20", bundle: true, minify: true, format };
  // The bundled packages are CommonJS: they call require for the modules of Node.js.
  const js = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
  const banner = isModule ? { js } : {};
  await require("esbuild").build({ entryPoints: [app], outfile, ...settings, banner });`;
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

/** The bundlers, begun by the name of their package, and the apps: some take many seconds for one. */
const BUNDLERS: [name: string, script: string, file: string, apps: string[]][] = [
  ["esbuild, CommonJS", ESBUILD, "app.cjs", Object.keys(APPS)],
  ["esbuild, ES modules", ESBUILD, "app.mjs", Object.keys(APPS)],
  ["rollup", ROLLUP, "app.mjs", ["sqlite"]],
  ["webpack", WEBPACK, "app.cjs", ["sqlite"]],
  ["@vercel/ncc", NCC, "app.mjs", ["sqlite"]],
];

describe.each(BUNDLERS)("%s", (bundler, script, file, apps) => {
  const packages = join(FRAMEWORKS, "node_modules", bundler);
  const isThere = bundler.startsWith("esbuild") || existsSync(packages);
  for (const name of apps) {
    needs(isThere, "npm run frameworks").it(`a bundle of the app ${name} runs`, async () => {
      const node = name === "sqlite" ? findNodeWithSqlite() : process.execPath;
      if (node === undefined) throw new Error("There is no Node.js with node:sqlite.");
      const output = mkdtempSync(join(folder, "bundled-"));
      const outfile = join(output, file);
      const text = `(async ([app, outfile]) => {${script}})(process.argv.slice(1))`;
      const args = ["-e", text, join(folder, name, "app.mjs"), outfile];
      await run(process.execPath, args, { cwd: FRAMEWORKS });
      const { stdout } = await run(node, [outfile, join(output, "push.db")], { cwd: tmpdir() });
      expect(stdout).toBe(`${APPS[name]?.[1]}\n`);
      if (name === "receiver") expect(statSync(outfile).size).toBeLessThan(172_000);
    });
  }
});
