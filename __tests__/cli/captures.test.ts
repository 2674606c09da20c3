import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { ClientRequest, ServerResponse, type RequestListener } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pushWebhooks, type Capture, type PushWebhooks } from "express-push-verification";
import { useFolder } from "../support/folders";
import { has } from "../support/platform";
import { rawRequest, sendRaw, startServer, stopServers } from "../support/servers";
import { runCommand, startCommand } from "../support/terminals";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";

const file = join(useFolder(), "captures.jsonl");
afterEach(() => rmSync(file, { force: true }));
afterEach(stopServers);

/** A server that a receiver runs in. */
const serve = async (push: PushWebhooks) =>
  `http://127.0.0.1:${await startServer((req, res) => void push(req, res))}`;

/** Records the bytes of a request, and returns what `record` writes to stderr. */
async function record(bytes: string, args: string[] = [], status = 200): Promise<string> {
  const hosts = ["--allowed-host", "app.example.com", "spoofed.example"];
  const command = ["record", file, "--port", "0", ...hosts, ...args];
  const { run, written, interrupt, waitFor } = startCommand(command);
  await waitFor(/http:/);
  const port = Number(/:(\d+)\n/.exec(written.stdout)?.[1]);
  expect((await sendRaw(port, [bytes])).status).toBe(status);
  // A query may name a user.
  expect(written.stdout).not.toContain("?");
  interrupt();
  expect(await run).toBe(130);
  return written.stderr;
}

it("a recorded request is replayed byte for byte", async () => {
  const bytes = [
    "POST /a//b?x='%27 HTTP/1.1",
    "hOST: app.example.com",
    "X-Twice: 1",
    "x-twice: 2",
    "Content-Length: 9",
    "Connection: close",
    "",
    "a=1&b=%ff",
  ].join("\r\n");
  expect(await record(bytes)).toBe("");
  if (has("file modes")) expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  let received = "";
  const server = createServer((socket) => {
    socket.setEncoding("latin1").on("data", (chunk) => {
      received += String(chunk);
      if (received.endsWith("a=1&b=%ff")) socket.end("HTTP/1.1 200 OK\r\n\r\n");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const replayed = { code: 0, stdout: "200 POST /a//b\n" };
  expect(await runCommand(["replay", file, "--to", to])).toMatchObject(replayed);
  server.close();
  expect(received).toBe(bytes);
});

it.each<[status: number, reason: RegExp, start: string, headers: string, bodyBytes?: number]>([
  [403, /"rebound\.example:1".*--allowed-host/, "POST /", "Host: rebound.example:1"],
  [403, /page/, "GET /?a=1", "Host: 127.0.0.1\r\nSec-Fetch-Site: cross-site"],
  [413, /1048576/, "POST /", "Host: localhost", 1_048_577],
])("record stores nothing: %i, %s", async (status, reason, start, headers, size = 0) => {
  const head = `${start} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n`;
  const bytes = `${head}Content-Length: ${size}\r\n\r\n${"a".repeat(size)}`;
  expect(await record(bytes, [], status)).toMatch(reason);
  expect(existsSync(file)).toBe(false);
});

it("record responds 500 to a request that it cannot store", async () => {
  mkdirSync(file);
  const bytes = rawRequest(eventRequest("factor.created"));
  expect(await record(bytes, [], 500)).toMatch(/not stored: EISDIR/);
  rmdirSync(file);
});

it("record goes on after a response whose methods throw", async () => {
  const broken = jest.spyOn(ServerResponse.prototype, "writeHead").mockImplementationOnce(() => {
    throw new RangeError("inside");
  });
  const bytes = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
  expect(await record(bytes, [], 0)).toMatch(/inside/);
  broken.mockRestore();
});

it("explain reads a captured webhook request", async () => {
  await record(rawRequest(eventRequest("challenge.approved")));
  const explain = (url: string, flag?: string, name?: string) =>
    runCommand(["explain", "--capture", file, "--url", url, ...(flag === "--json" ? [flag] : [])], {
      PUSH_AUTH_TOKEN: AUTH_TOKEN,
      PUSH_SIGNATURE_HEADER: name,
    });
  expect(await explain(PUBLIC_URL)).toMatchObject({ code: 0, stdout: "The signature matches.\n" });
  // As PowerShell 5.1 writes it.
  const text = readFileSync(file, "utf8").replaceAll("\n", "\r\n");
  writeFileSync(file, `\uFEFF${text}\r\n`, "utf16le");
  expect(await explain(PUBLIC_URL)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/UTF-16/) as string,
  });
  const wrong = await explain(PUBLIC_URL.replace("https", "http"));
  expect(wrong).toMatchObject({ code: 1, stdout: expect.stringMatching(/^1\. URL_SCHEME/) });
  rmSync(file);
  await record(rawRequest(eventRequest("factor.created", {}, { method: "GET" })));
  expect(await explain(PUBLIC_URL)).toHaveProperty("code", 0);
  await record(rawRequest(eventRequest("factor.created")).replace("x-service-signature", "x-a"));
  const both = expect.stringMatching(/^The signature matches\.\n1\. SIGNATURE_MISSING /) as string;
  expect(await explain(PUBLIC_URL)).toMatchObject({ code: 1, stdout: both });
  const { stdout: reports } = await explain(PUBLIC_URL, "--json");
  expect(JSON.parse(reports)).toMatchObject([{ matches: true }, { matches: false }]);
  const inOther = await explain(PUBLIC_URL, "--signature-header", "x-a");
  expect(inOther.stdout).toMatch(/^1\. SIGNATURE_MISSING [^]*\nThe signature matches\.\n$/);
});

describe("the capture of a rejected request", () => {
  const bytes = rawRequest(eventRequest("challenge.approved"));
  /** A receiver with another token, and the captures that it gives. */
  const start = () => {
    const push = pushWebhooks({ authToken: "another-token", publicUrl: PUBLIC_URL });
    const captures: (Capture | undefined)[] = [];
    push.onRejected((_error, _request, capture) => void captures.push(capture()));
    return { push, captures };
  };

  it("is the line that record writes", async () => {
    const { push, captures } = start();
    const port = Number(new URL(await serve(push)).port);
    expect((await sendRaw(port, [bytes])).status).toBe(403);
    await record(bytes);
    expect(`${JSON.stringify(captures[0])}\n`).toBe(readFileSync(file, "utf8"));
  });

  it("has the headers of a Web Request in lower case", async () => {
    const { push, captures } = start();
    const { method, path: url, headers, body = "" } = eventRequest("challenge.approved");
    const request = new Request(`https://app.example.com${url}`, { method, headers, body });
    expect((await push.fetch(request)).status).toBe(403);
    const base64 = Buffer.from(body).toString("base64");
    const sent = expect.arrayContaining([["content-type", headers["content-type"]]]) as string[];
    expect(captures).toEqual([{ method, url, headers: sent, body: base64 }]);
  });

  it.each<[string, string, object]>([
    ["the headers decided", bytes.replace("x-service-signature", "x-other"), {}],
    ["another middleware parsed the body", bytes, { body: { type: "factor.created" } }],
  ])("is undefined when %s", async (_why, sent, more) => {
    const { push, captures } = start();
    const port = await startServer((req, res) => {
      const read = "body" in more ? buffer(req) : Promise.resolve();
      void read.then(() => push(Object.assign(req, more), res));
    });
    expect((await sendRaw(port, [sent])).status).toBe(403);
    expect(captures).toStrictEqual([undefined]);
  });
});

const IDENTITY = "entity_identity=user-7f3a-22";
const POST = rawRequest(eventRequest("challenge.approved"));
const asGet = (query: string) => `GET /push?${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
it.each([
  ["a POST", POST],
  ["a POST of another client", POST.replace("content-length", "CONTENT-LENGTH")],
  ["a GET", rawRequest(eventRequest("challenge.approved", {}, { method: "GET" }))],
  ["the first parameter of a GET", asGet(`${IDENTITY}&uuid=a`)],
  ["the only parameter of a GET", asGet(`${IDENTITY}#user-7f3a-22`)],
  ["two parameters", asGet(`uuid=a&${IDENTITY}&${IDENTITY}`)],
])("masks the identity on request in %s", async (_what, bytes) => {
  await record(bytes, ["--mask"]);
  const { url, headers, body } = JSON.parse(readFileSync(file, "utf8")) as Capture;
  const masked = Buffer.from(body, "base64");
  const lengths = headers.filter(([name]) => /^content-length$/i.test(name));
  expect(lengths.every(([, length]) => Number(length) === masked.length)).toBe(true);
  const sent = url + masked.toString();
  expect(sent).toContain("entity_identity=masked");
  expect(sent).not.toContain("user-7f3a-22");
});

