import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PUSH_EVENT_TYPES, type ChallengeEvent, type PushEvent } from "express-push-verification";
import type { Emulator } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import { describeFailure, runProgram } from "../../lib/cli/program";
import { startEmulator, startReceiver, stopEmulators, type Receiver } from "../support/emulators";
import { findFreePort } from "../support/ports";
import { createTerminal, runCommand } from "../support/terminals";

const AUTH_TOKEN = "hush-hush-token";
const secret = { PUSH_AUTH_TOKEN: AUTH_TOKEN };

afterEach(stopEmulators);

/** Starts the program, which ends later. */
function startCommand(args: string[]) {
  const { terminal, written, interrupt } = createTerminal(secret);
  return { run: runProgram(args, terminal), written, interrupt };
}

describe("push-webhooks", () => {
  it.each<[string[], number, "stdout" | "stderr", RegExp]>([
    [["--help"], 0, "stdout", /Exit codes: 0 done/],
    [["--version"], 0, "stdout", /^\d+\.\d+\.\d+\n$/],
    [["trigger", "--help"], 0, "stdout", /--bad-signature/],
    [[], 2, "stderr", /Usage: push-webhooks/],
    [["emulater"], 2, "stderr", /unknown command 'emulater'\n\(Did you mean emulator\?\)/],
    [["trigger", "challenge.approve", "--url", "http://a.test/"], 2, "stderr", /Allowed choices/],
    [["trigger", "challenge.denied"], 2, "stderr", /required option '--url <url>' not specified/],
    [["trigger", "challenge.denied", "--url", "here"], 2, "stderr", /--url must be/],
    [
      ["trigger", "challenge.denied", "--url", "http://a.test", "--dupe"],
      2,
      "stderr",
      /unknown option/,
    ],
    [["trigger", "challenge.denied", "--url", "http://a.test", "--set", "x"], 2, "stderr", /--set/],
    [
      ["trigger", "challenge.denied", "--url", "http://a.test", "--to", "there"],
      2,
      "stderr",
      /--to must be .*"there"/,
    ],
    [
      ["emulator", "--webhook-url", "localhost:3000/x"],
      2,
      "stderr",
      /--webhook-url .*"localhost:3000\/x"/,
    ],
    [["emulator", "--port", "0x10"], 2, "stderr", /--port must be a number from 0 to 65535/],
    [
      ["webhooks", "check", "--url", "http://a", "--handled", "challenge.aproved"],
      2,
      "stderr",
      /Allowed choices/,
    ],
    [
      ["explain", "--url", "http://a", "--header", "x", "--method", "GET"],
      2,
      "stderr",
      /--received-url/,
    ],
    [["emulator", "--port", "99999"], 2, "stderr", /--port must be a number from 0 to 65535/],
    [
      ["explain", "--url", "http://a.test", "--header", "x", "--body-file", "/no"],
      2,
      "stderr",
      /\/no/,
    ],
    [["keys", "list"], 2, "stderr", /Set --account-url or PUSH_ACCOUNT_URL, .*PUSH_SERVICE_SID\./],
    [["keys", "list", "--username", "SK1"], 2, "stderr", /PUSH_SERVICE_SID, PUSH_KEY_SECRET\./],
    [
      ["trigger", "challenge.denied", "--url", "http://a.test", "--header", "x"],
      2,
      "stderr",
      /--header must be "Name: value"; received "x"/,
    ],
  ])("%j ends with %i", async (args, code, stream, text) => {
    const ended = await runCommand(args, secret);
    expect(ended).toMatchObject({ code, [stream]: expect.stringMatching(text) });
    expect(ended[stream === "stdout" ? "stderr" : "stdout"]).toBe("");
  });

  it.each([
    "trigger factor.created --url http://127.0.0.1:2/",
    "trigger factor.created --url http://localhost:2/",
    `keys list --account-url http://localhost:2 --verify-url http://127.0.0.1:2 --account-sid AC${"0".repeat(32)} --service-sid VA${"0".repeat(32)}`,
  ])("%s names a refused connection once, in one line", async (line) => {
    const { code, stdout, stderr } = await runCommand(line.split(" "), secret);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^(No server listens on [^\n]+\n)?push-webhooks: [^\n]+\n$/);
    expect(stderr.match(/ECONNREFUSED 127\.0\.0\.1:2/g)).toHaveLength(1);
    expect(stderr).not.toMatch(/ECONNREFUSED:|\(ECONNREFUSED\)|see the cause/);
    expect(stderr).not.toContain(AUTH_TOKEN);
  });

  it("names the environment variable of a missing secret", async () => {
    const { code, stderr } = await runCommand(["trigger", "factor.created", "--url", "http://a/"]);
    expect([code, stderr]).toEqual([
      2,
      "push-webhooks: Set the environment variable PUSH_AUTH_TOKEN.\n",
    ]);
  });
});

