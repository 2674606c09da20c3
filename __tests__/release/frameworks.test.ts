/**
 * The recipes of examples/frameworks, each in a process of its own, with the built package and the
 * packages of that folder.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { transform } from "@swc/core";
import { build } from "esbuild";
import {
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  PUBLIC_URL,
  type TestRequest,
} from "../support/webhook-requests";
import { eventFixture } from "express-push-verification/testing";
import { findNodeWithSqlite } from "../support/node-24";
import { installPackage } from "../support/built-package";
import { findRecipe, listRecipes, readSection, ROOT } from "../support/docs";
import { findFreePort, untilListening } from "../support/ports";
import { send } from "../support/servers";

const home = join(ROOT, "examples", "frameworks");
const folder = join(home, ".recipes");
const run = promisify(execFile);
const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
const env = { ...process.env, PUSH_AUTH_TOKEN: AUTH_TOKEN, PUSH_PUBLIC_URL: PUBLIC_URL };

const bin = (...path: string[]) => join(home, "node_modules", ...path);
const gateway = join(__dirname, "..", "support", "gateway.cjs");

const good = { ...eventRequest("challenge.approved"), path: "/webhooks/push" };
const typed = (type: string) => ({ ...good, headers: { ...good.headers, "content-type": type } });
const form = { "content-type": "application/x-www-form-urlencoded" };

/** The requests of the list in the documents. */
const REQUESTS: Record<string, TestRequest> = {
  good,
  "good, again": good,
  "form-urlencoded": typed(form["content-type"]),
  "wrong signature": { ...good, body: "x=1" },
  "no signature": { ...good, headers: form },
  JSON: typed("application/json"),
  gzip: { ...good, headers: { ...good.headers, "content-encoding": "gzip" } },
  "70 kB": { ...good, body: `a=${"a".repeat(70_000)}` },
  "%zz": { ...good, body: "a=%zz" },
  "no challenge_sid": eventRequest("challenge.approved", { challenge_sid: undefined }),
  GET: eventRequest("factor.created", {}, { method: "GET" }),
};

interface App {
  /** Node.js by default. */
  command?: string | undefined;
  /** PORT is replaced. */
  args: string[];
  path?: string;
  /** What it responds by itself. */
  statuses?: Record<string, number>;
  build?: () => Promise<void>;
}

/** Both routers are of one app, which is built once. */
let nextBuilt: Promise<void> | undefined;
const NEXT = [bin("next/dist/bin/next"), "start", "next-app", "--hostname", "127.0.0.1"];

/** How each recipe is built and started. */
const APPS: Record<string, App> = {
  Fastify: { args: ["fastify.js"] },
  Hono: { args: ["hono.js"] },
  Koa: { args: ["koa.js"] },
  NestJS: { args: ["nest.js"] },
  "Next.js, App Router": { args: NEXT, build: () => (nextBuilt ??= buildNext()) },
  "Next.js, Pages Router": {
    args: NEXT,
    path: "/api/push",
    build: () => (nextBuilt ??= buildNext()),
  },
  SvelteKit: { args: ["svelte-app/build/index.js"], build: buildSvelte },
  "Lambda, HTTP API": { args: [gateway, "http_api", join(folder, "lambda.js")] },
  "Lambda, REST API": { args: [gateway, "rest_api", join(folder, "lambda.js")] },
  "Lambda, load balancer": { args: [gateway, "load_balancer", join(folder, "lambda.js")] },
  "Google functions": {
    args: [bin("@google-cloud/functions-framework/build/src/main.js"), "--target=push"],
    statuses: { JSON: 400, gzip: 400 },
    build: () => writeModule("index.js", 'require("./google.js");'),
  },
  "Nest on Fastify": { args: ["nest_fastify.js"] },
  // Astro needs Node.js 22.
  Astro: {
    command: findNodeWithSqlite(),
    args: ["astro-app/dist/server/entry.mjs"],
    build: buildAstro,
  },
  "Express on Lambda": { args: [gateway, "http_api", join(folder, "lambda_express.js")] },
  "Cloudflare Workers": {
    command: bin("@cloudflare/workerd-linux-64/bin/workerd"),
    args: ["serve", "worker.capnp", "--socket-addr", "http=127.0.0.1:PORT"],
    build: buildWorker,
  },
  Bun: { command: bin("@oven/bun-linux-x64/bin/bun"), args: ["edge.mjs"], build: writeEdge },
  Deno: {
    command: bin("@deno/linux-x64-glibc/deno"),
    args: [
      "serve",
      "--allow-all",
      "--no-lock",
      "--host",
      "127.0.0.1",
      "--port",
      "PORT",
      "edge.mjs",
    ],
    build: writeEdge,
  },
  "Vercel functions": { args: [gateway, "vercel", join(folder, "edge.mjs")], build: writeEdge },
  "Azure functions": { args: [gateway, "azure", join(folder, "azure.js")] },
};