it.each([
  ["", "has no capture"],
  ["{}\n", "line 1:"],
  ['{"method":"POST","url":"/","headers":[],"body":""}\n\n-\n', "line 3:"],
  ['{"method":"POST","url":"/","headers":[["a"]],"body":""}\n', "line 1:"],
])("replay rejects a file of captures with %j: %s", async (text, reason) => {
  writeFileSync(file, text);
  const ended = await runCommand(["replay", file, "--to", "http://127.0.0.1:9"]);
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) });
});

it("replay fails when a response does not come whole", async () => {
  const capture = { method: "GET", url: "/?a=b", headers: [["Host", "a"]], body: "" };
  writeFileSync(file, `${JSON.stringify(capture)}\n`.repeat(2));
  const answers: RequestListener[] = [
    (_req, res) => res.writeHead(500).end(),
    (_req, res) => res.end("ok"),
    (_req, res) => res.writeHead(200, { "Content-Length": 9 }).write("x", () => res.destroy()),
    () => interrupted.interrupt(),
  ];
  const to = `http://127.0.0.1:${await startServer((req, res) => answers.shift()?.(req, res))}`;
  const replay = () => startCommand(["replay", file, "--to", to]);
  const failed = replay();
  expect([await failed.run, failed.written.stdout]).toEqual([1, "500 GET /\n200 GET /\n"]);
  const cut = replay();
  expect([await cut.run, cut.written.stdout]).toEqual([1, ""]);
  const limit = jest.spyOn(ClientRequest.prototype, "setTimeout").mockReturnThis();
  const interrupted = replay();
  expect(await interrupted.run).toBe(130);
  expect(limit).toHaveBeenCalledWith(15_000, expect.any(Function));
  limit.mockRestore();
});