describe("trigger", () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver(AUTH_TOKEN);
  });
  const trigger = (type: string, ...args: string[]) =>
    runCommand(["trigger", type, "--url", receiver.publicUrl, ...args], secret);

  it.each(PUSH_EVENT_TYPES.flatMap((type) => [[type, "v1"] as const, [type, "v2"] as const]))(
    "%s %s",
    async (type, version) => {
      for (const method of ["POST", "GET"]) {
        const ended = await trigger(type, "--version", version, "--method", method);
        expect(ended).toMatchObject({ code: 0, stderr: "" });
        expect(ended.stdout).toMatch(
          new RegExp(`^200 ${type} ${version} in \\d+\\.\\d ms \\(uuid [0-9a-f-]{36}[^)]*\\)\\n$`),
        );
      }
      expect(receiver.events).toMatchObject([
        { type, version },
        { type, version },
      ]);
    },
  );

  it("sets parameters, also unknown ones", async () => {
    const sets = ["entity_identity=u=1", 'challenge_hidden_details={"ip":"::1"}', "risk=7"];
    const args = sets.flatMap((set) => ["--set", set]);
    expect(await trigger("challenge.denied", ...args)).toHaveProperty("code", 0);
    const [event] = receiver.events as [PushEvent];
    expect(event).toMatchObject({
      entity_identity: "u=1",
      challenge_hidden_details: { ip: "::1" },
      issues: [],
    });
    expect(event.params).toContainEqual(["risk", "7"]);
  });

  it("sends a parameter that the type or version does not have as an extra", async () => {
    const args = ["--version", "v1", "--set", "factor_type=push", "--set", "challenge_sid=x"];
    expect(await trigger("factor.created", ...args)).toHaveProperty("code", 1);
    expect(receiver.rejected).toEqual(["PAYLOAD_INVALID"]);
  });

  it("prints one JSON document with --json", async () => {
    const { stdout } = await trigger("factor.deleted", "--duplicate", "--json");
    const [{ uuid }] = receiver.events as [PushEvent];
    const result = { type: "factor.deleted", version: "v2", uuid, status: 200 };
    expect(JSON.parse(stdout)).toEqual([
      { ...result, durationMs: expect.any(Number) },
      { ...result, durationMs: expect.any(Number) },
    ]);
    const json = await trigger("challenge.denied", "--json");
    const [, event] = receiver.events as [PushEvent, ChallengeEvent];
    expect(JSON.parse(json.stdout)).toMatchObject([{ challenge_sid: event.challenge_sid }]);
  });

  describe("while the app starts", () => {
    const LATE = /^No server listens on 127\.0\.0\.1:\d+ yet\. Trying for 2 s\.\n/;
    const triggerAt = (port: number, ...args: string[]) =>
      startCommand(["trigger", "factor.created", "--url", `http://127.0.0.1:${port}/`, ...args]);

    it("tries again, and says so once", async () => {
      const port = await findFreePort();
      const { run, written } = triggerAt(port, "--duplicate");
      while (!LATE.test(written.stderr)) await new Promise(setImmediate);
      let received = 0;
      const app = createHttpServer((_req, res) => {
        received++;
        res.end();
      }).listen(port, "127.0.0.1");
      expect(await run).toBe(0);
      app.close();
      expect(written.stderr.replace(LATE, "")).toBe("");
      expect(received).toBe(2);
      // The time of the attempt that succeeded.
      expect(written.stdout).toMatch(/^200 factor\.created v2 in \d{1,3}\.\d ms/);
    });

    it("gives up", async () => {
      const { run, written } = triggerAt(await findFreePort());
      expect(await run).toBe(1);
      expect(written.stderr.replace(LATE, "")).toMatch(/^push-webhooks: .*ECONNREFUSED[^\n]+\n$/);
    });

    it("ends at once when it is interrupted", async () => {
      const { run, written, interrupt } = triggerAt(await findFreePort());
      while (!LATE.test(written.stderr)) await new Promise(setImmediate);
      interrupt();
      expect(await run).toBe(130);
    });

    it("does not try again after another failure", async () => {
      let connections = 0;
      const app = createServer((socket) => {
        connections++;
        socket.destroy();
      }).listen(0, "127.0.0.1");
      await once(app, "listening");
      const { run, written } = triggerAt((app.address() as AddressInfo).port);
      expect(await run).toBe(1);
      app.close();
      expect(connections).toBe(1);
      expect(written.stderr).toMatch(/^push-webhooks: /);
    });
  });

  it("has a new uuid and challenge SID in each run, and prints both", async () => {
    const outputs = [await trigger("challenge.approved"), await trigger("challenge.approved")];
    const events = receiver.events as ChallengeEvent[];
    expect(new Set(events.map(({ uuid }) => uuid)).size).toBe(2);
    expect(new Set(events.map(({ challenge_sid }) => challenge_sid)).size).toBe(2);
    for (const [index, { uuid, challenge_sid }] of events.entries()) {
      expect(challenge_sid).toMatch(/^YC[0-9a-f]{32}$/);
      expect(outputs[index]?.stdout).toContain(`(uuid ${uuid}, challenge_sid ${challenge_sid})`);
    }
  });

  it("resolves the wait for its own challenge, also after another outcome", async () => {
    await trigger("challenge.denied");
    const challengeSid = `YC${"7".repeat(32)}`;
    const outcome = receiver.push.waitForChallenge({ challengeSid, entityIdentity: "ada" });
    const sets = ["--set", `challenge_sid=${challengeSid}`, "--set", "entity_identity=ada"];
    await trigger("challenge.approved", ...sets);
    expect(await outcome).toMatchObject({ type: "challenge.approved" });
  });

  it.each([404, 405])("hints that the mount does not accept GET after a %i", async (status) => {
    const server = createHttpServer((req, res) => {
      res.writeHead(req.method === "GET" ? status : 200).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/push`;
    const args = ["trigger", "factor.created", "--url", url];
    const get = await runCommand([...args, "--method", "GET"], secret);
    expect(get).toMatchObject({ code: 1, stdout: expect.stringMatching(`^${status} `) });
    expect(get.stderr).toMatch(/GET.*app\.use\(.*app\.post\(/);
    expect(await runCommand(args, secret)).toMatchObject({ code: 0, stderr: "" });
    server.closeAllConnections();
    server.close();
  });

  it.each<[number, RegExp]>([
    [404, /mounted/],
    [405, /POST/],
  ])("hints at the path and the method after a %i to a POST", async (status, hint) => {
    const server = createHttpServer((_req, res) => void res.writeHead(status).end());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/push`;
    const ended = await runCommand(["trigger", "factor.created", "--url", url], secret);
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringMatching(hint)]);
    server.closeAllConnections();
    server.close();
  });

  it.each([
    ["sends an incomplete response", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"],
    [
      "switches protocols",
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    ],
    ["closes without a response", ""],
  ])("fails when the receiver %s", async (_what, answer) => {
    const server = createServer((socket) => {
      socket.once("data", () => socket.end(answer));
      socket.on("error", () => {});
    }).listen(0);
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const ended = await runCommand(["trigger", "factor.created", "--url", url], secret);
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr).toMatch(/^push-webhooks: The connection failed: [^\n]+\n$/);
    server.close();
  });

  it("sends the request twice with --duplicate", async () => {
    const { code, stdout } = await trigger("factor.deleted", "--duplicate");
    expect([code, stdout.match(/^200 /gm), receiver.events]).toEqual([
      0,
      ["200 ", "200 "],
      [expect.objectContaining({ type: "factor.deleted" })],
    ]);
  });

  it("prints the status and fails when the receiver rejects the request", async () => {
    const { code, stdout } = await trigger("factor.deleted", "--bad-signature");
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^403 factor\.deleted/)]);
    expect(receiver.rejected).toEqual(["SIGNATURE_MISMATCH"]);
  });

  it("sends to another URL with --to, and signs in another header", async () => {
    const proxied = await startReceiver(AUTH_TOKEN, { signatureHeader: "X-Other" });
    const behind = await startReceiver(AUTH_TOKEN, {
      publicUrl: "https://app.example.com/push?a=b",
    });
    const to = ["--to", proxied.publicUrl];
    expect(await trigger("factor.created", ...to, "--signature-header", "x-other")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^403/),
    });
    for (const method of ["POST", "GET"]) {
      const url = ["--url", "https://app.example.com/push?a=b", "--to", behind.publicUrl];
      const args = ["trigger", "factor.created", ...url, "--method", method];
      expect(await runCommand(args, secret)).toHaveProperty("code", 0);
    }
  });
});

