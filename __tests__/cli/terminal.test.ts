/** Output of a terminal: columns, colours, prompts, and no control characters of others. */
import http from "node:http";
import fc from "fast-check";
import type { Emulator } from "express-push-verification/emulator";
import { CONTROL, hostileText } from "../support/control-characters";
import { envOf, startEmulator, stopEmulators } from "../support/emulators";
import { startCommand } from "../support/terminals";

let emulator: Emulator;
beforeEach(async () => void (emulator = await startEmulator()));
afterEach(stopEmulators);

function listKeys({ env = {}, isTTY = false, token = emulator.authToken, json = false } = {}) {
  const settings = { ...envOf(emulator), PUSH_AUTH_TOKEN: token, ...env };
  return startCommand(["keys", "list", ...(json ? ["--json"] : [])], settings, { isTTY });
}

const HEADER = `SID${" ".repeat(33)}CREATED${" ".repeat(26)}NAME`;
it.each<[boolean, object, string, string]>([
  [true, {}, "  ", `\u001B[2m${HEADER}\u001B[0m`],
  [true, { NO_COLOR: "" }, "  ", `\u001B[2m${HEADER}\u001B[0m`],
  [true, { NO_COLOR: "1" }, "  ", HEADER],
  [false, {}, "\t", "SID\tCREATED\tNAME"],
])("a table on a terminal: %s, with %j", async (isTTY, env, gap, header) => {
  const { sid, date_created } = emulator.createKey({ friendly_name: "a\u001B[2Jb\n\t\u202Ec" });
  const { run, written } = listKeys({ env, isTTY });
  expect(await run).toBe(0);
  expect(written.stdout).toBe(`${header}\n${[sid, date_created, "a?[2Jb???c"].join(gap)}\n`);
});

it("JSON escapes the control characters of a value", async () => {
  const names = fc.sample(hostileText, 40).map((text) => text.toWellFormed());
  for (const friendly_name of names) emulator.createKey({ friendly_name });
  const { run, written } = listKeys({ json: true });
  expect(await run).toBe(0);
  const keys = JSON.parse(written.stdout) as { friendly_name: string }[];
  expect(keys.map((key) => key.friendly_name).toSorted()).toEqual(names.toSorted());
  expect(written.stdout.replaceAll("\n", "")).not.toMatch(CONTROL);
});

type Prompt = ReturnType<typeof listKeys>;
const CLOSED = "push-webhooks: The prompt was closed without an input.\n";
it.each<[what: string, act: (prompt: Prompt) => unknown, code: number, end?: string]>([
  ["an input", ({ input }) => void input.write(`${emulator.authToken}\n`), 0],
  ["the end of inputs", ({ input }) => void input.end(), 2, CLOSED],
  ["Ctrl-C", ({ input }) => void input.write("\u0003"), 130],
  ["a signal before it", ({ interrupt }) => interrupt(), 130],
  ["a signal", ({ interrupt, waitFor }) => waitFor(/:/, "stderr").then(interrupt), 130],
])("a terminal asks for a secret and does not show it: %s", async (_what, act, code, end = "") => {
  const prompt = listKeys({ isTTY: true, token: "" });
  await act(prompt);
  const ended = [await prompt.run, prompt.written.stderr, prompt.input.isPaused()];
  expect(ended).toEqual([code, `PUSH_AUTH_TOKEN: \n${end}`, true]);
});

const unused = { PUSH_ACCOUNT_URL: "http://127.0.0.1:2", HTTPS_PROXY: "http://127.0.0.1:3" };
it.each(["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"])(
  "%s in the environment is named when it was not used",
  async (name) => {
    const env = { PUSH_ACCOUNT_URL: "http://127.0.0.1:2", [name]: unused.HTTPS_PROXY };
    const { run, written } = listKeys({ env });
    expect(await run).toBe(1);
    expect(written.stderr).toMatch(`${name} was not`);
  },
);

it.each<[isSupported: boolean, env: object, found: RegExp]>([
  [false, unused, /was not used\. Use Node\.js 24/],
  [true, unused, /was not used\. Set NODE_USE_ENV_PROXY=1/],
  [true, { ...unused, NODE_USE_ENV_PROXY: "1" }, /^(?!.*was not)/],
  [true, { HTTPS_PROXY: unused.HTTPS_PROXY }, /^(?!.*was not)/],
])(
  "names a proxy that was not used, with support %s and %j: %s",
  async (isSupported, env, found) => {
    const name = "allowedNodeEnvironmentFlags";
    const own = Object.getOwnPropertyDescriptor(process, name)!;
    const value = new Set(isSupported ? ["--use-env-proxy"] : []);
    Object.defineProperty(process, name, { value, configurable: true });
    const { run, written } = listKeys({ env, token: "another-token" });
    await run;
    expect(written.stderr).toMatch(found);
    Object.defineProperty(process, name, own);
  },
);

it("a proxy in the environment is used where Node.js can", async () => {
  const restore = jest.fn();
  const setGlobalProxyFromEnv = jest.fn(() => restore);
  Object.assign(http, { setGlobalProxyFromEnv });
  const other = listKeys({ env: unused });
  expect(await other.run).toBe(1);
  expect(other.written.stderr).not.toContain("HTTPS_PROXY");
  expect(setGlobalProxyFromEnv).toHaveBeenCalledWith(expect.objectContaining(unused));
  expect(restore).toHaveBeenCalledTimes(1);
  Reflect.deleteProperty(http, "setGlobalProxyFromEnv");
});

const circle = new Error("circle");
circle.cause = circle;
it.each<[string, unknown]>([
  ["a; b", new AggregateError([new Error("a"), new Error("b")])],
  ["ECONNREFUSED", Object.assign(new AggregateError([]), { code: "ECONNREFUSED" })],
  ["circle", circle],
  ["a?[2Jb", new TypeError("fetch failed", { cause: new Error("a\u001B[2Jb") })],
])("a failure names its innermost cause: %s", async (reason, cause) => {
  const fetched = jest.spyOn(globalThis, "fetch").mockRejectedValue(cause);
  const { run, written } = listKeys();
  expect(await run).toBe(1);
  expect(written.stderr).toMatch(/^push-webhooks: The service at \S+ could not be reached: /);
  expect(written.stderr).toContain(`: ${reason}. More: push-webhooks why UNREACHABLE\n`);
  fetched.mockRestore();
});
