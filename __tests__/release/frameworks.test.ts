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
import type { Emulator } from "express-push-verification/emulator";
import { findNodeWithSqlite } from "../support/node-24";
import { installPackage } from "../support/built-package";
import { findRecipe, listRecipes, readSection, readText, ROOT } from "../support/docs";
import { callApi, envOf, startEmulator, stopEmulators } from "../support/emulators";
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
  settings?: Record<string, string>;
  /** What it writes when it is ready, if it listens before. */
  ready?: string;
  path?: string;
  /** What it responds by itself. */
  statuses?: Record<string, number>;
  build?: () => Promise<void>;
}

/** Both routers are of one app, which is built once. */
let nextBuilt: Promise<void> | undefined;
const NEXT = [bin("next/dist/bin/next"), "start", "next-app", "--hostname", "127.0.0.1"];

/** Serves a function with the code of `vercel dev`, whose helpers read the body. */
const serveOnVercel = (file: string): App => ({
  args: [bin("@vercel/node/dist/dev-server.mjs")],
  settings: { VERCEL_DEV_ENTRYPOINT: file },
  ready: "Dev server listening",
});

/** How each recipe is built and started. */
const APPS: Record<string, App> = {
  Fastify: { args: ["fastify.js"] },
  Hono: { args: ["hono.js"] },
  Koa: { args: ["koa.js"] },
  "Koa, after koa-bodyparser": { args: ["koa_bodyparser.js"], statuses: { JSON: 400 } },
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
    args: "serve --allow-all --no-lock --host 127.0.0.1 --port PORT edge.mjs".split(" "),
    build: writeEdge,
  },
  "Vercel, a method fetch": { ...serveOnVercel("edge.mjs"), build: writeEdge },
  "Vercel, its request and response": serveOnVercel("vercel.js"),
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
    jsc: {
      parser: { syntax: "typescript", tsx: true },
      transform: { react: { runtime: "automatic" } },
      target: "es2023",
    },
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
  await writeRoute("next-app/app/login/page.js", readText("examples/frameworks/next_login.tsx"));
  await writeRoute("next-app/lib/service.js", readService());
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
        jsx: "react-jsx",
      },
      include: ["*.ts", "site/**/*"],
      // The default excludes the folder of the output.
      exclude: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "commonjs" }));
    for (const { name, code } of listRecipes()) {
      // It imports a file of the app.
      if (name !== "next_route") writeFileSync(join(folder, `${name}.ts`), code);
    }
    await writeModule("site/lib/push.ts", findRecipe("next"));
    await writeModule("site/lib/service.ts", readService());
    await writeModule("site/app/webhooks/push/route.ts", findRecipe("next_route"));
    const page = readText("examples/frameworks/next_login.tsx");
    await writeModule("site/app/login/page.tsx", page);
    const koa = findRecipe("koa")
      .replace("new Koa()", "new Koa().use(bodyParser())")
      .replace(
        "(context.req,",
        "(Object.assign(context.req, { rawBody: context.request.rawBody }),",
      );
    const parser = 'import bodyParser from "koa-bodyparser";\n';
    await writeModule("koa_bodyparser.ts", parser + koa);
    const nest = findRecipe("nest").replace("AppModule, {", "AppModule, new FastifyAdapter(), {");
    const adapter = 'import { FastifyAdapter } from "@nestjs/platform-fastify";\n';
    writeFileSync(join(folder, "nest_fastify.ts"), adapter + nest);
  }, 120_000);
  afterEach(() => {
    for (const child of started.splice(0)) child.kill("SIGKILL");
  });
  afterEach(stopEmulators);
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
        env: { ...env, PORT: String(port), VERCEL_DEV_PORT: String(port), ...app.settings },
        stdio: ["ignore", "pipe", "inherit"],
      });
      started.push(child);
      let output = "";
      child.stdout.on("data", (chunk: Buffer) => void (output += chunk.toString()));
      const ended = once(child, "exit");
      await untilListening(port);
      while (!output.includes(app.ready ?? "")) await once(child.stdout, "data");

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
    "Next.js %s: a login page waits until the phone approves",
    async (mode) => {
      await (nextBuilt ??= buildNext());
      const port = await findFreePort();
      const emulator = await startEmulator();
      const url = `http://127.0.0.1:${port}`;
      const webhook_url = `${url}/webhooks/push`;
      emulator.createWebhook({ webhook_url, event_types: ["challenge.approved"] });
      const factor = emulator.createFactor({ entity_identity: "ada" });
      emulator.verifyFactor(factor.sid);
      const settings = {
        PORT: String(port),
        PUSH_PUBLIC_URL: webhook_url,
        ...envOf(emulator),
        PUSH_FACTOR_SID: factor.sid,
      };
      const [next = "", , ...args] = NEXT;
      const options = { cwd: folder, env: { ...env, ...settings }, stdio: "inherit" as const };
      started.push(spawn(process.execPath, [next, mode, ...args], options));
      await untilListening(port);

      const start = await (await fetch(`${url}/login`)).text();
      const [, action = ""] = /name="(\$ACTION_ID_\w+)"/.exec(start) ?? [];
      const fields = new FormData();
      fields.append(action, "");
      fields.append("user", "ada");
      const sent = await fetch(`${url}/login`, {
        method: "POST",
        body: fields,
        redirect: "manual",
      });
      const [cookie = ""] = sent.headers.getSetCookie()[0]?.split(";") ?? [];
      const page = await fetch(`${url}/login`, { headers: { cookie } });
      const decoder = new TextDecoder();
      let html = "";
      for await (const part of page.body ?? []) {
        const isShown = html.includes("on your phone");
        html += decoder.decode(part as Uint8Array, { stream: true });
        if (isShown || !html.includes("on your phone")) continue;
        expect(html).not.toContain("Welcome!");
        emulator.approveChallenge(await findChallenge(emulator));
      }
      expect(html).toContain("Welcome!");
    },
    180_000,
  );

  it("Jest with jsdom: a test of a receiver passes", async () => {
    cpSync(join(folder, "jest_jsdom.js"), join(folder, "jest_jsdom.test.js"));
    const config = {
      rootDir: folder,
      testEnvironment: "node",
      testMatch: ["**/jest_jsdom.test.js"],
    };
    const args = ["--config", JSON.stringify(config), "--json"];
    const jest = join(ROOT, "node_modules", "jest", "bin", "jest.js");
    const { stdout } = await run(process.execPath, [jest, ...args]);
    expect(JSON.parse(stdout)).toMatchObject({ success: true, numPassedTests: 2 });
  }, 60_000);

  it("node:test: a test of a receiver passes", async () => {
    await run(process.execPath, ["--test", join(folder, "node_test.js")]);
  }, 60_000);

  it("vitest: a test with mocked time passes", async () => {
    const vitest = join(home, "node_modules", "vitest", "vitest.mjs");
    cpSync(join(folder, "vitest.ts"), join(folder, "vitest.test.ts"));
    // No other file: the test of Jest is in this folder, too.
    const args = ["run", "vitest.test.ts", "--root", folder, "--reporter", "json"];
    const { stdout } = await run(process.execPath, [vitest, ...args]);
    expect(JSON.parse(stdout)).toMatchObject({ success: true, numPassedTests: 1 });
  }, 60_000);
});

/** Returns a module with the function of examples/login.ts that creates a challenge. */
function readService(): string {
  const [code = ""] =
    /^async function createChallenge[^]*?^}\n/m.exec(readText("examples/login.ts")) ?? [];
  const findFactorSid =
    'const findFactorSid = async (_user: string) => process.env.PUSH_FACTOR_SID ?? "";';
  return `${findFactorSid}\nexport ${code}`;
}

/** Returns the SID of the challenge that an app has created for the user ada. */
async function findChallenge(emulator: Emulator): Promise<string> {
  const path = `/v2/Services/${emulator.serviceSid}/Entities/ada/Challenges`;
  const { body } = await callApi(emulator, "GET", path);
  return (body as { challenges: { sid: string }[] }).challenges[0]?.sid ?? "";
}

/** Reads the list of docs/frameworks.md: the status of each request. */
function readStatuses(): Record<string, number> {
  const list = readSection("docs/frameworks.md", "### Which status each framework responds with");
  return Object.fromEntries(
    [...list.matchAll(/^- (\d{3}): ([^(\n]+)/gm)].flatMap(([, status, requests = ""]) =>
      requests.split(";").map((request) => [request.trim(), Number(status)]),
    ),
  );
}