describe("trigger --to", () => {
  it.each<[string[], object]>([
    [[], { host: "app.example.com", "content-type": "application/x-www-urlencoded" }],
    [["--host", "b.example", "--header", "X-A: 1"], { host: "b.example", "x-a": "1" }],
    [
      ["--content-type", "application/x-www-form-urlencoded"],
      { "content-type": "application/x-www-form-urlencoded" },
    ],
  ])("with %j sends the headers %j", async (args, headers) => {
    const requests: object[] = [];
    const app = createHttpServer((req, res) => {
      requests.push(req.headers);
      res.end();
    }).listen(0, "127.0.0.1");
    await once(app, "listening");
    const to = `http://127.0.0.1:${(app.address() as AddressInfo).port}/push`;
    const line = ["trigger", "factor.created", "--url", "https://app.example.com/push"];
    expect(await runCommand([...line, "--to", to, ...args], secret)).toHaveProperty("code", 0);
    expect(requests).toMatchObject([headers]);
    app.close();
  });
});

describe("explain", () => {
  const url = "https://app.example.com/webhooks/push";
  const call = signedRequest({ authToken: AUTH_TOKEN, publicUrl: url }, "challenge.approved");
  const signature = call.headers["X-Service-Signature"] ?? "";
  let folder: string;
  let bodyFile: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "push-explain-"));
    bodyFile = join(folder, "body");
    writeFileSync(bodyFile, call.body ?? "");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const explain = (args: string[], env: NodeJS.ProcessEnv = secret) =>
    runCommand(["explain", "--body-file", bodyFile, ...args], env);

  it.each<[string, string[], NodeJS.ProcessEnv, string]>([
    ["http", ["--url", url.replace("https", "http"), "--header", signature], secret, "URL_SCHEME"],
    ["a slash", ["--url", `${url}/`, "--header", signature], secret, "URL_TRAILING_SLASH"],
    [
      "the URL, which is not shown, and not the token,",
      ["--url", url, "--header", signature],
      { PUSH_AUTH_TOKEN: "other" },
      "URL_PATH",
    ],
    [
      "a token",
      ["--url", url, "--received-url", url, "--header", signature],
      { PUSH_AUTH_TOKEN: "other" },
      "TOKEN_WRONG",
    ],
    [
      "a cut header",
      ["--url", url, "--header", signature.slice(0, 20)],
      secret,
      "SIGNATURE_MALFORMED",
    ],
    [
      "a proxy's path",
      ["--url", "https://app.example.com/", "--received-url", url, "--header", signature],
      secret,
      "URL_PATH",
    ],
  ])("names %s first", async (_what, args, env, code) => {
    const ended = await explain(args, env);
    expect(ended).toMatchObject({ code: 1, stderr: "" });
    expect(ended.stdout).toMatch(new RegExp(`^1\\. ${code} `));
    expect(ended.stdout).not.toContain(AUTH_TOKEN);
    const json = await explain([...args, "--json"], env);
    expect(JSON.parse(json.stdout)).toMatchObject({ matches: false, causes: expect.any(Array) });
    expect(JSON.parse(json.stdout).causes[0]).toHaveProperty("code", code);
  });

  const typeLine = "Content-Type: application/x-www-form-urlencoded";
  it.each<string[]>([
    [signature],
    [`X-Service-Signature: ${signature}`],
    [`X-Anything: ${signature}`],
    [`x-service-signature:${signature}`, typeLine],
    [typeLine, "Host: app.example.com", `X-Twilio-Signature: ${signature}`],
    ["X-Hub-Signature: sha1=00", `X-Service-Signature: ${signature}`, typeLine],
    [signature, typeLine],
  ])("finds the signature among the headers %j", async (...headers) => {
    const args = headers.flatMap((header) => ["--header", header]);
    expect(await explain(["--url", url, ...args])).toEqual({
      code: 0,
      stdout: "The signature matches.\n",
      stderr: "",
    });
  });

  it("accepts -H and --signature-header", async () => {
    const args = ["-H", `X-A: ${signature}`, "-H", "X-B-Signature: x", "--signature-header", "x-a"];
    expect(await explain(["--url", url, ...args])).toHaveProperty("code", 0);
  });

  it.each<[string, string[], string]>([
    ["no signature header", [typeLine, "Host: a.example"], "SIGNATURE_MISSING"],
    [
      "a repeated one",
      [`X-Service-Signature: ${signature}`, `X-Service-Signature: ${signature}`],
      "SIGNATURE_REPEATED",
    ],
  ])("reports headers with %s", async (_what, headers, code) => {
    const args = headers.flatMap((header) => ["--header", header]);
    const ended = await explain(["--url", url, ...args]);
    expect([ended.code, ended.stdout]).toEqual([1, expect.stringMatching(`^1\\. ${code} `)]);
  });

  it("asks for --signature-header when several headers may hold the signature", async () => {
    const args = ["--header", `X-A-Signature: ${signature}`, "--header", "X-B-Signature: x"];
    const ended = await explain(["--url", url, ...args]);
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("--signature-header") });
  });

  it("prints the URL that was signed", async () => {
    const ended = await explain(["--url", `${url}/`, "--header", signature]);
    const [first] = ended.stdout.split("\n");
    expect(first).toBe(`1. URL_TRAILING_SLASH (proven), signed URL: ${url}`);
  });

  it("accepts a GET that the receiver accepts, and explains another", async () => {
    const settings = { authToken: AUTH_TOKEN, publicUrl: url };
    const overrides = { entity_identity: "ada" };
    const get = signedRequest(settings, "factor.created", overrides, { method: "GET" });
    const header = ["--header", get.headers["X-Service-Signature"] ?? "", "--method", "GET"];
    const args = ["explain", ...header, "--received-url", get.url];
    expect(await runCommand([...args, "--url", url], secret)).toHaveProperty("code", 0);
    const wrong = await runCommand([...args, "--url", `${url}?tenant=1`], secret);
    expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining("URL_QUERY")]);
    expect(wrong.stdout).not.toContain("ada");
  });

  it("ignores the line break that an editor adds", async () => {
    writeFileSync(bodyFile, `${call.body ?? ""}\n`);
    const ended = await explain(["--url", url, "--header", signature]);
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining("line break") });
  });

  it("reports a body that was captured as JSON", async () => {
    writeFileSync(bodyFile, JSON.stringify(Object.fromEntries(new URLSearchParams(call.body))));
    const ended = await explain(["--url", url, "--header", signature]);
    expect(ended).toMatchObject({ code: 1, stderr: "" });
    expect(ended.stdout).toMatch(/^1\. BODY_JSON \(proven\): body\n/);
  });

  it("reports a missing body, and a body that is not a form", async () => {
    const args = ["--url", url, "--header", signature];
    const bare = await runCommand(["explain", ...args], secret);
    expect([bare.code, bare.stdout]).toEqual([1, expect.stringContaining("PARAMS_MISSING")]);
    for (const body of [Buffer.from([0xff, 0xfe]), "a=%zz"]) {
      writeFileSync(bodyFile, body);
      expect((await explain(args)).stdout).toMatch(/^1\. PARAMS_MISSING /);
    }
  });
});

