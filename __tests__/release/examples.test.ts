import { execFile } from "node:child_process";
import { once } from "node:events";
import { isBuiltin } from "node:module";
import { connect } from "node:net";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startGroup, type ProcessGroup } from "../examples/process-group";
import { findNodeWithSqlite, itWithSqlite } from "../support/node-24";
import { npm } from "../support/npm";
import { describeNeeds, itNeeds } from "../support/platform";
import { itWithRedis } from "../support/redis";
import { until } from "../support/waiting";
import { ROOT } from "../support/docs";

const node = findNodeWithSqlite();
const run = promisify(execFile);
const DURABLE = ["--import", "tsx", "examples/durable/start.ts"];

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "push-example-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const expectNothingLeft = () =>
  expect(readdirSync(folder).filter((name) => name.startsWith("push-"))).toEqual([]);

describe("npm run durable", () => {
  async function expectExample(binary: string, env: NodeJS.ProcessEnv, queue: string) {
    const { stdout, stderr } = await run(binary, DURABLE, { cwd: ROOT, env });
    expect(stderr).toBe("");
    expect(stdout).toContain(queue);
    expect(stdout.match(/^200 for a factor$/gm)).toHaveLength(20);
    expect(stdout.match(/^worker \d+: factor\.created, attempt \d$/gm)).toHaveLength(20);
    expect(stdout).toContain('the waiting login goes on: {"type":"challenge.approved"}');
    expect(stdout).toContain('push_webhooks_total{what="stored",code="",type="factor.created"} 20');
  }

  itWithRedis("uses Redis where there is a redis-server", () =>
    expectExample(process.execPath, process.env, "the queue is in Redis"),
  );

  itWithSqlite(node)("uses a SQLite file where there is no redis-server", () => {
    const env = { ...process.env, PATH: "/nowhere" };
    return expectExample(node ?? "", env, "the queue is a SQLite file");
  });

  itNeeds("process groups").each<[string, string, (started: ProcessGroup) => void]>([
    ["a signal while a login waits", "200 for a factor", ({ child }) => void child.kill("SIGTERM")],
    [
      "the end of the program that reads its output",
      "the queue is",
      ({ child }) => void child.stdout.destroy(),
    ],
  ])("stopped by %s leaves no process and no folder behind", async (_what, output, stop) => {
    const line = [node ?? process.execPath, ...DURABLE];
    const started = await startGroup(line, output, { TMPDIR: folder });
    stop(started);
    await until(() => !started.isRunning()).finally(() => {
      if (started.isRunning()) started.kill("SIGKILL");
    });
    expectNothingLeft();
  });

  if (!isBuiltin("node:sqlite")) {
    it("without redis-server says how to get Redis, with no process or folder left behind", async () => {
      const env = { ...process.env, PATH: folder, TMPDIR: folder };
      // Settles when every process that has its output has ended.
      await expect(run(process.execPath, DURABLE, { cwd: ROOT, env })).rejects.toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("apt-get install redis-server"),
      });
      expectNothingLeft();
    });
  }
});

describeNeeds("process groups")("npm run story", () => {
  let started: ProcessGroup;
  let folderOfStory: string;
  let commands: string[];
  // npm itself may warn of the settings of this machine.
  const readErrors = () => started.printed.stderr.replaceAll(/^npm .*\n/gm, "");

  beforeAll(async () => {
    started = await startGroup(npm("run", "story", "--", "--keep").flat(), "/approve\n");
    const [, settings = "", advice = ""] =
      /as story\.env:\n(.*)\n\nIn another terminal.*:\n(.*)/s.exec(started.printed.stdout) ?? [];
    folderOfStory = mkdtempSync(join(tmpdir(), "push-story-"));
    const file = join(folderOfStory, "story.env");
    writeFileSync(file, settings);
    commands = advice
      .trim()
      .split("\n")
      .map((line) => line.trim().replace("story.env", file));
  });

  afterAll(() => {
    if (started.isRunning()) started.kill("SIGKILL");
    rmSync(folderOfStory, { recursive: true });
  });

  it("ends by itself without --keep", async () => {
    const ended = await run(...npm("run", "story"), { cwd: ROOT });
    expect(ended.stdout).toContain("resolves: challenge.denied");
  });

  it("shows all five types of events and two waiting logins", () => {
    expect(readErrors()).toBe("");
    for (const line of [
      /^Webhook YW[0-9a-f]{32} created; 0 findings of configuration drift\.$/m,
      /^  handled: factor\.created for user-5e81-07 \(Zoë's phone\)$/m,
      /^  handled: factor\.verified for /m,
      /^  handled: factor\.deleted for user-5e81-07 \(Old phone\)$/m,
      /^  handled: challenge\.approved by user-5e81-07: Sign in from Köln\?$/m,
      /^  the waiting login resolves: challenge\.approved$/m,
      /^  handled: challenge\.denied by /m,
      /^  the waiting login resolves: challenge\.denied$/m,
    ]) {
      expect(started.printed.stdout).toMatch(line);
    }
  });

  it.each([
    ["/push", 0, /^200 factor\.created v2 in [\d.]+ ms \(uuid [^)]+\)\n$/],
    ["--duplicate", 0, /^(200 .*\n){2}$/],
    ["--bad-signature", 1, /^403 /],
    ["webhooks list", 0, /enabled\tv2\thttp:\/\/127\.0\.0\.1:\d+\/webhooks\/push\t\*\n$/],
  ])("prints a working command: %s", async (part, code, stdout) => {
    const before = started.printed.stdout.length;
    const chosen = commands.filter((line) => line.includes(part));
    const [words = []] = chosen.map((line) => line.split(" ").slice(2));
    const command = run(process.execPath, ["--import", "tsx", ...words], { cwd: ROOT });
    expect(await command.catch((error: unknown) => error)).toMatchObject({
      stdout: expect.stringMatching(stdout),
      ...(code > 0 && { code }),
    });
    if (part === "webhooks list") return;
    const said = code === 0 ? "handled:" : "rejected: SIGNATURE_MISMATCH, TOKEN_WRONG";
    const count = () => started.printed.stdout.slice(before).split(said).length - 1;
    await until(() => count() > 0);
    expect(count()).toBe(1);
  });

  it.each([
    ["/admin/push/webhooks", 200],
    ["/approve", 200],
  ])("responds to the printed command: %s", async (part, status) => {
    const command = commands.find((line) => line.startsWith("curl") && line.includes(part)) ?? "";
    const shell = `${command} --silent --noproxy '*' --write-out ' %{http_code}'`;
    const { stdout } = await run("sh", ["-c", shell]);
    expect(stdout).toMatch(new RegExp(`^\\{.+\\} ${status}$`, "s"));
  });

  it("leaves no process behind on Ctrl-C, also during an upload", async () => {
    const [, url = ""] =
      /receives its webhook requests at (\S+)\.\n/.exec(started.printed.stdout) ?? [];
    const upload = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
    const head = "POST /webhooks/push HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n";
    upload.write(`${head}Content-Type: application/x-www-form-urlencoded\r\n\r\nabc`);
    await once(upload, "connect");
    started.kill("SIGINT");
    await until(() => !started.isRunning());
    upload.destroy();
    expect(readErrors()).toBe("");
  });
});
