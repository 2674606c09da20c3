/** The code blocks of README.md and docs: each compiles, and each runs. */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventCall,
  PUBLIC_URL,
  SERVICE_SID,
} from "./support/calls";
import { DOCUMENTS, listBlocks, readText } from "./support/docs";
import { startReceiver, stopEmulators } from "./support/emulators";
import { send } from "./support/servers";

const root = join(__dirname, "..");
const folder = join(__dirname, ".readme");
const blocks = DOCUMENTS.flatMap((file) => listBlocks(file));
const isTest = ({ code }: { code: string }) => code.includes("\ntest(");
const named = (chosen: typeof blocks) => chosen.map((block) => [block.name, block.code] as const);

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const settings = { extends: "../../tsconfig.json", include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  for (const { name, code } of blocks) writeFileSync(join(folder, `${name}.ts`), code);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("README and docs", () => {
  it("begin with examples/receive.ts, and have one block for each of twelve tasks", () => {
    expect(blocks[0]?.code).toBe(readText("examples/receive.ts"));
    const headings = readText("docs/tasks.md").match(/^## \d+\. /gm) ?? [];
    expect(headings).toHaveLength(12);
    expect(listBlocks("docs/tasks.md")).toHaveLength(12);
  });

  it("have code that compiles", async () => {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const compiled = promisify(execFile)(process.execPath, [tsc, "-p", folder]);
    await expect(compiled).resolves.toHaveProperty("stdout", "");
  }, 60_000);

  describe("have code that runs:", () => {
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
      for (const server of listening.splice(0)) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    });

    const scripts = blocks.filter((block) => !isTest(block));
    it.each(named(scripts))("%s", async (name, code) => {
      // What the login example declares as the app's own code.
      Object.assign(globalThis, {
        checkPassword: ({ user }: { user: string }) => Promise.resolve(user),
        createChallenge: () => Promise.resolve(CHALLENGE_SID),
      });
      const exported = require(join(folder, `${name}.ts`)) as Record<string, unknown>;
      expect(listening).toHaveLength(/\b(app|server)\.listen\(/.test(code) ? 1 : 0);
      for (const server of listening) {
        const { port } = server.address() as AddressInfo;
        const call = { ...eventCall("challenge.approved"), path: "/webhooks/push" };
        const logins = code.includes('"/login"') ? await startLogins(port) : undefined;
        expect(await send(port, call)).toHaveProperty("status", 200);
        expect(await send(port, { ...call, body: "x=1" })).toHaveProperty("status", 403);
        if (logins !== undefined) expect(await logins.finish()).toEqual(LOGIN_STATUSES);
      }
      if (typeof exported.handler === "function") await runFunction(exported.handler as Run);
      if (typeof exported.story === "function") await runStory(exported.story as Story);
    });

    it.each(named(blocks.filter(isTest)))(
      "%s, as a test of Jest",
      async (name, code) => {
        const file = join(folder, `${name}.test.ts`);
        writeFileSync(file, code);
        const jestBin = join(root, "node_modules", "jest", "bin", "jest.js");
        const args = [jestBin, "--runTestsByPath", file, "--reporters", "default"];
        const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: root });
        expect(stderr).toMatch(/^Tests: +1 passed, 1 total$/m);
      },
      60_000,
    );
  });
});

const LOGIN_STATUSES = {
  owner: 200,
  ownerAgain: 404,
  otherUser: 403,
  unknownAttempt: 404,
};

/** Begins logins whose challenge is approved by `user-7f3a-22`, its user and another one. */
async function startLogins(port: number) {
  const post = (path: string, body?: object) =>
    send(port, {
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: body && JSON.stringify(body),
    });
  const begin = async (user: string) => {
    const begun = await post("/login", { user });
    expect(begun.status).toBe(201);
    return `/login/${((await begun.json()) as { attempt: string }).attempt}`;
  };
  const own = await begin("user-7f3a-22");
  const foreign = await begin("mallory");
  const waits = Promise.all([post(own), post(foreign)]);
  return {
    async finish(): Promise<typeof LOGIN_STATUSES> {
      const [owner, otherUser] = await waits;
      return {
        owner: owner.status,
        ownerAgain: (await post(own)).status,
        otherUser: otherUser.status,
        unknownAttempt: (await post("/login/1")).status,
      };
    },
  };
}

type Run = (request: object) => Promise<object>;

async function runFunction(run: Run): Promise<void> {
  const { method, path, headers, body = "" } = eventCall("factor.created");
  const request = { requestContext: { http: { method } }, rawPath: path, rawQueryString: "" };
  const runWith = (text: string, isBase64Encoded: boolean) =>
    run({
      ...request,
      headers,
      body: Buffer.from(text).toString(isBase64Encoded ? "base64" : "utf8"),
      isBase64Encoded,
    });
  expect(await runWith(body, false)).toEqual({ statusCode: 200 });
  expect(await runWith(body, true)).toEqual({ statusCode: 200 });
  expect(await runWith("x=1", false)).toEqual({ statusCode: 403 });
}

type Story = (webhookUrl: string) => Promise<void>;

async function runStory(story: Story): Promise<void> {
  const { publicUrl, events } = await startReceiver("test-token");
  await story(publicUrl);
  const logged = jest.mocked(console.log).mock.calls.filter(([, what]) => what === "succeeded");
  expect(logged).toEqual([
    ["factor.created", "succeeded", 1],
    ["factor.verified", "succeeded", 1],
    ["challenge.approved", "succeeded", 1],
    ["challenge.approved", "succeeded", 1],
  ]);
  expect(events).toHaveLength(3);
  await stopEmulators();
}
