/**
 * The recipes of the documents for other frameworks, each in a process of its own, with the built
 * package and the packages of examples/frameworks.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { AUTH_TOKEN, CHALLENGE_SID, eventRequest, PUBLIC_URL } from "./support/webhook-requests";
import { installPackage } from "./support/built-package";
import { findRecipe, FRAMEWORKS, ROOT } from "./support/docs";
import { findFreePort, untilListening } from "./support/ports";
import { send } from "./support/servers";

const home = join(ROOT, "examples", "frameworks");
const folder = join(home, ".recipes");
const run = promisify(execFile);
const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
const env = { ...process.env, PUSH_AUTH_TOKEN: AUTH_TOKEN, PUSH_PUBLIC_URL: PUBLIC_URL };

// The last lines of a run say how to get what skipped tests need.
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
      // By default the folder of the output.
      exclude: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "commonjs" }));
    for (const name of [...FRAMEWORKS, "lambda"]) {
      writeFileSync(join(folder, `${name}.ts`), findRecipe(name ?? ""));
    }
  }, 120_000);
  afterEach(() => {
    for (const child of started.splice(0)) child.kill("SIGKILL");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("compile", async () => {
    const compiled = run(process.execPath, [tsc, "-p", folder]).catch((error: unknown) => error);
    expect(await compiled).toHaveProperty("stdout", "");
  }, 120_000);

  it.each(["fastify", "hono", "nest"])(
    "%s: handles an event once, rejects a wrong signature, and ends at SIGTERM",
    async (name) => {
      const port = await findFreePort();
      const child = spawn(process.execPath, [join(folder, `${name}.js`)], {
        env: { ...env, PORT: String(port) },
        stdio: ["ignore", "pipe", "inherit"],
      });
      started.push(child);
      let output = "";
      child.stdout.on("data", (chunk: Buffer) => void (output += chunk.toString()));
      const ended = once(child, "exit");
      await untilListening(port);

      const approval = { ...eventRequest("challenge.approved"), path: "/webhooks/push" };
      expect(await send(port, approval)).toHaveProperty("status", 200);
      expect(await send(port, approval)).toHaveProperty("status", 200);
      expect(await send(port, { ...approval, body: "x=1" })).toHaveProperty("status", 403);
      const byGet = eventRequest("factor.created", {}, { method: "GET" });
      const path = byGet.path.replace(/^[^?]*/, "/webhooks/push");
      expect(await send(port, { ...byGet, path })).toHaveProperty("status", 405);

      child.kill("SIGTERM");
      const [code, signal] = (await ended) as [number | null, string | null];
      // Nest ends the process with the signal, once its hooks are done.
      expect(code === 0 || signal === "SIGTERM").toBe(true);
      expect(output.split(CHALLENGE_SID)).toHaveLength(2);
    },
    30_000,
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

  it("lambda: a bundle of one file handles an event of API Gateway", async () => {
    const bundle = join(folder, "bundled", "handler.js");
    const esbuild = join(home, "node_modules", "esbuild", "bin", "esbuild");
    const options = ["--bundle", "--platform=node", "--target=node20", `--outfile=${bundle}`];
    await run(process.execPath, [esbuild, join(folder, "lambda.ts"), ...options]);
    const { method, path, headers, body = "" } = eventRequest("factor.created");
    const request = {
      version: "2.0",
      requestContext: { http: { method } },
      rawPath: path,
      rawQueryString: "",
      headers,
      body: Buffer.from(body).toString("base64"),
      isBase64Encoded: true,
    };
    const forged = { ...request, body: "x=1", isBase64Encoded: false };
    const script = `const { handler } = require(${JSON.stringify(bundle)});
      const requests = ${JSON.stringify([request, forged])};
      Promise.all(requests.map(handler)).then((all) => console.log(JSON.stringify(all)));`;
    const { stdout } = await run(process.execPath, ["-e", script], { cwd: "/", env });
    expect(stdout.trim().split("\n").at(-1)).toBe('[{"statusCode":200},{"statusCode":403}]');
  }, 30_000);
});
