import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type { ChallengeEvent, PushEvent } from "express-push-verification";
import { sendRequest, type Emulator } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import {
  callApi,
  envOf,
  startEmulator,
  startReceiver,
  startTarget,
  stopEmulators,
  type Receiver,
} from "../support/emulators";
import { CONTROL } from "../support/control-characters";
import { useFolder } from "../support/folders";
import { findFreePort } from "../support/ports";
import { runCommand, startCommand } from "../support/terminals";
import { countTime } from "../support/waiting";

const AUTH_TOKEN = "hush-hush-token";
const secret = { PUSH_AUTH_TOKEN: AUTH_TOKEN };
const FORM = "application/x-www-form-urlencoded";
const SHORT = "application/x-www-urlencoded";

const folder = useFolder();
afterEach(stopEmulators);

const runLine = (line: string, env: NodeJS.ProcessEnv = secret) =>
  runCommand(line.split(" ").filter(Boolean), env);

describe("push-webhooks", () => {
  const trigger = "trigger challenge.denied --url http://a.test";
  it.each<[string, number, RegExp, NodeJS.ProcessEnv?]>([
    ["--help", 0, /Exit codes: 0 done/],
    ["--version", 0, /^\d+\.\d+\.\d+\n$/],
    ["trigger --help", 0, /--bad-signature/],
    ["emulator --help", 0, /default:\s+4010\)[^]*default:\s+"127\.0\.0\.1"/],
    ["record --help", 0, /default:\s+4020\)/],
    ["webhooks ensure --help", 0, /default:\s+"push\s+webhooks"/],
    ["replay x --to here", 2, /--to must be .*"here"/],
    ["rehearse --admin-url here", 2, /--admin-url must be .*"here"/],
    ["", 2, /Usage: push-webhooks/],
    ["emulater", 2, /unknown command 'emulater'\n\(Did you mean emulator\?\)/],
    ["trigger challenge.approve --url http://a.test/", 2, /Allowed choices/],
    ["trigger challenge.denied", 2, /required option '--url <url>' not specified/],
    ["trigger challenge.denied --url here", 2, /--url must be/],
    [`${trigger} --dupe`, 2, /unknown option/],
    [`${trigger} --set x`, 2, /--set/],
    [`${trigger} --set =x`, 2, /--set/],
    [`${trigger} --set uuid=${"0".repeat(32)}-x`, 2, /uuid must not/],
    [`${trigger} --set account_sid=x`, 1, /account_sid is malformed.* why PAYLOAD_INVALID\n$/],
    [`${trigger} --to there`, 2, /--to must be .*"there"/],
    [`${trigger} --header x`, 2, /--header must be "Name: value"; received "x"/],
    ["emulator --webhook-url localhost:3000/x", 2, /--webhook-url .*"localhost:3000\/x"/],
    ["emulator --port 0x10", 2, /--port must be a number from 0 to 65535/],
    ["emulator --port 65536", 2, /--port must be a number from 0 to 65535/],
    ["emulator --port 65535 --host 203.0.113.1", 1, /EADDRNOTAVAIL.* 203.0.113.1:65535/],
    ["emulator --allowed-host http://a", 2, /--allowed-host must be/],
    ["emulator --content-type text/plain", 2, /contentType/],
    ["webhooks check --url http://a --handled challenge.aproved", 2, /Allowed choices/],
    ["explain --url http://a --header x --method GET", 2, /--received-url/],
    ["explain --url http://a.test --header x --body-file /no", 2, /\/no/],
    ["explain --url http://a --capture a --received-url b", 2, /--capture.*--received-url/],
    ["explain --url http://a --capture a --method GET", 2, /--capture.*--method/],
    ["explain --url http://a --capture a -H b", 2, /--capture.*--header/],
    ["explain --url http://a --capture a --body-file b", 2, /--capture.*--body-file/],
    ["explain --url http://a", 2, /Pass --capture/],
    ["explain --url http://a -H A-Signature:a -H B-Signature:b", 2, /--signature-header/],
    ["queue stats --name a --queue redis://a --ca /no", 2, /--ca \/no/],
    ["queue stats --name a --queue postgres://a --ca /no", 2, /--ca \/no/],
    ["queue stats --name a --queue redis://a --ca package.json", 2, /is no PEM file/],
    ["queue stats --name a --queue package.json --ca /no", 2, /--ca is for/],
    ["--env /no trigger factor.created --url http://a/", 2, /--env \/no/],
    ["keys list", 2, /^push-webhooks: Set --account-url or \w+, --account-sid or \w+\.\n$/],
    [
      "webhooks list",
      2,
      /Set --verify-url or \w+, --account-sid or \w+, --service-sid or \w+\.\n$/,
    ],
    ["keys list --username SK1", 2, /PUSH_ACCOUNT_SID, PUSH_KEY_SECRET\./],
    ["trigger factor.created --url http://a/", 2, /variable PUSH_AUTH_TOKEN\.\n$/, {}],
  ])("%s ends with %i", async (line, code, text, env = secret) => {
    const { stdout, stderr, ...ended } = await runLine(line, env);
    const [filled, empty] = code === 0 ? [stdout, stderr] : [stderr, stdout];
    expect({ code: ended.code, empty, filled }).toEqual({
      code,
      empty: "",
      filled: expect.stringMatching(text),
    });
  });

  it.each([
    "trigger factor.created --url http://127.0.0.1:2/",
    "trigger factor.created --url http://localhost:2/",
    `keys list --account-url http://localhost:2 --verify-url http://127.0.0.1:2 --account-sid AC${"0".repeat(32)} --service-sid VA${"0".repeat(32)}`,
  ])("%s names a refused connection once, in one line", async (line) => {
    const { code, stdout, stderr } = await runLine(line);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^(No server listens on [^\n]+\n)?push-webhooks: [^\n]+\n$/);
    expect(stderr.match(/ECONNREFUSED 127\.0\.0\.1:2/g)).toHaveLength(1);
    expect(stderr).not.toMatch(/ECONNREFUSED:|\(ECONNREFUSED\)|see the cause/);
    expect(stderr).not.toContain(AUTH_TOKEN);
  });
});

