/** Each command that has `--json`: its exit code, stdout and stderr, for a success and for a failure. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { envOf, startEmulator, startReceiver, stopEmulators } from "../support/emulators";
import { useFolder } from "../support/folders";
import { runCommand, startCommand } from "../support/terminals";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";

const capture = join(useFolder(), "captures.jsonl");
afterEach(stopEmulators);

const { method, path, headers, body = "" } = eventRequest("challenge.approved");
const captured = { method, url: path, headers: Object.entries(headers), body: btoa(body) };
writeFileSync(capture, `${JSON.stringify(captured)}\n`);

/** Starts what the commands talk to; returns the environment, and the values of the names in a line. */
async function start() {
  const emulator = await startEmulator();
  const { publicUrl } = await startReceiver(AUTH_TOKEN);
  const other = emulator.createKey({ friendly_name: "ci" }).sid;
  const none = `SK${"0".repeat(32)}`;
  const own = emulator.createKey({ type: "main" });
  const env = envOf(emulator);
  emulator.createWebhook({ webhook_url: PUBLIC_URL, event_types: ["challenge.approved"] });
  return {
    env,
    asKey: { ...env, PUSH_KEY_SID: own.sid, PUSH_KEY_SECRET: own.secret },
    signing: { PUSH_AUTH_TOKEN: AUTH_TOKEN },
    values: {
      URL: PUBLIC_URL,
      RECEIVER: publicUrl,
      OTHER: other,
      NONE: none,
      OWN: own.sid,
      CAPTURE: capture,
    },
  };
}

type As = "env" | "asKey" | "signing";
type Row = [line: string, code: number, as: As, stdout: RegExp, stderr?: RegExp, json?: RegExp];

/** What is in stdout; stderr is not empty only where it is given. */
const ROWS: Row[] = [
  ["webhooks list", 0, "env", /^SID\t/],
  ["webhooks ensure --url URL --events challenge.denied", 0, "env", /^updated YW/],
  ["webhooks check --url URL --handled challenge.approved", 0, "env", /^No configuration drift/],
  ["webhooks check --url URL --handled challenge.denied", 1, "env", /^[A-Z_]+ YW/],
  ["webhooks list", 0, "asKey", /^SID\t/],
  ["keys list", 0, "env", /^SID\t[^]*\nSK\w{32}\t[^\t]+\tci\n/],
  [
    "keys create --name ci",
    0,
    "env",
    /^SK\w{32}\n[A-Za-z0-9]{32}\n$/,
    /^(The secret is shown only once: store it now\.\n)?$/,
    /"friendly_name": "ci"[^]*"secret": "\w{32}"/,
  ],
  ["keys delete OTHER", 0, "env", /^deleted SK\w{32}\n$/, /^$/, /"deleted": true/],
  ["keys delete NONE", 1, "env", /^$/, /was not found/],
  ["keys delete SK123", 2, "env", /^$/, /sid: must be SK and 32 .* why INVALID_INPUT\n$/],
  ["keys delete OWN", 1, "asKey", /^$/, /--force/],
  ["keys delete OWN --force", 0, "asKey", /^deleted SK/],
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
  [
    "replay CAPTURE --to RECEIVER",
    1,
    "signing",
    /^400 POST/,
    /^$/,
    /"method": "POST",\s+"url": "\/push\/events",\s+"status": 400/,
  ],
  ["replay CAPTURE --to https://127.0.0.1:2", 1, "signing", /^$/, /ECONNREFUSED/],
];

const insert = (line: string, values: object) =>
  line.replaceAll(/\b[A-Z]+\b/g, (name) => Reflect.get(values, name) ?? name).split(" ");

it.each(ROWS)(
  "%s ends with %i, also with --json",
  async (line, code, as, stdout, stderr = /^$/, inJson = /^/) => {
    for (const json of ["", " --json"]) {
      const { values, ...envs } = await start();
      const ended = await runCommand(insert(line + json, values), envs[as]);
      expect({ json, code: ended.code }).toEqual({ json, code });
      expect(ended.stderr).toMatch(stderr);
      if (json === "" || ended.stdout === "") expect(ended.stdout).toMatch(stdout);
      else {
        expect(JSON.parse(ended.stdout)).toEqual(expect.anything());
        expect(ended.stdout).toMatch(inJson);
      }
    }
  },
);

it.each([
  [33, "webhooks check --url URL --handled challenge.denied", "env"],
  [32, "webhooks check --url URL --handled challenge.approved", "env"],
  [32, "trigger factor.verified --url RECEIVER", "signing"],
  [31, "trigger factor.verified --url RECEIVER --bad-signature", "signing"],
  [32, "explain --capture CAPTURE --url URL", "signing"],
  [33, "explain --capture CAPTURE --url URL", "env"],
  [32, "explain --capture CAPTURE --url URL/", "signing"],
  [31, "replay CAPTURE --to RECEIVER", "signing"],
] as const)("the colour %i begins the output of %s", async (colour, line, as) => {
  const { values, ...envs } = await start();
  const { run, written } = startCommand(insert(line, values), envs[as], { isTTY: true });
  await run;
  expect(written.stdout).toMatch(`\u001B[${colour}m`);
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
  const commands = await listCommands();
  const others = commands.filter((name) => !ROWS.some(([line]) => line.startsWith(name)));
  // queue-subcommands.ts and rehearse.test.ts have the outputs of these.
  const ofQueue = ["stats", "dead-letters", "retry", "discard", "count-user", "erase-user"];
  expect(others).toEqual(["emulator", "rehearse", ...ofQueue.map((name) => `queue ${name}`)]);
});
