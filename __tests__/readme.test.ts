import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { pushWebhooks } from "express-push-verification";
import { STATUS_BY_CODE } from "../lib/errors";
import { durableQueue } from "express-push-verification/durable";
import { createEmulator } from "express-push-verification/emulator";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventCall,
  PUBLIC_URL,
  SERVICE_SID,
} from "./support/calls";
import { startReceiver, stopEmulators } from "./support/emulators";
import { send } from "./support/servers";

const root = join(__dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code);
const folder = join(__dirname, ".readme");
const fileOf = (index: number) => join(folder, `block-${index}.ts`);

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const settings = { extends: "../../tsconfig.json", include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  for (const [index, code] of blocks.entries()) writeFileSync(fileOf(index), code);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("README", () => {
  it("begins with examples/receive.ts", () => {
    expect(blocks[0]).toBe(readFileSync(join(root, "examples", "receive.ts"), "utf8"));
  });

  it("has code that compiles", async () => {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const compiled = promisify(execFile)(process.execPath, [tsc, "-p", folder]);
    await expect(compiled).resolves.toHaveProperty("stdout", "");
  }, 60_000);

  describe("has code that runs:", () => {
    const listening: Server[] = [];
    beforeEach(() => {
      Object.assign(process.env, {
        PUSH_AUTH_TOKEN: AUTH_TOKEN,
        TWILIO_AUTH_TOKEN: AUTH_TOKEN,
        PUSH_PUBLIC_URL: PUBLIC_URL,
        PUSH_ACCOUNT_URL: "http://127.0.0.1:9",
        PUSH_VERIFY_URL: "http://127.0.0.1:9",
        PUSH_ACCOUNT_SID: ACCOUNT_SID,
        PUSH_SERVICE_SID: SERVICE_SID,
        PORT: "0",
      });
      for (const method of ["log", "warn", "error"] as const)
        jest.spyOn(console, method).mockImplementation(() => {});
      const { listen } = Server.prototype;
      jest.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server, ...args) {
        listening.push(this);
        return listen.apply(this, args);
      });
    });
    afterEach(async () => {
      jest.restoreAllMocks();
      process.removeAllListeners("SIGTERM");
      for (const server of listening.splice(0))
        await new Promise((resolve) => server.close(resolve));
    });

    const isTest = (code: string) => code.includes("\ntest(");
    const numbered = blocks.map((code, index) => [index, code.split("\n")[0] ?? "", code] as const);
    it.each(numbered.filter(([, , code]) => !isTest(code)))(
      "block %i, %s",
      async (index, _line, code) => {
        const exported = require(fileOf(index)) as Record<string, unknown>;
        expect(listening).toHaveLength(/^(app|server)\.listen\(/m.test(code) ? 1 : 0);
        for (const server of listening) {
          const { port } = server.address() as AddressInfo;
          const path = "/webhooks/push";
          const call = { ...eventCall("challenge.approved"), path };
          const login = {
            method: "POST",
            path: `/login/user-7f3a-22/${CHALLENGE_SID}`,
            headers: {},
            body: undefined,
          };
          const waits = code.includes("/login/") ? send(port, login) : undefined;
          expect(await send(port, call)).toHaveProperty("status", 200);
          expect(await send(port, { ...call, body: "x=1" })).toHaveProperty("status", 403);
          if (waits !== undefined) {
            expect(await waits).toHaveProperty("status", 200);
            expect(
              await send(port, { ...login, path: login.path.replace("22", "23") }),
            ).toHaveProperty("status", 403);
          }
        }
        if (typeof exported.handler === "function") {
          const { method, path, headers, body = "" } = eventCall("factor.created");
          const event = {
            requestContext: { http: { method } },
            rawPath: path,
            rawQueryString: "",
            headers,
          };
          const run = (text: string, base64: boolean) =>
            (exported.handler as (call: object) => Promise<object>)({
              ...event,
              body: Buffer.from(text).toString(base64 ? "base64" : "utf8"),
              isBase64Encoded: base64,
            });
          expect(await run(body, false)).toEqual({ statusCode: 200 });
          expect(await run(body, true)).toEqual({ statusCode: 200 });
          expect(await run("x=1", false)).toEqual({ statusCode: 403 });
        }
        if (typeof exported.story === "function") {
          const { publicUrl, events } = await startReceiver("test-token");
          await (exported.story as (url: string) => Promise<void>)(publicUrl);
          const told = jest
            .mocked(console.log)
            .mock.calls.filter(([, what]) => what === "succeeded");
          expect(told).toEqual([
            ["factor.created", "succeeded", 1],
            ["factor.verified", "succeeded", 1],
            ["challenge.approved", "succeeded", 1],
            ["challenge.approved", "succeeded", 1],
          ]);
          expect(events).toHaveLength(3);
          await stopEmulators();
        }
      },
    );

    it.each(numbered.filter(([, , code]) => isTest(code)))(
      "block %i, %s, as a test of Jest",
      async (index, _line, code) => {
        const file = join(folder, `block-${index}.test.ts`);
        writeFileSync(file, code);
        const jestBin = join(root, "node_modules", "jest", "bin", "jest.js");
        const args = [jestBin, "--runTestsByPath", file, "--reporters", "default"];
        const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: root });
        expect(stderr).toMatch(/^Tests: +1 passed, 1 total$/m);
      },
      60_000,
    );
  });

  it("lists every code with its status", () => {
    const rows = [...readme.matchAll(/^\|.*\| `([A-Z_]+)` +\| (\d{3})/gm)];
    const documented = Object.fromEntries(
      rows.map(([, code = "", status]) => [code, Number(status)]),
    );
    expect(documented).toEqual(STATUS_BY_CODE);
  });

  it("lists every option of the durable queue", () => {
    const section = readme.slice(
      readme.indexOf("## Durable mode"),
      readme.indexOf("Redis must have"),
    );
    const documented = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    const known = listOptions(() => durableQueue({ "?": 1 } as never));
    expect(documented.toSorted()).toEqual(known);
  });

  it("lists every option of the emulator", () => {
    const section = readme.slice(
      readme.indexOf("## Local emulator"),
      readme.indexOf("`emulator.deliveries` has"),
    );
    const rows = [...section.matchAll(/^\|((?: `\w+`,?)+) +\|/gm)].map(([, names = ""]) => names);
    const documented = rows.flatMap((names) => names.match(/\w+/g) ?? []);
    expect(documented.toSorted()).toEqual(listOptions(() => createEmulator({ "?": 1 } as never)));
  });

  it("lists every option", () => {
    const section = readme.slice(
      readme.indexOf("## Options"),
      readme.indexOf("## What is answered"),
    );
    const documented = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    expect(documented.toSorted()).toEqual(listOptions(() => pushWebhooks({ "?": 1 } as never)));
  });
});

/** The options that a refusal of an unknown one names. */
function listOptions(refuse: () => unknown): string[] {
  try {
    refuse();
  } catch (error) {
    const [, names = ""] = (error as Error).message.split("The options are: ");
    return names.replace(".", "").split(", ").toSorted();
  }
  return [];
}

describe("the SQL of the dedupe example", () => {
  it("is driven by a store whose methods run it in order", async () => {
    const index = blocks.findIndex((code) => code.includes("sqlDedupe"));
    const { sqlDedupe } = require(fileOf(index)) as {
      sqlDedupe: (query: (sql: string) => Promise<{ done: boolean }[]>) => {
        claim: (uuid: string) => Promise<string>;
      };
    };
    const answers = [[{ done: false }], [], [{ done: true }], [], [{ done: false }]];
    const store = sqlDedupe(() => Promise.resolve(answers.shift() ?? []));
    const claims = [await store.claim("a"), await store.claim("a"), await store.claim("a")];
    expect(claims).toEqual(["new", "done", "running"]);
  });
});