describe("trigger", () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver(AUTH_TOKEN);
  });
  const trigger = (type: string, ...args: string[]) =>
    runCommand(["trigger", type, "--url", receiver.publicUrl, ...args], secret);

  it.each([
    ["challenge.approved", "v1", "POST"],
    ["factor.deleted", "v2", "GET"],
  ])("prints the identifiers of %s %s by %s", async (type, version, method) => {
    const ended = await trigger(type, "--version", version, "--method", method);
    const note = type.startsWith("challenge.") ? /^A receiver with confirm .*rehearse.*\n$/ : /^$/;
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(note) });
    expect(receiver.events).toMatchObject([{ type, version }]);
    const [{ uuid, challenge_sid: sid }] = receiver.events as [Partial<ChallengeEvent>];
    const ids = `uuid ${uuid}${sid === undefined ? "" : `, challenge_sid ${sid}`}`;
    expect(ended.stdout).toMatch(
      new RegExp(`^200 ${type} ${version} in \\d+\\.\\d ms \\(${ids}\\)\\n$`),
    );
  });

  it("sets parameters, also those that the type or version does not have", async () => {
    const challenge_sid = `YC${"7".repeat(32)}`;
    const sets = ["entity_identity=u=1", 'challenge_hidden_details={"ip":"::1"}', "risk=7"];
    sets.push(`challenge_sid=${challenge_sid}`, "uuid=mine");
    const args = sets.flatMap((set) => ["--set", set]);
    const stderr = expect.stringMatching(/no parameter risk:/) as string;
    expect(await trigger("challenge.denied", ...args)).toMatchObject({ code: 0, stderr });
    const [event] = receiver.events as [PushEvent];
    const challenge_hidden_details = { ip: "::1" };
    const ids = { uuid: "mine", entity_identity: "u=1", challenge_sid };
    const fields = { ...ids, challenge_hidden_details, issues: [] };
    expect(event).toMatchObject(fields);
    expect(event.params).toContainEqual(["risk", "7"]);
  });

  it("prints one JSON document with --json", async () => {
    const { stdout } = await trigger("challenge.denied", "--duplicate", "--json");
    const [{ type, version, uuid, challenge_sid }] = receiver.events as [ChallengeEvent];
    // What a receiver knows as invented.
    expect(uuid).toMatch(/^trigger-/);
    const ids = { uuid, challenge_sid };
    const result = { type, version, ...ids, status: 200, durationMs: expect.any(Number) };
    expect(JSON.parse(stdout)).toEqual([result, result]);
  });

  it("has new identifiers in each run", async () => {
    for (let run = 0; run < 2; run++) await trigger("challenge.denied");
    const events = receiver.events as ChallengeEvent[];
    expect(new Set(events.flatMap((one) => [one.uuid, one.challenge_sid])).size).toBe(4);
  });

  describe("while the app starts", () => {
    countTime();
    const LATE = /^No server listens on 127\.0\.0\.1:\d+ yet\. Trying for 2 s\.\n/;
    const triggerAt = (port: number, ...args: string[]) =>
      startCommand(
        ["trigger", "factor.created", "--url", `http://127.0.0.1:${port}/`, ...args],
        secret,
      );

    it("says once that it tries again", async () => {
      const port = await findFreePort();
      const { run, written, waitFor } = triggerAt(port, "--duplicate");
      await waitFor(LATE, "stderr");
      const received = jest.fn();
      const app = createServer((_req, res) => res.end(received())).listen(port, "127.0.0.1");
      expect(await run).toBe(0);
      app.close();
      expect(written.stderr.replace(LATE, "")).toBe("");
      expect(received).toHaveBeenCalledTimes(2);
      // The time of the attempt that succeeded.
      expect(written.stdout).toMatch(/^200 factor\.created v2 in \d{1,3}\.\d ms/);
    });

    it("gives up after 2 s", async () => {
      const { run, waitFor } = triggerAt(await findFreePort());
      await waitFor(LATE, "stderr");
      const startMs = performance.now();
      jest.advanceTimersByTime(2_000);
      expect(await run).toBe(1);
      expect(performance.now() - startMs).toBeLessThan(10_000);
    });

    it("ends at once when it is interrupted", async () => {
      const { run, interrupt, waitFor } = triggerAt(await findFreePort());
      await waitFor(LATE, "stderr");
      interrupt();
      expect(await run).toBe(130);
      const url = await startTarget(() => hanging.interrupt());
      const hanging = triggerAt(Number(new URL(url).port));
      expect(await hanging.run).toBe(130);
    });
  });

  const OWN = { "Cache-Control": "no-store" };
  // trigger-reasons.test.ts has those of a real receiver.
  type Other = [status: number, method: string, reason: RegExp, headers?: object, body?: string];
  it.each<Other>([
    [403, "POST", /^Another part of the app.*CSRF/, {}, "Forbidden\n"],
    [302, "POST", /redirects to \/{300}… /, { Location: "/".repeat(400) }],
    [302, "POST", /redirects to .login. /, { Location: "\u009Blogin\u0085" }],
    [308, "GET", /redirects to https:\/\/a\.test\/push /, { Location: "https://a.test/push" }],
    [401, "POST", /^Another part of the app.*credentials/],
    [429, "POST", /^Another part of the app.*rate limiter/],
    [404, "GET", /GET.*app\.use\(.*app\.post\(/],
    [404, "POST", /No receiver is mounted/],
    [405, "POST", /POST/],
    [405, "GET", /GET.*app\.use\(.*app\.post\(/],
    [500, "POST", /^Another part of the app/, { "Cache-Control": "no-store" }],
    [400, "POST", /parameter is missing/, OWN, "Bad Request\n"],
    [405, "GET", /does not accept GET\. Add it to the option methods/, OWN, "Method Not Allowed\n"],
    [413, "POST", /limitBytes/, OWN, "Payload Too Large\n"],
    [415, "POST", /--content-type/, OWN, "Unsupported Media Type\n"],
    [500, "POST", /handler failed/, OWN, "Internal Server Error\n"],
    [503, "POST", /is closing/, OWN, "Service Unavailable\n"],
  ])(
    "explains %i to a %s: %s",
    async (status, method, reason, ...[headers = {}, body = "No.\n"]) => {
      const url = await startTarget((_req, res) => res.writeHead(status, { ...headers }).end(body));
      const line = `trigger factor.created --url ${url}/push --method ${method}`;
      const { code, stdout, stderr } = await runLine(line);
      expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(`^${status} `) });
      expect(stderr).toMatch(reason);
      expect(stderr.trimEnd()).not.toMatch(CONTROL);
      const [result] = JSON.parse((await runLine(`${line} --json`)).stdout);
      expect(result).toMatchObject({ status, reason: expect.stringMatching(reason) });
    },
  );

  it("fails at once when the receiver closes without a response", async () => {
    const connections: unknown[] = [];
    const url = await startTarget((req) => void connections.push(req.socket.end()));
    const ended = await runLine(`trigger factor.created --url ${url}/`);
    const stderr = expect.stringMatching(
      /^push-webhooks: The connection failed: [^\n]+\n$/,
    ) as string;
    expect(ended).toEqual({ code: 1, stdout: "", stderr });
    expect(connections).toHaveLength(1);
  });

  it("fails when only the first of two copies fails", async () => {
    const statuses = [500, 200];
    const url = await startTarget((_req, res) => res.writeHead(statuses.shift() ?? 0).end());
    expect(await runLine(`trigger factor.created --url ${url}/ --duplicate`)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^500 .*\n200 .*\n$/),
    });
  });

  it.each<[reason: RegExp, options: Parameters<typeof startReceiver>[1], method: "POST" | "GET"]>(
    (["POST", "GET"] as const).flatMap((method) => [
      [/expects the header X-Twilio-Signature/, { signatureHeader: "X-Twilio-Signature" }, method],
      [
        /The signature is right/,
        { confirm: () => false, confirmTypes: ["factor.created"] },
        method,
      ],
      [/does not accept the signature/, { authToken: "another-token" }, method],
    ]),
  )("asks why a receiver responds 403: %s, %j by %s", async (reason, options, method) => {
    const { publicUrl, events } = await startReceiver(AUTH_TOKEN, { query: "?a=b", ...options });
    const ended = await runLine(`trigger factor.created --url ${publicUrl} --method ${method}`);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(reason) });
    // No handler ran.
    expect(events).toEqual([]);
  });

  it.each([
    ["no response", 0],
    ["another part", 400],
  ])("takes %s for no proof that the signature is right", async (_probe, status) => {
    let count = 0;
    const url = await startTarget((req, res) => {
      if (++count === 1) {
        res.writeHead(403, { "Cache-Control": "no-store" }).end("Forbidden\n");
      } else if (status === 0) req.socket.destroy();
      else res.writeHead(status).end("No.");
    });
    const stderr = expect.stringMatching(/does not accept the signature/) as string;
    const ended = await runLine(`trigger factor.created --url ${url}/`);
    expect(ended).toMatchObject({ code: 1, stderr });
  });

  it("sends to another URL with --to", async () => {
    const publicUrl = "https://app.example.com/push?a=b";
    const { publicUrl: to } = await startReceiver(AUTH_TOKEN, { publicUrl });
    for (const [url, method, code] of [
      [publicUrl, "POST", 0],
      [publicUrl, "GET", 0],
      [receiver.publicUrl, "POST", 1],
    ] as const) {
      const line = `trigger factor.created --url ${url} --to ${to}?x=1#y --method ${method}`;
      expect(await runLine(line)).toHaveProperty("code", code);
    }
  });

  it.each<[args: string, env: NodeJS.ProcessEnv]>([
    ["--signature-header x-other", {}],
    ["", { PUSH_SIGNATURE_HEADER: "x-other" }],
  ])("signs in another header with %j and %j", async (args, env) => {
    const { publicUrl } = await startReceiver(AUTH_TOKEN, { signatureHeader: "X-Other" });
    const line = `trigger factor.created --url ${publicUrl} ${args}`;
    expect(await runLine(line, { ...secret, ...env })).toHaveProperty("code", 0);
  });
});

