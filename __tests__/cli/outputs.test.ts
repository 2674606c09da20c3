/** Each command that has `--json`: its exit code, stdout and stderr, for a success and for a failure. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHandlers, PermanentError } from "express-push-verification";
import { storeFactor } from "../support/durable";
import { envOf, startEmulator, startReceiver, stopEmulators } from "../support/emulators";
import { openQueue } from "../support/engine";
import { itWithRedis, startRedis, stopRedis } from "../support/redis";
import { runCommand } from "../support/terminals";
import { countTime, until } from "../support/waiting";
import { ACCOUNT_SID, AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";

const folder = mkdtempSync(join(tmpdir(), "push-outputs-"));
const capture = join(folder, "captures.jsonl");
// A Redis that does not respond in time is named in stderr.
countTime();
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(stopEmulators);

const { method, path, headers, body = "" } = eventRequest("challenge.approved");
const captured = { method, url: path, headers: Object.entries(headers), body: btoa(body) };
writeFileSync(capture, `${JSON.stringify(captured)}\n`);

/** Starts what the commands talk to; returns the environment, and the values of the names in a line. */
async function start() {
  const emulator = await startEmulator();
  const { publicUrl } = await startReceiver(AUTH_TOKEN);
  const other = emulator.createKey().sid;
  const own = emulator.createKey({ type: "main" });
  const env = envOf(emulator);
  emulator.createWebhook({ webhook_url: PUBLIC_URL, event_types: ["challenge.approved"] });
  return {
    env,
    asKey: { ...env, PUSH_KEY_SID: own.sid, PUSH_KEY_SECRET: own.secret },
    signing: { PUSH_AUTH_TOKEN: AUTH_TOKEN },
    values: { URL: PUBLIC_URL, RECEIVER: publicUrl, OTHER: other, OWN: own.sid, CAPTURE: capture },
  };
}

type As = "env" | "asKey" | "signing";

/** What `stdout` begins with, without `--json`; stderr is not empty only where it is given. */
const ROWS: [line: string, code: number, as: As, stdout: RegExp, stderr?: RegExp][] = [
  ["webhooks list", 0, "env", /^SID\t/],
  ["webhooks ensure --url URL --events challenge.denied", 0, "env", /^updated YW/],
  ["webhooks check --url URL --handled challenge.approved", 0, "env", /^No configuration drift/],
  ["webhooks check --url URL --handled challenge.denied", 1, "env", /^[A-Z_]+ YW/],
  ["keys list", 0, "env", /^SID\t/],
  ["keys create", 0, "env", /^SK\w{32}\n/, /^(The secret is shown only once[^]*)?$/],
  ["keys delete OTHER", 0, "env", /^deleted SK/],
  ["keys delete OWN", 1, "asKey", /^$/, /--force/],
  ["trigger factor.verified --url RECEIVER", 0, "signing", /^200 /],
  [
    "trigger factor.verified --url RECEIVER --bad-signature",
    1,
    "signing",
    /^403 /,
    /publicUrl, authToken and signatureHeader/,
  ],
  ["explain --capture CAPTURE --url URL", 0, "signing", /^The signature matches/],
  ["explain --capture CAPTURE --url URL/x", 1, "signing", /^1\. /],
  ["replay CAPTURE --to RECEIVER", 1, "signing", /^400 POST/],
];

it.each(ROWS)(
  "%s ends with %i, also with --json",
  async (line, code, as, stdout, stderr = /^$/) => {
    for (const json of ["", " --json"]) {
      const { values, ...envs } = await start();
      const args = (line + json).replaceAll(
        /\b[A-Z]+\b/g,
        (name) => Reflect.get(values, name) ?? name,
      );
      const ended = await runCommand(args.split(" "), envs[as]);
      expect({ json, code: ended.code }).toEqual({ json, code });
      expect(ended.stderr).toMatch(stderr);
      if (json === "" || ended.stdout === "") expect(ended.stdout).toMatch(stdout);
      else expect(JSON.parse(ended.stdout)).toEqual(expect.anything());
    }
  },
);

const OTHER_ACCOUNT = `AC${"0".repeat(32)}`;
const QUEUE_ROWS: [line: string, code: number, stdout: RegExp][] = [
  ["queue stats", 0, /^COUNT\t/],
  ["queue dead-letters", 0, /^UUID\t/],
  ["queue retry none", 1, /^There is no such/],
  [`queue retry UUID --account-sid ${OTHER_ACCOUNT}`, 1, /^There is no such/],
  ["queue retry UUID", 0, /^retried 1/],
  ["queue retry --all", 0, /^retried \d/],
  ["queue discard none", 1, /^There is no such/],
  [`queue discard UUID --account-sid ${OTHER_ACCOUNT}`, 1, /^There is no such/],
  ["queue discard UUID", 0, /^discarded 1/],
  [`queue count-user user --account-sid ${ACCOUNT_SID}`, 0, /^COUNT\t/],
  [`queue erase-user user --account-sid ${ACCOUNT_SID}`, 0, /^COUNT\t/],
];

itWithRedis("the commands of a queue", async () => {
  const { url } = await startRedis();
  const queue = openQueue("redis", { name: "cli", connection: url, attempts: 1 });
  const fails = createHandlers().onAny(() => {
    throw new PermanentError("down");
  });
  for (const [line, code, stdout] of QUEUE_ROWS) {
    for (const json of ["", " --json"]) {
      const uuid = `${line}${json}`.replaceAll(" ", "");
      await storeFactor(queue, uuid);
      const worker = queue.work(fails, { onError() {} });
      await until(async () => (await queue.find(uuid))?.state === "dead");
      await worker.close();
      const args = `${line.replace("UUID", uuid)}${json} --name cli`.split(" ");
      const ended = await runCommand(args, { PUSH_QUEUE: url });
      expect({ line, json, code: ended.code, stderr: ended.stderr }).toEqual({
        line,
        json,
        code,
        stderr: "",
      });
      if (json === "") expect(ended.stdout).toMatch(stdout);
      else expect(JSON.parse(ended.stdout)).toEqual(expect.anything());
    }
  }
  await queue.close();
  await stopRedis();
});

/** Lists the commands below one that have `--json`. */
async function listCommands(parent: string[] = []): Promise<string[]> {
  const { stdout } = await runCommand([...parent, "--help"]);
  const [, names = ""] = stdout.split("\nCommands:\n");
  const found = [...names.matchAll(/^ {2}([\w-]+)/gm)].flatMap(([, name = ""]) =>
    name === "help" ? [] : name,
  );
  if (found.length === 0) return stdout.includes("--json") ? [parent.join(" ")] : [];
  return (await Promise.all(found.map((name) => listCommands([...parent, name])))).flat();
}

it("has a row for each command, beside those that run until they are stopped", async () => {
  const lines = [...ROWS, ...QUEUE_ROWS].map(([line]) => line);
  const commands = await listCommands();
  // rehearse.test.ts has the outputs of rehearse.
  expect(commands.filter((name) => !lines.some((line) => line.startsWith(name)))).toEqual([
    "emulator",
    "rehearse",
  ]);
});