async function writeModule(file: string, text: string): Promise<void> {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** Writes a recipe as an ES module without types, as the compiler of a framework sees it. */
async function writeRoute(file: string, text: string): Promise<void> {
  // Next.js reads `export const` in the text: a compiler must leave it as it is.
  const { code } = await transform(text, {
    jsc: { parser: { syntax: "typescript" }, target: "es2023" },
  });
  await writeModule(file, code);
}

/** Builds without the secrets of production, as a build server does. */
async function runBuild(cwd: string, args: string[], command = process.execPath): Promise<void> {
  const { PUSH_AUTH_TOKEN: _token, PUSH_PUBLIC_URL: _url, ...clean } = env;
  const settings = { NODE_ENV: "production" };
  await run(command, args, { cwd: join(folder, cwd), env: { ...clean, ...settings } });
}

async function buildSvelte(): Promise<void> {
  await writeModule("svelte-app/package.json", '{ "type": "module" }');
  await writeModule(
    "svelte-app/svelte.config.js",
    `import adapter from "@sveltejs/adapter-node";
    export default { kit: { adapter: adapter(), csrf: { trustedOrigins: ["*"] } } };`,
  );
  await writeModule(
    "svelte-app/vite.config.js",
    `import { sveltekit } from "@sveltejs/kit/vite";
    export default { plugins: [sveltekit()] };`,
  );
  await writeModule("svelte-app/src/app.html", "<!doctype html>%sveltekit.head%%sveltekit.body%");
  await writeRoute("svelte-app/src/routes/webhooks/push/+server.js", findRecipe("svelte"));
  await runBuild("svelte-app", [bin("vite/bin/vite.js"), "build"]);
}

function writeEdge(): Promise<void> {
  return writeRoute("edge.mjs", findRecipe("edge"));
}

async function buildWorker(): Promise<void> {
  await writeEdge();
  await build({
    entryPoints: [join(folder, "edge.mjs")],
    outfile: join(folder, "worker.js"),
    bundle: true,
    format: "esm",
    platform: "node",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire("/");',
    },
  });
  const names = ["PUSH_AUTH_TOKEN", "PUSH_PUBLIC_URL"];
  const bindings = names.map((name) => `(name = "${name}", fromEnvironment = "${name}")`);
  await writeModule(
    "worker.capnp",
    `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [(name = "main", worker = .worker)],
      sockets = [(name = "http", address = "*:0", http = (), service = "main")],
    );
    const worker :Workerd.Worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-05-01",
      compatibilityFlags = ["nodejs_compat"],
      bindings = [${bindings.join(", ")}],
    );`,
  );
}

async function buildAstro(): Promise<void> {
  await writeModule("astro-app/package.json", '{ "type": "module" }');
  await writeModule(
    "astro-app/astro.config.mjs",
    `import node from "@astrojs/node";
    export default {
      output: "server",
      adapter: node({ mode: "standalone" }),
      server: { host: "127.0.0.1" },
      security: { checkOrigin: false },
      // Another package of this folder has an older version of cookie.
      vite: { ssr: { noExternal: ["cookie"] } },
    };`,
  );
  await writeRoute("astro-app/src/pages/webhooks/push.js", findRecipe("astro"));
  await runBuild("astro-app", [bin("astro/bin/astro.mjs"), "build"], findNodeWithSqlite());
}

async function buildNext(): Promise<void> {
  await writeModule("next-app/package.json", "{}");
  // Without this file, Next.js finds the settings of the repository, with the paths of its source.
  await writeModule("next-app/jsconfig.json", "{}");
  // The packages are links to those of the repository.
  const settings = `module.exports = { turbopack: { root: ${JSON.stringify(ROOT)} } };`;
  await writeModule("next-app/next.config.js", settings);
  await writeRoute("next-app/lib/push.js", findRecipe("next"));
  await writeRoute("next-app/app/webhooks/push/route.js", findRecipe("next_route"));
  await writeRoute("next-app/pages/api/push.js", findRecipe("next_pages"));
  await writeModule(
    "next-app/app/login/page.js",
    `import { usePush } from "../../lib/push";
    export const dynamic = "force-dynamic";
    export default async function Page() {
      const wait = { challengeSid: "${CHALLENGE_SID}", entityIdentity: "${eventFixture("challenge.approved").entity_identity}" };
      const { type } = await usePush().waitForChallenge({ ...wait, timeoutMs: 5_000 });
      return type;
    }`,
  );
  await writeModule(
    "next-app/app/layout.js",
    `import { createElement } from "react";
    const Layout = ({ children }) => createElement("html", {}, createElement("body", {}, children));
    export default Layout;`,
  );
  await runBuild("next-app", [bin("next/dist/bin/next"), "build"]);
}