it.each<[args: string, headers: object]>([
  ["", { host: "app.example.com", "content-type": SHORT }],
  ["--host b.example --header X-A:1 --header X-B:2", { host: "b.example", "x-a": "1", "x-b": "2" }],
  [`--content-type ${FORM}`, { "content-type": FORM }],
])("trigger --to with %s sends the headers %j", async (args, headers) => {
  const requests: object[] = [];
  const to = await startTarget((req, res) => res.end(void requests.push(req.headers)));
  const line = "trigger factor.created --url https://app.example.com/push";
  expect(await runLine(`${line} --to ${to}/push ${args}`)).toHaveProperty("code", 0);
  expect(requests).toMatchObject([headers]);
});

it("reads variables from the file of --env, after those of the environment", async () => {
  const file = join(folder, ".env");
  const sid = `VA${"0".repeat(32)}`;
  const lines = ["\uFEFFPUSH_AUTH_TOKEN=of-the-file", `PUSH_SERVICE_SID=${sid}`, ""];
  writeFileSync(file, lines.join("\r\n"), "utf16le");
  const args = ["--env", file, "emulator", "--port", "0", "--json"];
  const ofEnvironment = `VA${"1".repeat(32)}`;
  for (const [env, shown] of [
    [{}, sid],
    [{ PUSH_SERVICE_SID: ofEnvironment }, ofEnvironment],
  ] as const) {
    const { run, written, interrupt, waitFor } = startCommand(args, env);
    await waitFor(/\n/);
    interrupt();
    expect(await run).toBe(130);
    expect(JSON.parse(written.stdout)).toHaveProperty("PUSH_SERVICE_SID", shown);
  }
});