describe("webhooks and keys", () => {
  let emulator: Emulator;
  let env: NodeJS.ProcessEnv;
  beforeEach(async () => {
    emulator = await startEmulator();
    env = {
      PUSH_AUTH_TOKEN: emulator.authToken,
      PUSH_ACCOUNT_URL: emulator.url,
      PUSH_VERIFY_URL: emulator.url,
      PUSH_ACCOUNT_SID: emulator.accountSid,
      PUSH_SERVICE_SID: emulator.serviceSid,
    };
  });
  const url = "https://svc:hush@app.example.com/push";

  it("ensure, list and check webhooks", async () => {
    const ensure = (...args: string[]) =>
      runCommand(["webhooks", "ensure", "--url", url, ...args], env);
    expect(await ensure()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^created YW/) });
    expect(await ensure()).toMatchObject({ stdout: expect.stringMatching(/^unchanged YW/) });
    const updated = await ensure(
      "--events",
      "factor.created",
      "factor.deleted",
      "--version",
      "v1",
      "--json",
    );
    expect(JSON.parse(updated.stdout)).toMatchObject({
      result: "updated",
      webhook: { version: "v1" },
    });

    const list = await runCommand(["webhooks", "list"], env);
    expect(list.stdout).toMatch(
      /^SID\tSTATUS\tVERSION\tURL\tEVENTS\nYW\w+\tenabled\tv1\thttps:\/\/\*\*\*@app.*\n$/,
    );
    const json = await runCommand(["webhooks", "list", "--json"], env);
    expect(JSON.parse(json.stdout)).toMatchObject([{ webhook_url: url }]);

    const check = (...args: string[]) =>
      runCommand(["webhooks", "check", "--url", url, ...args], env);
    const handled = ["--handled", "factor.created", "factor.deleted"];
    const legacy = await check(...handled);
    expect(legacy).toMatchObject({ code: 1, stdout: expect.stringMatching(/^VERSION_LEGACY YW/) });
    await ensure("--events", "factor.created", "factor.deleted", "--version", "v2");
    expect(await check(...handled)).toMatchObject({ code: 0, stdout: "No configuration drift.\n" });
    expect(JSON.parse((await check("--json")).stdout)).toHaveLength(3);
  });

  it("create, list and delete keys", async () => {
    const created = await runCommand(["keys", "create", "--name", "ci"], env);
    expect(created).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^SK\w{32}\n[A-Za-z0-9]{32}\n$/),
      stderr: "The secret is shown only once: store it now.\n",
    });
    const [sid = "", keySecret = ""] = created.stdout.split("\n");
    const list = await runCommand(["keys", "list"], env);
    expect(list.stdout).toContain(`${sid}\t`);
    expect(list.stdout).not.toContain(keySecret);
    const json = await runCommand(["keys", "create", "--json"], env);
    expect(JSON.parse(json.stdout)).toHaveProperty("secret");
    expect(JSON.parse((await runCommand(["keys", "list", "--json"], env)).stdout)).toHaveLength(2);

    const asKey = { ...env, PUSH_AUTH_TOKEN: "", PUSH_KEY_SID: sid, PUSH_KEY_SECRET: keySecret };
    expect(await runCommand(["keys", "list"], asKey)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^push-webhooks: /),
    });
    expect(await runCommand(["webhooks", "list"], asKey)).toHaveProperty("code", 0);
    expect(await runCommand(["keys", "delete", sid], env)).toMatchObject({
      code: 0,
      stdout: `deleted ${sid}\n`,
    });
    expect(await runCommand(["keys", "delete", sid], env)).toHaveProperty("code", 1);
    const [other] = JSON.parse((await runCommand(["keys", "list", "--json"], env)).stdout);
    const deleted = await runCommand(["keys", "delete", other.sid, "--json"], env);
    expect(JSON.parse(deleted.stdout)).toEqual({ sid: other.sid, deleted: true });
  });

  it("say in words what the SID of a key looks like", async () => {
    const { code, stderr } = await runCommand(["keys", "delete", "SK123"], env);
    expect(code).toBe(2);
    expect(stderr).toBe("push-webhooks: sid: must be SK and 32 hexadecimal digits\n");
  });

  it("name the setting to change when the service rejects the credentials", async () => {
    const { sid, secret: keySecret } = emulator.createKey();
    const asKey = { ...env, PUSH_KEY_SID: sid, PUSH_KEY_SECRET: keySecret };
    const account = /^push-webhooks: .*PUSH_AUTH_TOKEN.*--account-sid or PUSH_ACCOUNT_SID.*\n$/;
    const key = /^push-webhooks: .*PUSH_KEY_SECRET.*--username or PUSH_KEY_SID.*Main Key.*\n$/;
    for (const [wrong, message] of [
      [{ ...env, PUSH_AUTH_TOKEN: "not-the-token-4711" }, account],
      [{ ...env, PUSH_ACCOUNT_SID: `AC${"0".repeat(32)}` }, account],
      [{ ...asKey, PUSH_KEY_SECRET: "not-the-secret-4711" }, key],
      [{ ...asKey, PUSH_KEY_SID: `SK${"0".repeat(32)}` }, key],
    ] as const) {
      for (const command of ["webhooks list", "keys list"]) {
        const { code, stdout, stderr } = await runCommand(command.split(" "), wrong);
        expect([code, stdout]).toEqual([1, ""]);
        expect(stderr).toMatch(message);
        expect(stderr).toContain("Authentication Error - invalid username");
        expect(stderr).not.toMatch(/4711|(AC|SK)0{32}/);
      }
    }
    // The secret is right, but a Standard Key manages no Keys.
    expect((await runCommand(["keys", "list"], asKey)).stderr).toMatch(key);
    const other = { ...env, PUSH_SERVICE_SID: `VA${"0".repeat(32)}` };
    expect((await runCommand(["webhooks", "list"], other)).stderr).not.toContain("PUSH_AUTH_TOKEN");
  });

  it("do not delete the key of --username, unless forced", async () => {
    const { sid, secret: keySecret } = emulator.createKey({ type: "main" });
    const asKey = { ...env, PUSH_KEY_SID: sid, PUSH_KEY_SECRET: keySecret };
    expect(await runCommand(["keys", "delete", sid], asKey)).toHaveProperty("code", 1);
    expect(await runCommand(["keys", "delete", sid, "--force"], asKey)).toHaveProperty("code", 0);
  });
});

