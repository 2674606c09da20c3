import { execFile, spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeWithRedis } from "./support/redis";

const root = join(__dirname, "..");
const tsx = join(root, "node_modules", "tsx", "dist", "cli.mjs");

describeWithRedis("npm run durable", () => {
  it("handles every event, lets the waiting login go on, and shows metrics", async () => {
    const run = promisify(execFile)(process.execPath, [tsx, "examples/durable/start.ts"], {
      cwd: root,
    });
    const { stdout, stderr } = await run;
    expect(stderr).toBe("");
    expect(stdout.match(/^200 for a factor$/gm)).toHaveLength(20);
    expect(stdout.match(/^worker \d+: factor\.created, attempt \d$/gm)).toHaveLength(20);
    expect(stdout).toContain('the waiting login goes on: {"type":"challenge.approved"}');
    expect(stdout).toContain('push_webhooks_total{what="stored",code="",type="factor.created"} 20');
  }, 60_000);
});

describe("npm start", () => {
  let started: ChildProcessWithoutNullStreams;
  let output = "";
  let complaints = "";
  let env: NodeJS.ProcessEnv;
  let commands: string[];

  beforeAll(async () => {
    started = spawn(process.execPath, [tsx, "examples/start.ts"], { cwd: root });
    started.stderr.on("data", (chunk: Buffer) => void (complaints += chunk.toString()));
    for await (const chunk of started.stdout.iterator({ destroyOnReturn: false })) {
      output += String(chunk);
      if (output.includes("/approve\n")) break;
    }
    started.stdout.on("data", (chunk: Buffer) => void (output += chunk.toString()));
    const [, advice = ""] = output.split("try:\n");
    commands = advice
      .trim()
      .split("\n")
      .map((line) => line.trim());
    const exported = commands.filter((line) => line.startsWith("export "));
    env = Object.fromEntries(
      exported.flatMap((line) => line.split(" ").slice(1)).map((pair) => pair.split("=")),
    ) as NodeJS.ProcessEnv;
  }, 60_000);

  afterAll(() => void started.kill("SIGKILL"));

  it("shows all five types of event, and two waiting logins", () => {
    expect(complaints).toBe("");
    for (const line of [
      /^Webhook YW[0-9a-f]{32} created; 0 findings of configuration drift\.$/m,
      /^  handled: factor\.created for ada \(Zoë's phone\)$/m,
      /^  handled: factor\.verified for /m,
      /^  handled: factor\.deleted for ada \(Old phone\)$/m,
      /^  handled: challenge\.approved by ada: Sign in from Köln\?$/m,
      /^  the waiting login resolves: challenge\.approved$/m,
      /^  handled: challenge\.denied by /m,
      /^  the waiting login resolves: challenge\.denied$/m,
    ]) {
      expect(output).toMatch(line);
    }
  });

  /** Runs a command that it prints. */
  async function tryOut(part: string) {
    const command = commands.find((line) => line.includes(part)) ?? "";
    const [, script = "", ...args] = command.split(" ").slice(1);
    try {
      const run = promisify(execFile)(process.execPath, [tsx, script, ...args], {
        cwd: root,
        env: { ...process.env, ...env },
      });
      return { code: 0, ...(await run) };
    } catch (error) {
      return error as { code: number; stdout: string; stderr: string };
    }
  }

  it.each([
    ["/push", 0, /^200 challenge\.approved v2 in [\d.]+ ms\n$/],
    ["--duplicate", 0, /^(200 .*\n){2}$/],
    ["--bad-signature", 1, /^403 /],
    ["webhooks list", 0, /enabled\tv2\thttp:\/\/127\.0\.0\.1:\d+\/webhooks\/push\t\*\n$/],
  ])(
    "prints a command that works: %s",
    async (part, code, stdout) => {
      const before = output.length;
      expect(await tryOut(part)).toMatchObject({ code, stdout: expect.stringMatching(stdout) });
      const handled = output.slice(before);
      if (code === 1) expect(handled).toContain("rejected: SIGNATURE_MISMATCH, TOKEN_WRONG");
      else if (part !== "webhooks list") expect(handled.match(/handled:/g)).toHaveLength(1);
    },
    30_000,
  );

  it.each([
    ["/admin/push/webhooks", 200],
    ["/admin/push/keys", 201],
    ["/approve", 200],
  ])("responds to the command that it prints: %s", async (part, status) => {
    const command = commands.find((line) => line.startsWith("curl") && line.includes(part)) ?? "";
    const url = command.split(" ").at(-1) ?? "";
    const headers = [...command.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(
      ([, name = "", value = ""]): [string, string] => [name, value],
    );
    if (command.includes("-u ")) {
      const { PUSH_ACCOUNT_SID = "", PUSH_AUTH_TOKEN = "" } = env;
      headers.push(["authorization", `Basic ${btoa(`${PUSH_ACCOUNT_SID}:${PUSH_AUTH_TOKEN}`)}`]);
    }
    const [, body] = /-d '([^']+)'/.exec(command) ?? [];
    const method = body !== undefined || command.includes("-X POST") ? "POST" : "GET";
    const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
    expect([answer.status, Object.keys((await answer.json()) as object).length > 0]).toEqual([
      status,
      true,
    ]);
  });

  it("ends with Ctrl-C", async () => {
    const ended = once(started, "exit");
    started.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
    expect(complaints).toBe("");
  }, 20_000);
});