describe("explain", () => {
  const url = "https://app.example.com/webhooks/push";
  const settings = { authToken: AUTH_TOKEN, publicUrl: url };
  const request = signedRequest(settings, "challenge.approved");
  const get = signedRequest(settings, "factor.created", {}, { method: "GET" });
  const signature = request.headers["X-Service-Signature"] ?? "";
  const right = `X-Service-Signature: ${signature}`;
  const typeLine = `Content-Type: ${FORM}`;
  const GET = `--method GET --received-url ${get.url}`;
  const inGet = [get.headers["X-Service-Signature"] ?? ""];

  type Given = { token?: string; body?: string | Buffer | null; stderr?: RegExp };
  const MATCHES = "The signature matches.";
  const another = { token: "other" };
  const json = JSON.stringify(Object.fromEntries(new URLSearchParams(request.body)));
  const ENCODED = /UTF-.*\n.*line break/;
  const encode = (mark: string, encoding: BufferEncoding) =>
    Buffer.from(`${mark}${request.body}\r\n`, encoding);
  it.each<[first: string, line: string, headers: string[], given?: Given]>([
    [`1. URL_TRAILING_SLASH (proven), signed URL: ${url}`, `--url ${url}/`, [right]],
    // The URL, which is not shown, and not the token.
    ["1. URL_PATH (possible): ", "", [right], another],
    ["1. TOKEN_WRONG ", `--received-url ${url}`, [right], another],
    ["1. TOKEN_ACCOUNT ", `--account-sid AC${"0".repeat(32)}`, [right], another],
    [
      "1. SIGNATURE_MALFORMED ",
      "--signature-header x-cut",
      [right, `x-cut: ${signature.slice(9)}`],
    ],
    [MATCHES, "", [signature]],
    [MATCHES, "", [`X-Anything: ${signature}`]],
    [MATCHES, "", [`x-service-signature:${signature}`, typeLine]],
    [MATCHES, "", [typeLine, "Host: a.example", `X-Twilio-Signature: ${signature}`]],
    [MATCHES, "", ["X-Hub-Signature: sha1=00", right, typeLine]],
    [MATCHES, "", [signature, typeLine]],
    [MATCHES, "--signature-header x-a", [`X-A: ${signature}`, "X-B-Signature: x"]],
    [MATCHES, "--signature-header x-a", [signature, typeLine]],
    ["1. SIGNATURE_MISSING ", "", [typeLine, "Host: a.example"]],
    ["1. SIGNATURE_REPEATED ", "", [right, right]],
    [MATCHES, GET, inGet, { body: null }],
    ["1. URL_QUERY_EXTRA ", `${GET} --url ${url}?tenant=1`, inGet, { body: null }],
    [MATCHES, "", [right], { body: `${request.body}\n`, stderr: /line break/ }],
    ["1. BODY_JSON (proven): body\n", "", [right], { body: json }],
    ["1. PARAMS_MISSING ", "", [right], { body: null, stderr: /^Without --body-file/ }],
    ["1. PARAMS_MISSING ", "", [right], { body: Buffer.from([0xff, 0x80]) }],
    // As editors and shells of Windows write a file.
    [MATCHES, "", [right], { body: encode("\uFEFF", "utf8"), stderr: ENCODED }],
    [MATCHES, "", [right], { body: encode("\uFEFF", "utf16le"), stderr: ENCODED }],
    [MATCHES, "", [right], { body: encode("\uFEFF", "utf16le").swap16(), stderr: ENCODED }],
    [MATCHES, "", [right], { body: encode("", "utf16le"), stderr: ENCODED }],
  ])("prints %j with %s and the headers %j", async (first, line, headers, given = {}) => {
    const { token = AUTH_TOKEN, body = request.body ?? "", stderr = /^$/ } = given;
    const file = join(folder, "body");
    if (body !== null) writeFileSync(file, body);
    const args = ["--url", url, ...line.split(" ").filter(Boolean)];
    args.push(...headers.flatMap((header) => ["--header", header]));
    if (body !== null) args.push("--body-file", file);
    const explain = (...more: string[]) =>
      runCommand(["explain", ...args, ...more], { PUSH_AUTH_TOKEN: token });
    const { code, stdout, ...ended } = await explain();
    const matches = first === MATCHES;
    expect(code).toBe(matches ? 0 : 1);
    expect(stdout.slice(0, first.length)).toBe(first);
    expect(ended.stderr).toMatch(stderr);
    expect(stdout).not.toMatch(new RegExp(`${AUTH_TOKEN}|user-7f3a-22`));
    const report = JSON.parse((await explain("--json")).stdout);
    expect(report.matches).toBe(matches);
    expect(report.causes[0]?.code).toBe(matches ? undefined : first.split(" ")[1]);
    const { combinations, urls, tokens } = report.tried;
    const tried = `Tried ${combinations} combinations of ${urls.length} URLs and the tokens ${tokens.join(", ")}.\n`;
    expect(stdout.endsWith(tried)).toBe(!matches);
  });
});

