/** The code blocks of README.md and docs, and examples/frameworks: each compiles, and each runs. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import diagnostics from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";

import { createServer, request as requestHttp, Server } from "node:http";
import { isBuiltin } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  FACTOR_SID,
  PUBLIC_URL,
  SERVICE_SID,
} from "../support/webhook-requests";
import {
  DOCUMENTS,
  listBlocks,
  listRecipes,
  readText,
  ROOT,
  type DocsBlock,
} from "../support/docs";
import { startReceiver, stopEmulators } from "../support/emulators";
import { findFreePort, untilListening } from "../support/ports";
import { send } from "../support/servers";
import { runCommand } from "../support/terminals";
import { until } from "../support/waiting";

const folder = join(__dirname, ".readme");
const login = { name: "login", code: readText("examples/login.ts"), recipe: undefined };
const blocks = [
  ...DOCUMENTS.flatMap((file) => listBlocks(file)),
  // release/frameworks.test.ts runs the others, with their packages.
  ...listRecipes().filter(({ name }) => name.startsWith("express_")),
  login,
];
const scripts = DOCUMENTS.flatMap((file) => listBlocks(file, "js"));
const isTest = ({ code }: { code: string }) => code.includes("\ntest(");
const named = (chosen: typeof blocks) => chosen.map((block) => [block.name, block.code] as const);
const execute = promisify(execFile);

rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, "js"), { recursive: true });
const tsconfig = {
  extends: "../../tsconfig.json",
  compilerOptions: { allowJs: true, checkJs: true },
  include: ["*.ts", "js/*.js"],
};
writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
for (const { name, code } of blocks) writeFileSync(join(folder, `${name}.ts`), code);
for (const { name, code } of scripts) writeFileSync(join(folder, "js", `${name}.js`), code);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("README and docs", () => {
  it("begin with examples/receive.ts", () => {
    expect(blocks[0]?.code).toBe(readText("examples/receive.ts"));
  });

  it("have blocks of known languages only", () => {
    const text = DOCUMENTS.map(readText).join("\n");
    const languages = Array.from(
      text.matchAll(/^```(\w*)\n[^]*?^```$/gm),
      ([, language]) => language,
    );
    expect([...new Set(languages)].toSorted()).toEqual(["js", "sh", "text", "ts"]);
  });

  it("have code that compiles", async () => {
    const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const compiled = execute(process.execPath, [tsc, "-p", folder]).catch(Object);
    expect(await compiled).toHaveProperty("stdout", "");
  });

  it("have commands that exist, with options that exist", async () => {
    const commands = listCommands();
    expect(commands.length).toBeGreaterThan(15);
    for (const { line, path, flags } of commands) {
      const { code, stdout } = await runCommand([...path, "--help"]);
      expect({ line, code }).toEqual({ line, code: 0 });
      for (const flag of flags) expect(stdout).toContain(`${flag} `);
    }
  });

  describe("show a 200 on one machine, with an .env file and two commands:", () => {
    const [, variables = ""] =
      /as `\.env`.*\n\n```text\n([^]*?)```/.exec(readText("README.md")) ?? [];
    const file = join(folder, ".env");
    const running = new Set<ChildProcess>();
    afterEach(async () => {
      for (const child of running) child.kill("SIGKILL");
      await until(() => running.size === 0);
    });

    function start(command: string, block: string, port: string) {
      const [, ...words] = command.trim().split(" ");
      const args = ["--import", "tsx", join(folder, `${block}.ts`)];
      const env = { ...process.env, PORT: port, PUSH_QUEUE_FILE: join(folder, "push.db") };
      const given = words.slice(0, -1).map((word) => (word === ".env" ? file : word));
      const child = spawn(process.execPath, [...given, ...args], { cwd: ROOT, env });
      running.add(child.once("exit", () => running.delete(child)));
      return child;
    }

    it.each([
      ["README.md", "receive.mjs", "readme-1"],
      // sqliteQueue needs node:sqlite.
      ...(isBuiltin("node:sqlite") ? [["docs/durable.md", "durable.mjs", "durable-1"]] : []),
    ])("%s", async (page = "", name = "", block = "") => {
      const port = String(await findFreePort());
      writeFileSync(file, variables.replace("3000", port));
      const [app = "", ...others] = listBlocks(page, "sh")
        .map(({ code }) => code)
        .filter((code) => code.includes("--env"));
      expect(app).toBe(`node --env-file .env ${name}\n`);
      const child = start(app, block, port);
      let printed = "";
      child.stdout.on("data", (chunk: Buffer) => void (printed += chunk.toString()));
      await untilListening(Number(port));

      const words = others[0]?.trim().replace("3000", port).split(" ") ?? [];
      expect(words.slice(0, 5).join(" ")).toBe("npx push-webhooks --env .env trigger");
      const { stdout } = await runCommand(["--env", file, ...words.slice(4)]);
      expect(stdout).toMatch(/^200 challenge\.approved /m);
      if (page === "README.md") {
        const { code } = listBlocks("docs/getting-started.md", "sh")[0] ?? { code: "" };
        await once(start(code, "getting-started-1", port), "exit");
        const events = ["factor.created", "factor.verified", "user-7f3a-22 approved"];
        await until(() => events.every((what) => printed.includes(what)));
      }
    });
  });

  it("have an app that listens on the named pipe in PORT, which IIS passes", async () => {
    const own = mkdtempSync(join(tmpdir(), "push-pipe-"));
    const socketPath =
      process.platform === "win32" ? `\\\\.\\pipe\\push-${process.pid}` : join(own, "pipe");
    const child = spawn(process.execPath, ["--import", "tsx", join(folder, "readme-1.ts")], {
      cwd: ROOT,
      env: {
        ...process.env,
        PORT: socketPath,
        PUSH_AUTH_TOKEN: AUTH_TOKEN,
        PUSH_PUBLIC_URL: PUBLIC_URL,
      },
    });
    const exited = once(child, "exit");
    const { method, headers, body } = eventRequest("challenge.approved");
    const post = () =>
      new Promise<number | undefined>((resolve) => {
        const options = { socketPath, method, headers, path: "/webhooks/push" };
        const sent = requestHttp(options, (res) => resolve(res.resume().statusCode));
        sent.on("error", () => resolve(undefined)).end(body);
      });
    let status: number | undefined;
    await until(async () => (status = await post()) !== undefined);
    expect(status).toBe(200);
    child.kill("SIGKILL");
    await exited;
    rmSync(own, { recursive: true });
  });

  describe("have tests that pass, without a process warning:", () => {
    let emitted: jest.SpyInstance;
    beforeAll(() => void (emitted = jest.spyOn(process, "emitWarning")));
    afterAll(() => {
      expect(emitted.mock.calls).toEqual([]);
      emitted.mockRestore();
    });
    for (const { name } of blocks.filter(isTest)) require(join(folder, `${name}.ts`));
  });

  describe("have code that runs:", () => {
    const listening: Server[] = [];
    // The API of the service, which confirms every challenge of eventRequest().
    const api = createServer((req, res) => {
      const [, identity] = /Entities\/([^/]+)/.exec(req.url ?? "") ?? [];
      const sids = { sid: CHALLENGE_SID, service_sid: SERVICE_SID, factor_sid: FACTOR_SID };
      const answer = { status: "approved", date_responded: new Date().toISOString(), identity };
      res.end(JSON.stringify({ ...sids, ...answer }));
    });
    beforeAll(async () => void (await once(api.listen(0, "127.0.0.1"), "listening")));
    afterAll(() => void api.close().closeAllConnections());
    beforeEach(() => {
      Object.assign(process.env, {
        PUSH_AUTH_TOKEN: AUTH_TOKEN,
        PUSH_KEY_SECRET: "b".repeat(32),
        TWILIO_AUTH_TOKEN: AUTH_TOKEN,
        PUSH_PUBLIC_URL: PUBLIC_URL,
        PUSH_ACCOUNT_URL: "http://127.0.0.1:9",
        PUSH_VERIFY_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
        PUSH_ACCOUNT_SID: ACCOUNT_SID,
        PUSH_SERVICE_SID: SERVICE_SID,
        PORT: "0",
      });
      for (const method of ["log", "warn", "error"] as const)
        jest.spyOn(console, method).mockImplementation(() => {});
      // A subscription of a recipe would outlive this file, in the process of other test files.
      jest.spyOn(diagnostics, "subscribe").mockImplementation(() => {});
      const { listen } = Server.prototype;
      jest.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server, ...args) {
        listening.push(this);
        return listen.apply(this, args);
      });
    });
    afterEach(async () => {
      jest.restoreAllMocks();
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) {
        process.removeAllListeners(signal);
      }
      for (const server of listening.splice(0)) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    });

    async function tryServers(code: string): Promise<void> {
      expect(listening).toHaveLength(/\b(app|server)\.listen\(/.test(code) ? 1 : 0);
      for (const server of listening) {
        const { port } = server.address() as AddressInfo;
        const request = { ...eventRequest("challenge.approved"), path: "/webhooks/push" };
        expect(await send(port, request)).toHaveProperty("status", 200);
        expect(await send(port, { ...request, body: "x=1" })).toHaveProperty("status", 403);
      }
    }

    // The test above runs these two in a process of their own.
    const runs = ({ recipe, code }: DocsBlock) =>
      !isTest({ code }) && recipe !== "durable" && recipe !== "service";
    it.each(named(blocks.filter(runs)))("%s", async (name, code) => {
      const exported = require(join(folder, `${name}.ts`)) as Record<string, unknown>;
      await tryServers(code);
      if (typeof exported.POST === "function") await runRoute(exported.POST as Route);
      if (typeof exported.story === "function") await runStory(exported.story as Story);
    });

    it.each(named(scripts))("%s, in CommonJS", async (name, code) => {
      require(join(folder, "js", `${name}.js`));
      await tryServers(code.replaceAll(/\/\/.*$/gm, ""));
    });
  });
});

/** The lines of shell blocks that run push-webhooks: subcommands and flags of each. */
function listCommands() {
  const lines = DOCUMENTS.flatMap((file) => listBlocks(file, "sh")).flatMap(({ code }) =>
    code.split("\n"),
  );
  return lines
    .filter((line) => line.startsWith("npx push-webhooks "))
    .map((line) => {
      const [, , ...words] = line
        .replace(" --env .env", "")
        .replaceAll(/"[^"]*"/g, "value")
        .split(" ");
      const isGroup = ["webhooks", "keys", "queue"].includes(words[0] ?? "");
      const path = words.slice(0, isGroup ? 2 : 1).filter((word) => !word.startsWith("--"));
      return { line, path, flags: words.filter((word) => word.startsWith("--")) };
    });
}

type Route = (request: Request) => Promise<Response>;

async function runRoute(route: Route): Promise<void> {
  const { method, headers, body } = eventRequest("challenge.approved");
  const respond = async (text: string | undefined) => {
    const init = { method, headers, ...(text !== undefined && { body: text }) };
    return (await route(new Request(PUBLIC_URL, init))).status;
  };
  expect(await Promise.all([respond(body), respond("x=1")])).toEqual([200, 403]);
  expect(await respond(body)).toBe(200);
  const lines = jest.mocked(console.log).mock.calls.filter(([sid]) => sid === CHALLENGE_SID);
  expect(lines).toHaveLength(1);
}

type Story = (webhookUrl: string) => Promise<void>;

async function runStory(story: Story): Promise<void> {
  const { publicUrl, events } = await startReceiver("test-token");
  await story(publicUrl);
  const logged = jest.mocked(console.log).mock.calls.filter(([, what]) => what === "succeeded");
  const types = ["factor.created", "factor.verified", "challenge.approved", "challenge.approved"];
  expect(logged).toEqual(types.map((type) => [type, "succeeded", 1]));
  expect(events).toHaveLength(3);
  await stopEmulators();
}