describe("emulator", () => {
  it("prints credentials and each delivery until SIGINT", async () => {
    const receiver = await startReceiver(AUTH_TOKEN);
    const { terminal, written, interrupt } = createTerminal({});
    const run = runProgram(
      ["emulator", "--port", "0", "--webhook-url", receiver.publicUrl, "http://127.0.0.1:9/none"],
      terminal,
    );
    const waitFor = async (pattern: RegExp) => {
      while (!pattern.test(written.stdout)) await new Promise(setImmediate);
    };
    await waitFor(/Create a factor/);
    const env = Object.fromEntries(
      written.stdout
        .split("\n")
        .map((line) => line.replace("export ", "").split("=", 2) as [string, string]),
    ) as Record<string, string>;
    const credentials = btoa(`${env.PUSH_ACCOUNT_SID}:${env.PUSH_AUTH_TOKEN}`);
    const created = await fetch(`${env.PUSH_ACCOUNT_URL}/_control/factors`, {
      method: "POST",
      headers: { authorization: `Basic ${credentials}` },
    });
    expect(created.status).toBe(201);
    expect(written.stderr).toBe("");
    await waitFor(/ECONNREFUSED/);
    await waitFor(/^403 /m);
    expect(written.stdout).toMatch(
      /^403 factor\.created -> http:\S+\/webhooks\/push in [\d.]+ ms$/m,
    );
    expect(written.stdout).toMatch(
      /^ECONNREFUSED factor\.created -> http:\S+\/none in .*, 2 attempts$/m,
    );
    interrupt();
    expect(await run).toBe(130);
    await expect(fetch(String(env.PUSH_ACCOUNT_URL))).rejects.toThrow("fetch failed");
  });

  it("does not print a token from the environment", async () => {
    const receiver = await startReceiver(AUTH_TOKEN);
    const { terminal, written, interrupt } = createTerminal(secret);
    const args = [
      "emulator",
      "--port",
      "0",
      "--version",
      "v1",
      "--webhook-url",
      receiver.publicUrl,
    ];
    const run = runProgram(args, terminal);
    while (!written.stdout.includes("Create a factor")) await new Promise(setImmediate);
    expect(written.stdout).not.toContain("PUSH_AUTH_TOKEN=");
    expect(written.stdout).not.toContain(AUTH_TOKEN);
    expect(written.stderr).toBe(
      "The emulator signs with PUSH_AUTH_TOKEN of the environment. It does not print this token; your app needs the same one.\n",
    );
    interrupt();
    expect(await run).toBe(130);
  });

  it("prints lines of JSON with --json", async () => {
    const receiver = await startReceiver(AUTH_TOKEN);
    const { terminal, written, interrupt } = createTerminal({});
    const args = ["emulator", "--port", "0", "--json", "--webhook-url", receiver.publicUrl];
    const run = runProgram(args, terminal);
    const lines = () =>
      written.stdout
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    while (lines().length < 1) await new Promise(setImmediate);
    const [env] = lines();
    const credentials = btoa(`${env.PUSH_ACCOUNT_SID}:${env.PUSH_AUTH_TOKEN}`);
    const headers = { authorization: `Basic ${credentials}` };
    await fetch(`${env.PUSH_ACCOUNT_URL}/_control/factors`, { method: "POST", headers });
    while (lines().length < 2) await new Promise(setImmediate);
    expect(lines()[1]).toMatchObject({ type: "factor.created", response: { status: 403 } });
    interrupt();
    await run;
  });

  it("fails for a port in use", async () => {
    const { url } = await startEmulator();
    const { code, stderr } = await runCommand(["emulator", "--port", new URL(url).port]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^push-webhooks: Port \d+ is in use\. [^:]*\n$/),
    ]);
  });
});

describe("describeFailure", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:2"), {
    code: "ECONNREFUSED",
  });

  it.each<[unknown, string]>([
    [new Error("No such file."), "No such file."],
    [new Error("Failed.", { cause: refused }), `Failed: ${refused.message}.`],
    [
      new Error("Failed.", { cause: new TypeError("fetch failed", { cause: refused }) }),
      `Failed: ${refused.message}.`,
    ],
    [new Error(`Failed: ${refused.message}.`, { cause: refused }), `Failed: ${refused.message}.`],
    [
      new Error("Failed.", { cause: new AggregateError([new Error("a"), new Error("b")]) }),
      "Failed: a; b.",
    ],
    [Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
    [new Error("Failed.", { cause: "text" }), "Failed."],
    ["text", "text"],
  ])("%s", (error, text) => {
    expect(describeFailure(error)).toBe(text);
  });
});