// The last lines of a run name the missing requirements of skipped tests.
const describeWithFrameworks = existsSync(join(home, "node_modules")) ? describe : describe.skip;

describeWithFrameworks("the recipes for other frameworks", () => {
  const started: ChildProcess[] = [];

  beforeAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await installPackage(folder);
    const settings = {
      extends: "../../../tsconfig.json",
      compilerOptions: {
        noEmit: false,
        experimentalDecorators: true,
        paths: {},
        types: ["node"],
        rootDir: ".",
        outDir: ".",
        declaration: false,
      },
      include: ["*.ts"],
      // The default excludes the folder of the output.
      exclude: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "commonjs" }));
    for (const { name, code } of listRecipes()) {
      // Next.js compiles its route, which imports a file of the app.
      if (name !== "next_route") writeFileSync(join(folder, `${name}.ts`), code);
    }
    const nest = findRecipe("nest").replace("AppModule, {", "AppModule, new FastifyAdapter(), {");
    const adapter = 'import { FastifyAdapter } from "@nestjs/platform-fastify";\n';
    writeFileSync(join(folder, "nest_fastify.ts"), adapter + nest);
  }, 120_000);
  afterEach(() => {
    for (const child of started.splice(0)) child.kill("SIGKILL");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("compile", async () => {
    const compiled = run(process.execPath, [tsc, "-p", folder]).catch((error: unknown) => error);
    expect(await compiled).toHaveProperty("stdout", "");
  }, 120_000);

  it.each(Object.keys(APPS))(
    "%s: responds as the documents say, handles an event once, and ends at SIGTERM",
    async (name) => {
      const port = await findFreePort();
      const app: App = APPS[name] ?? { args: [] };
      const { path = "/webhooks/push", command = process.execPath } = app;
      await app.build?.();
      const args = app.args.map((one) => one.replace("PORT", String(port)));
      const child = spawn(command, args, {
        cwd: folder,
        env: { ...env, PORT: String(port) },
        stdio: ["ignore", "pipe", "inherit"],
      });
      started.push(child);
      let output = "";
      child.stdout.on("data", (chunk: Buffer) => void (output += chunk.toString()));
      const ended = once(child, "exit");
      await untilListening(port);

      const statuses: Record<string, number> = {};
      for (const [what, request] of Object.entries(REQUESTS)) {
        statuses[what] = (await send(port, { ...request, path })).status;
      }
      expect(statuses).toEqual({ ...readStatuses(), ...app.statuses });

      child.kill("SIGTERM");
      const [code, signal] = (await ended) as [number | null, string | null];
      expect(code === 0 || code === 143 || signal === "SIGTERM").toBe(true);
      expect(output.split(CHALLENGE_SID)).toHaveLength(2);
    },
    180_000,
  );

  it.each(["start", "dev"])(
    "Next.js %s: a page waits for an event of the route",
    async (mode) => {
      await (nextBuilt ??= buildNext());
      const port = await findFreePort();
      const [next = "", , ...args] = NEXT;
      const settings = {
        env: { ...env, PORT: String(port) },
        cwd: folder,
        stdio: "inherit" as const,
      };
      started.push(spawn(process.execPath, [next, mode, ...args], settings));
      await untilListening(port);
      expect(await send(port, good)).toHaveProperty("status", 200);
      const page = await fetch(`http://127.0.0.1:${port}/login`);
      expect(await page.text()).toContain("challenge.approved");
    },
    180_000,
  );

  it("node:test: a test of a receiver passes", async () => {
    await run(process.execPath, ["--test", join(folder, "node_test.js")]);
  }, 60_000);

  it("vitest: a test with mocked time passes", async () => {
    const vitest = join(home, "node_modules", "vitest", "vitest.mjs");
    cpSync(join(folder, "vitest.ts"), join(folder, "vitest.test.ts"));
    const args = ["run", "--root", folder, "--reporter", "json"];
    const { stdout } = await run(process.execPath, [vitest, ...args]);
    expect(JSON.parse(stdout)).toMatchObject({ success: true, numPassedTests: 1 });
  }, 60_000);
});

/** Reads the list of docs/frameworks.md: the status of each request. */
function readStatuses(): Record<string, number> {
  const list = readSection("docs/frameworks.md", "### Which status each framework responds with");
  return Object.fromEntries(
    [...list.matchAll(/^- (\d{3}): ([^(\n]+)/gm)].flatMap(([, status, requests = ""]) =>
      requests.split(";").map((request) => [request.trim(), Number(status)]),
    ),
  );
}
