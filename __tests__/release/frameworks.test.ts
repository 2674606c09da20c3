/**
 * The recipes of examples/frameworks, each in a process of its own, with the built package and the
 * packages of that folder.
 */
import { execFile, spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build, transform } from "esbuild";
import {
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  PUBLIC_URL,
  type TestRequest,
} from "../support/webhook-requests";
import { findNodeWithSqlite } from "../support/node-24";
import { installPackage } from "../support/built-package";
import { findRecipe, listRecipes, readSection, readText, ROOT } from "../support/docs";
import { callApi, envOf, startEmulator, stopEmulators } from "../support/emulators";
import { findFreePort, untilListening } from "../support/ports";
import { needs } from "../support/needs";
import { send } from "../support/servers";
import { until } from "../support/waiting";

const home = join(ROOT, "examples", "frameworks");
const folder = join(home, ".recipes");
const run = promisify(execFile);
const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
/** The first test of an app builds it. */
const SLOW_MS = 900_000;
const env = { ...process.env, PUSH_AUTH_TOKEN: AUTH_TOKEN, PUSH_PUBLIC_URL: PUBLIC_URL };

const bin = (...path: string[]) => join(home, "node_modules", ...path);
const ECOSYSTEM = join(ROOT, "examples", "deploy", "ecosystem.config.cjs");
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

/** Their packages declare a rawBody that is text for every request. */
const ALONE = ["feathers.ts"];

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
  build?: () => Promise<unknown>;
}

const NEXT = [bin("next/dist/bin/next"), "start", "next-app", "--hostname", "127.0.0.1"];

/** Serves a function with the code of `vercel dev`, whose helpers read the body. */
const serveOnVercel = (file: string): App => ({
  args: [bin("@vercel/node/dist/dev-server.mjs")],
  settings: { VERCEL_DEV_ENTRYPOINT: file },
  ready: "Dev server listening",
});

const APPS: Record<string, App> = {
  Fastify: { args: ["fastify.js"] },
  Hono: { args: ["hono.js"] },
  Koa: { args: ["koa.js"] },
  "Koa, after koa-bodyparser": { args: ["koa_bodyparser.js"], statuses: { JSON: 400 } },
  NestJS: { args: ["nest.js"] },
  "Next.js, App Router": { args: NEXT, build: buildNext },
  "Next.js, Pages Router": { args: NEXT, path: "/api/push", build: buildNext },
  SvelteKit: {
    args: ["svelte-app/build/index.js"],
    build: () => buildOnce("svelte-app", "vite/bin/vite.js"),
  },
  "Lambda, HTTP API": { args: [gateway, "http_api", join(folder, "lambda.js")] },
  "Lambda, REST API": { args: [gateway, "rest_api", join(folder, "lambda.js")] },
  "Lambda, load balancer": { args: [gateway, "load_balancer", join(folder, "lambda.js")] },
  "Google functions": {
    args: [bin("@google-cloud/functions-framework/build/src/main.js"), "--target=push"],
    statuses: { JSON: 400, gzip: 400 },
  },
  "Nest on Fastify": { args: ["nest_fastify.js"] },
  // Astro needs Node.js 22.
  Astro: {
    command: findNodeWithSqlite(),
    args: ["astro-app/dist/server/entry.mjs"],
    build: () => buildOnce("astro-app", "astro/bin/astro.mjs", findNodeWithSqlite()),
  },
  "Express on Lambda": { args: [gateway, "http_api", join(folder, "lambda_express.js")] },
  "Cloudflare Workers": {
    command: bin("@cloudflare/workerd-linux-64/bin/workerd"),
    args: ["serve", "worker.capnp", "--socket-addr", "http=127.0.0.1:PORT"],
    build: buildWorker,
  },
  Bun: { command: bin("@oven/bun-linux-x64/bin/bun"), args: ["edge.mjs"] },
  Deno: {
    command: bin("@deno/linux-x64-glibc/deno"),
    args: "serve --allow-all --no-lock --host 127.0.0.1 --port PORT edge.mjs".split(" "),
  },
  "Vercel, a method fetch": serveOnVercel("edge.mjs"),
  "Vercel, its request and response": serveOnVercel("vercel.js"),
  // Each has the framework's own part that reads the body before its routes run.
  Strapi: { args: ["strapi_server.js"], statuses: { JSON: 400 } },
  Feathers: { args: ["feathers.js"] },
  AdonisJS: { args: ["adonis_server.mjs"], statuses: { JSON: 422 } },
  Hapi: { args: ["hapi.js"] },
  Nuxt: { args: ["nuxt_server.js"] },
  Sails: { args: ["sails_server.js"] },
  "Azure functions": { args: [gateway, "azure", join(folder, "azure.js")] },
};

/** Writes a recipe as an ES module without types, as the compiler of a framework sees it. */
async function writeRoute(file: string, text: string): Promise<void> {
  // Next.js reads `export const` in the text: esbuild leaves it as it is.
  writeFile(file, (await transform(text, { loader: "tsx", jsx: "automatic" })).code);
}