describe("webhooks and keys", () => {
  let emulator: Emulator;
  let env: NodeJS.ProcessEnv;
  beforeEach(async () => {
    emulator = await startEmulator();
    env = envOf(emulator);
  });
  const run = (line: string, as = env) => runLine(line, as);
  const readJson = async (line: string) => JSON.parse((await run(`${line} --json`)).stdout);

  it("ensure, list and check webhooks", async () => {
    const url = "https://svc:hush@app.example.com/push";
    const types = "factor.created factor.deleted";
    const [ensure, check] = [
      `webhooks ensure --url ${url}`,
      `webhooks check --url ${url}`,
    ] as const;
    for (const [line, code, stdout] of [
      [ensure, 0, /^created YW/],
      [ensure, 0, /^unchanged YW/],
      [`${ensure} --json`, 0, /"unchanged"[^]*"push webhooks"[^]*"\*"/],
      [`${ensure} --status disabled --name x --json`, 0, /"disabled"[^]*"friendly_name": "x"/],
      [`${ensure} --status enabled --name y`, 0, /^updated YW/],
      [`${ensure} --events ${types} --version v1 --json`, 0, /"updated"[^]*"version": "v1"/],
      ["webhooks list", 0, /^SID\tSTATUS\tVERSION\tURL\tEVENTS\nYW.*\tv1\thttps:..\*{3}@app.*\n$/],
      ["webhooks list --json", 0, /^\[[^]*"webhook_url": "https:..svc:hush@app.*"[^]*\]\n$/],
      [`${check} --handled ${types}`, 1, /^VERSION_LEGACY YW/],
      [`${ensure} --events ${types} --version v2`, 0, /^updated YW/],
      [`${check} --handled ${types}`, 0, /^No configuration drift\.\n$/],
      // The URL of another one begins with it.
      [`webhooks ensure --url ${url.slice(0, -1)}`, 0, /^created YW.*\nURL_EXTENDS YW.*\n {2}/],
    ] as const) {
      expect(await run(line)).toMatchObject({ code, stdout: expect.stringMatching(stdout) });
    }
    expect(await readJson(check)).toHaveLength(3);
  });

  it.each([
    ["keys list", ["PUSH_VERIFY_URL", "PUSH_SERVICE_SID"]],
    ["webhooks list", ["PUSH_ACCOUNT_URL"]],
    ["webhooks check --url http://a.test", ["PUSH_ACCOUNT_URL"]],
  ])("%s does not need %s", async (line, unset) => {
    const settings = Object.entries(env).filter(([name]) => !unset.includes(name));
    const { stderr } = await run(line, Object.fromEntries(settings));
    expect(stderr).toBe("");
  });

  it.each([
    "webhooks list",
    "webhooks ensure --url http://a.test",
    "webhooks check --url http://a.test",
    "keys list",
    "keys create",
    `keys delete SK${"0".repeat(32)}`,
  ])("%s gives up its request when it is interrupted", async (line) => {
    const requests: unknown[] = [];
    const url = await startTarget((req, res) => {
      command.interrupt();
      // After a 429 any request that is not given up is sent again.
      res.writeHead(requests.push(req.url) === 1 ? 429 : 400, { "Retry-After": "0" }).end();
    });
    const target = { ...env, PUSH_ACCOUNT_URL: url, PUSH_VERIFY_URL: url };
    const command = startCommand(line.split(" "), target);
    expect({ code: await command.run, count: requests.length }).toEqual({ code: 130, count: 1 });
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
        const { code, stdout, stderr } = await run(command, wrong);
        expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
        expect(stderr).toMatch(message);
        expect(stderr).toContain("Authentication Error - invalid username");
        expect(stderr).not.toMatch(/4711|(AC|SK)0{32}/);
      }
    }
    // The secret is right, but a Standard Key manages no Keys.
    expect((await run("keys list", asKey)).stderr).toMatch(key);
    const other = { ...env, PUSH_SERVICE_SID: `VA${"0".repeat(32)}` };
    expect((await run("webhooks list", other)).stderr).not.toContain("PUSH_AUTH_TOKEN");
  });
});

