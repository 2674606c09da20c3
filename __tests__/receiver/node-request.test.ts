/** Bodies of `node:http`: unread, read before, cut short, and of adapters. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { PassThrough, Readable } from "node:stream";
import timers from "node:timers";
import { isPromise } from "node:util/types";
import { inject } from "light-my-request";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { AUTH_TOKEN, encodeForm, eventPairs, PUBLIC_URL } from "../support/webhook-requests";
import { signedRequestOf } from "../support/webhook-requests";
import { sendRaw, startServer, stopServers } from "../support/servers";
import type { NodeMessage } from "../../lib/receiver/node-request";

afterEach(stopServers);

const pairs = eventPairs("factor.created");
const { headers, body = "" } = signedRequestOf(pairs);
const startOf = (...lines: string[]) =>
  `${["POST /push/events HTTP/1.1", "host: x", ...Object.entries(headers).map((pair) => pair.join(": ")), ...lines].join("\r\n")}\r\n\r\n`;
const announced = (length = body.length) => startOf(`content-length: ${length}`);
const CHUNKED = startOf("transfer-encoding: chunked");
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const halves = [body.slice(0, 50), body.slice(50)] as const;

type Before = (req: NodeMessage) => unknown;

/** Sends raw bytes to a receiver that runs after `before`; returns the status, or the code. */
async function receive(
  chunks: readonly string[],
  before: Before = () => {},
  options: Partial<PushWebhooksOptions> = {},
  giveUpMs = 20_000,
): Promise<number | string> {
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, ...options });
  const result = new Promise<number | string>((resolve) => {
    push.onAny(() => resolve(200));
    push.onRejected((error) => resolve(error.code));
  });
  const port = await startServer((req, res) => {
    const waited = before(req);
    // Not instanceof: promises of Node belong to another realm than those of a Jest test.
    if (isPromise(waited)) void waited.then(() => push(req, res));
    else push(req, res);
  });
  await sendRaw(port, [...chunks], { giveUpMs });
  return result;
}

const consume = async (req: IncomingMessage) => void (await once(req.resume(), "end"));
const parsedAs = (parsed: unknown) => async (req: NodeMessage) => {
  await consume(req);
  req.body = parsed;
};

it.each<[string, readonly string[], Before?]>([
  ["in one packet", [announced(), body]],
  ["in two chunks", [CHUNKED, chunk(halves[0]), `${chunk(halves[1])}0\r\n\r\n`]],
  ["in a chunk per byte", [CHUNKED, ...[...body].map(chunk), "0\r\n\r\n"]],
  ["after a slow middleware", [announced(), ...halves], () => new Promise(setImmediate)],
  ["after a middleware that paused it", [announced(), body], (req) => void req.pause()],
  ["beside another listener", [announced(), ...halves], (req) => void req.on("data", () => {})],
  ["piped elsewhere", [announced(), body], (req) => void req.pipe(new PassThrough()).resume()],
  ["as bytes in req.rawBody", [announced(1), "x"], (req) => (req.rawBody = Buffer.from(body))],
  ["as text in req.rawBody", [announced(1), "x"], (req) => (req.rawBody = body)],
  ["as bytes in req.body", [announced(1), "x"], (req) => (req.body = Buffer.from(body))],
  ["as text in req.body", [announced(1), "x"], (req) => (req.body = body)],
  [
    "in req.rawBody before req.body",
    [announced(1), "x"],
    (req) => Object.assign(req, { rawBody: body, body: "x" }),
  ],
  ["parsed to a flat object", [announced(1), "x"], parsedAs(Object.fromEntries(pairs))],
])("accepts a body %s", async (_what, chunks, before = () => {}) => {
  expect(await receive(chunks, before)).toBe(200);
});

it.each<[string, unknown]>([
  ["nothing", undefined],
  ["an empty object", {}],
  ["a nested form", { a: { b: "1" } }],
])("rejects a consumed stream with req.body %s", async (_what, parsed) => {
  expect(await receive([announced(1), "x"], parsedAs(parsed))).toBe("BODY_CONSUMED");
});

it("rejects the rest of a stream that another middleware began to read", async () => {
  const readSome = async (req: IncomingMessage) => {
    await once(req, "data");
    req.pause();
  };
  expect(await receive([announced(), halves[0]], readSome)).toBe("BODY_CONSUMED");
});

it("rejects a stream with a decoder", async () => {
  expect(await receive([announced(), body], (req) => req.setEncoding("latin1"))).toBe(
    "BODY_CONSUMED",
  );
});

const formBytes = pairs.reduce((bytes, pair) => bytes + Buffer.byteLength(pair.join("")), 0);
it.each<[string, number, readonly string[], Before?]>([
  ["announced", body.length, [announced(), body]],
  ["not announced", body.length, [CHUNKED, `${chunk(body)}0\r\n\r\n`]],
  ["in req.rawBody", body.length, [announced(1), "x"], (req) => (req.rawBody = body)],
  ["parsed", formBytes, [announced(1), "x"], parsedAs(Object.fromEntries(pairs))],
])("accepts a body of the limit, and rejects one byte more: %s", async (...row) => {
  const [, limitBytes, chunks, before = () => {}] = row;
  expect(await receive(chunks, before, { limitBytes })).toBe(200);
  expect(await receive(chunks, before, { limitBytes: limitBytes - 1 })).toBe("BODY_TOO_LARGE");
});

it("starts no timer for a body that arrives with its headers, or is rejected then", async () => {
  const start = jest.spyOn(timers, "setTimeout");
  const bodyTimeoutMs = 43;
  const started = () => start.mock.calls.filter(([, delayMs]) => delayMs === bodyTimeoutMs);
  await receive([announced() + body], undefined, { bodyTimeoutMs });
  await receive([CHUNKED + chunk(body)], undefined, { limitBytes: 11, bodyTimeoutMs });
  expect(started()).toEqual([]);
  await receive([announced() + halves[0]], undefined, { bodyTimeoutMs });
  expect(started()).toHaveLength(1);
  start.mockRestore();
});

it("rejects a body that is late or cut short, or whose client is gone", async () => {
  const half = [announced(), halves[0]];
  expect(await receive(half, undefined, { bodyTimeoutMs: 15 })).toBe("BODY_TIMEOUT");
  expect(await receive(half, undefined, {}, 100)).toBe("BODY_MALFORMED");
  const gone: Before = (req) => new Promise((resolve) => req.socket.once("close", resolve));
  expect(await receive(half, gone, {}, 100)).toBe("BODY_MALFORMED");
  expect(await receive([CHUNKED, "3\r\na=1\r\nxyz\r\n"])).toBe("BODY_MALFORMED");
});

it("reads a body once it was announced, from adapters of serverless platforms", async () => {
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
  const sent = { method: "POST" as const, url: "/push/events", headers, payload: body };
  expect(await inject((req, res) => void push(req, res), sent)).toHaveProperty("statusCode", 200);
  // Without a socket and raw headers.
  const req = Readable.from([Buffer.from(encodeForm(pairs))]) as NodeMessage;
  Object.assign(req, { method: "POST", url: "/push/events", httpVersionMajor: 1, complete: true });
  req.headers = { ...headers, "content-length": String(body.length) };
  const written: number[] = [];
  const res = { writeHead: (status: number) => written.push(status), end() {} };
  await (push(req, res as never) as unknown as Promise<void>);
  expect(written).toEqual([200]);
});