function writeFile(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

const built = new Map<string, Promise<unknown>>();

/** Without the secrets of production, as a build server does. */
function buildOnce(app: string, script: string, command = process.execPath): Promise<unknown> {
  const { PUSH_AUTH_TOKEN: _token, PUSH_PUBLIC_URL: _url, ...clean } = env;
  const settings = { cwd: join(folder, app), env: { ...clean, NODE_ENV: "production" } };
  const building = built.get(app) ?? run(command, [bin(script), "build"], settings);
  built.set(app, building);
  return building;
}

function buildNext(): Promise<unknown> {
  return buildOnce("next-app", "next/dist/bin/next");
}

function buildWorker(): Promise<unknown> {
  return build({
    entryPoints: [join(folder, "edge.mjs")],
    outfile: join(folder, "worker.js"),
    bundle: true,
    format: "esm",
    platform: "node",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire("/");',
    },
  });
}

const isInstalled = existsSync(join(home, "node_modules"));

needs(isInstalled, "npm run frameworks").describe("the recipes for other frameworks", () => {
  const started: { child: ChildProcess; closed: Promise<unknown> }[] = [];

  /** Starts a process in a group of its own, which has the processes that it starts. */
  function startProcess(command: string, args: string[], options: SpawnOptions) {
    const child = spawn(command, args, { cwd: folder, detached: true, ...options });
    const [exited, closed] = [once(child, "exit"), once(child, "close")];
    started.push({ child, closed });
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => void (output += chunk.toString()));
    return { child, exited, read: () => output };
  }

  /** Ends what was started, also what keeps the output of a process open that has exited. */
  async function killStarted(): Promise<void> {
    for (const { child, closed } of started.splice(0)) {
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // The group has ended.
      }
      await closed;
    }
  }

  beforeAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await installPackage(folder);
    cpSync(join(__dirname, "recipes"), folder, { recursive: true });
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
      exclude: ALONE,
    };
    writeFile("tsconfig.json", JSON.stringify(settings));
    const alone = { extends: "./tsconfig.json", include: ALONE, exclude: [] };
    writeFile("tsconfig.alone.json", JSON.stringify(alone));
    writeFile("package.json", JSON.stringify({ type: "commonjs" }));
    for (const { name, code } of listRecipes()) {
      const file = name === "vitest" ? "vitest.test.ts" : `${name}.ts`;
      // It imports a file of the app.
      if (name !== "next_route") writeFile(file, code);
    }
    await writeRoute("edge.mjs", findRecipe("edge"));
    await writeRoute("svelte-app/src/routes/webhooks/push/+server.js", findRecipe("svelte"));
    await writeRoute("astro-app/src/pages/webhooks/push.js", findRecipe("astro"));
    for (const [file, code] of [
      ["lib/push", findRecipe("next")],
      ["lib/service", readService()],
      ["app/webhooks/push/route", findRecipe("next_route")],
      ["pages/api/push", findRecipe("next_pages")],
      ["app/login/page", readText("examples/frameworks/next_login.tsx")],
    ] as const) {
      writeFile(`site/${file}.tsx`, code);
      await writeRoute(`next-app/${file}.js`, code);
    }
    const koa = findRecipe("koa")
      .replace("new Koa()", "new Koa().use(bodyParser())")
      .replace(
        "(context.req,",
        "(Object.assign(context.req, { rawBody: context.request.rawBody }),",
      );
    const parser = 'import bodyParser from "koa-bodyparser";\n';
    writeFile("koa_bodyparser.ts", parser + koa);
    const nest = findRecipe("nest").replace("AppModule, {", "AppModule, new FastifyAdapter(), {");
    const adapter = 'import { FastifyAdapter } from "@nestjs/platform-fastify";\n';
    writeFile("nest_fastify.ts", adapter + nest);
  });
  afterEach(killStarted);
  afterEach(stopEmulators);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("compile", async () => {
    for (const config of ["tsconfig.json", "tsconfig.alone.json"]) {
      const compiled = run(process.execPath, [tsc, "-p", join(folder, config)]);
      expect(await compiled.catch((error: unknown) => error)).toHaveProperty("stdout", "");
    }
  });

  it.each(Object.keys(APPS))(
    "%s: handles requests as the documents say until SIGTERM",
    async (name) => {
      const port = await findFreePort();
      const app: App = APPS[name] ?? { args: [] };
      const { path = "/webhooks/push", command = process.execPath } = app;
      await app.build?.();
      const args = app.args.map((one) => one.replace("PORT", String(port)));
      const { child, exited, read } = startProcess(command, args, {
        env: { ...env, PORT: String(port), VERCEL_DEV_PORT: String(port), ...app.settings },
        stdio: ["ignore", "pipe", "inherit"],
      });
      await untilListening(port);
      await until(() => read().includes(app.ready ?? ""));

      const statuses: Record<string, number> = {};
      for (const [what, request] of Object.entries(REQUESTS)) {
        statuses[what] = (await send(port, { ...request, path })).status;
      }
      expect(statuses).toEqual({ ...readStatuses(), ...app.statuses });

      child.kill("SIGTERM");
      const [code, signal] = (await exited) as [number | null, string | null];
      await killStarted();
      expect(code === 0 || code === 143 || signal === "SIGTERM").toBe(true);
      expect(read().split(CHALLENGE_SID)).toHaveLength(2);
    },
    SLOW_MS,
  );

  it("pm2: a process has the time that the ecosystem file gives it", async () => {
    const { apps } = createRequire(__filename)(ECOSYSTEM) as { apps: [object] };
    const port = await findFreePort();
    // Longer than the 1.6 s after which pm2 kills by default.
    const app = `process.once("SIGINT", () => setTimeout(() => { console.log("closed"); process.exit(); }, 2_500));
      require("node:http").createServer((_req, res) => res.end()).listen(${port}, () => console.log("ready"));`;
    writeFile("pm2_app.js", app);
    const copied = { ...apps[0], script: "pm2_app.js", cwd: folder };
    writeFile("pm2.json", JSON.stringify({ apps: [copied] }));
    const args = [bin("pm2/bin/pm2-runtime"), "start", join(folder, "pm2.json")];
    const pm2 = startProcess(process.execPath, args, {
      env: { ...env, PM2_HOME: join(folder, ".pm2") },
    });
    await until(() => pm2.read().split("ready").length >= 3);
    pm2.child.kill("SIGINT");
    await pm2.exited;
    await killStarted();
    expect(pm2.read().split("closed")).toHaveLength(3);
  });

  it.each(["start", "dev"])(
    "Next.js %s: a login page waits until the phone approves",
    async (mode) => {
      await buildNext();
      const port = await findFreePort();
      const emulator = await startEmulator();
      const url = `http://127.0.0.1:${port}`;
      const webhook_url = `${url}/webhooks/push`;
      emulator.createWebhook({ webhook_url, event_types: ["challenge.approved"] });
      const factor = emulator.createFactor({ entity_identity: "user-5e81-07" });
      emulator.verifyFactor(factor.sid);
      const settings = {
        PORT: String(port),
        PUSH_PUBLIC_URL: webhook_url,
        ...envOf(emulator),
        PUSH_FACTOR_SID: factor.sid,
      };
      const [next = "", , ...args] = NEXT;
      const options = { env: { ...env, ...settings }, stdio: "inherit" as const };
      startProcess(process.execPath, [next, mode, ...args], options);
      await untilListening(port);

      const start = await (await fetch(`${url}/login`)).text();
      const [, action = ""] = /name="(\$ACTION_ID_\w+)"/.exec(start) ?? [];
      const fields = new FormData();
      fields.append(action, "");
      fields.append("user", "user-5e81-07");
      const sent = await fetch(`${url}/login`, {
        method: "POST",
        body: fields,
        redirect: "manual",
      });
      const [cookie = ""] = sent.headers.getSetCookie()[0]?.split(";") ?? [];
      const page = await fetch(`${url}/login`, { headers: { cookie } });
      let html = "";
      for await (const part of page.body!.pipeThrough(new TextDecoderStream())) {
        const isShown = html.includes("on your phone");
        html += part;
        if (isShown || !html.includes("on your phone")) continue;
        expect(html).not.toContain("Welcome!");
        const path = `/v2/Services/${emulator.serviceSid}/Entities/user-5e81-07/Challenges`;
        emulator.approveChallenge((await callApi(emulator, "GET", path)).body.challenges[0].sid);
      }
      expect(html).toContain("Welcome!");
    },
    SLOW_MS,
  );

  const config = { rootDir: folder, testEnvironment: "node", testMatch: ["**/jest_jsdom.js"] };
  const jest = join(ROOT, "node_modules", "jest", "bin", "jest.js");
  it.each([
    ["Jest with jsdom", [jest, "--config", JSON.stringify(config)]],
    ["node:test", ["--test", "node_test.js"]],
    ["vitest", [bin("vitest/vitest.mjs"), "run", "vitest.test.ts"]],
  ])("%s: a test of a receiver passes", async (_runner, args) => {
    await run(process.execPath, args, { cwd: folder });
  });
});

/** Returns a module with the function of examples/login.ts that creates a challenge. */
function readService(): string {
  const [code = ""] =
    /^async function createChallenge[^]*?^}\n/m.exec(readText("examples/login.ts")) ?? [];
  const findFactorSid =
    'const findFactorSid = async (_user: string) => process.env.PUSH_FACTOR_SID ?? "";';
  return `${findFactorSid}\nexport ${code}`;
}

function readStatuses(): Record<string, number> {
  const list = readSection("docs/frameworks.md", "### Which status each framework responds with");
  return Object.fromEntries(
    [...list.matchAll(/^- (\d{3}): ([^(\n]+)/gm)].flatMap(([, status, requests = ""]) =>
      requests.split(";").map((request) => [request.trim(), Number(status)]),
    ),
  );
}