describe("emulator", () => {
  /** Starts it for a webhook; `createFactor` makes an event happen. */
  async function start(args: string, env: NodeJS.ProcessEnv, options = {}) {
    const receiver = await startReceiver(AUTH_TOKEN, options);
    const line = `emulator --port 0 --webhook-url ${receiver.publicUrl} ${args}`;
    const command = line.split(" ").filter(Boolean);
    const createFactor = async (settings: Record<string, string>) => {
      const { PUSH_ACCOUNT_URL: url, PUSH_ACCOUNT_SID: sid, PUSH_AUTH_TOKEN: token } = settings;
      const as: [string, string] = [sid ?? "", token ?? ""];
      const created = await callApi({ url } as Emulator, "POST", "/_control/factors", { as });
      expect(created).toHaveProperty("status", 201);
    };
    return { ...startCommand(command, env), createFactor, receiver };
  }

  it("prints credentials and each delivery until SIGINT", async () => {
    // macOS has only the first address of this machine.
    const host = process.platform === "darwin" ? "127.0.0.1" : "127.0.0.2";
    const args = `http://127.0.0.1:9/none?hush --host ${host} --allowed-host emulator`;
    const { run, written, interrupt, waitFor, createFactor } = await start(args, {});
    await waitFor(/Create a factor/);
    const env = parseEnv(written.stdout) as Record<string, string>;
    expect(env.PUSH_VERIFY_URL).toBe(env.PUSH_ACCOUNT_URL);
    expect(env.PUSH_ACCOUNT_URL).toMatch(`http://${host}:`);
    const ready = { method: "GET", url: `${env.PUSH_ACCOUNT_URL}/_control/ready` } as const;
    const named = sendRequest({ ...ready, headers: { Host: "emulator:1" }, body: undefined });
    expect(await named).toHaveProperty("status", 200);
    await createFactor(env);
    expect(written.stderr).toBe("");
    await waitFor(/^403 factor\.created -> http:\S+\/webhooks\/push in [\d.]+ ms$/m);
    await waitFor(/^ECONNREFUSED factor\.created -> http:\S+\/none in .*, 2 attempts$/m);
    await waitFor(/--webhook-url/, "stderr");
    for (let more = 0; more < 4; more++) await createFactor(env);
    await waitFor(/(403(.*\n)+){5}/);
    interrupt();
    expect(await run).toBe(130);
    expect(written.stderr).toMatch(/^The receiver does not accept the signature: .*\n$/);
    await expect(fetch(env.PUSH_ACCOUNT_URL ?? "")).rejects.toThrow("fetch failed");
  });

  it("does not print the token of the environment with which it signs", async () => {
    const { run, written, interrupt, waitFor } = await start("--json", secret);
    await waitFor(/\n/);
    expect(written.stdout).not.toMatch(new RegExp(`PUSH_AUTH_TOKEN|${AUTH_TOKEN}`));
    expect(written.stderr).toMatch(/^The emulator signs with PUSH_AUTH_TOKEN of the [^\n]+\n$/);
    interrupt();
    await run;
  });

  const PUBLIC = "--as-public-service";
  it.each<[args: string, env: NodeJS.ProcessEnv, header: string, contentType: string]>([
    ["", {}, "X-Service-Signature", SHORT],
    [`--version v1 --content-type ${FORM}`, {}, "X-Service-Signature", FORM],
    [PUBLIC, {}, "X-Twilio-Signature", FORM],
    [`${PUBLIC} --signature-header X-Own --content-type ${SHORT}`, {}, "X-Own", SHORT],
    [PUBLIC, { PUSH_SIGNATURE_HEADER: "X-Env" }, "X-Env", FORM],
  ])("--json %s with %j prints a delivery with the headers %s and %s", async (...row) => {
    const [args, env, header, contentType] = row;
    const more = { ...secret, PUSH_ACCOUNT_SID: `AC${"7".repeat(32)}`, ...env };
    const started = await start(`--json ${args}`, more, { signatureHeader: header });
    const { run, written, interrupt, waitFor, createFactor, receiver } = started;
    await waitFor(/\n/);
    const settings = JSON.parse(written.stdout) as Record<string, string>;
    expect(settings.PUSH_ACCOUNT_SID).toBe(more.PUSH_ACCOUNT_SID);
    await createFactor({ ...settings, ...secret });
    await waitFor(/\n.*\n/);
    interrupt();
    await run;
    const headers = { "Content-Type": contentType, [header]: expect.any(String) as string };
    const delivery = { type: "factor.created", request: { headers }, response: { status: 200 } };
    expect(JSON.parse(written.stdout.split("\n")[1] ?? "")).toMatchObject(delivery);
    expect(receiver.events).toMatchObject([{ version: args.includes("v1") ? "v1" : "v2" }]);
  });

  it.each<[reason: RegExp, options: object]>([
    [/expects the header X-Twilio-Signature/, { signatureHeader: "X-Twilio-Signature" }],
    [/The signature is right/, { confirm: () => false, confirmTypes: ["factor.created"] }],
    [/does not accept the signature/, { authToken: "another-token" }],
  ])("asks why a receiver responds 403: %s", async (reason, options) => {
    const started = await start("--json", secret, options);
    const { run, written, interrupt, waitFor, createFactor, receiver } = started;
    await waitFor(/\n/);
    await createFactor({ ...JSON.parse(written.stdout), ...secret });
    await waitFor(reason, "stderr");
    interrupt();
    await run;
    expect(receiver.events).toEqual([]);
  });

  it("fails for a port in use", async () => {
    const { url } = await startEmulator();
    expect(await runLine(`emulator --port ${new URL(url).port}`)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^push-webhooks: Port \d+ is in use\. [^:]*\n$/),
    });
  });
});
