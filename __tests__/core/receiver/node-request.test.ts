import { EventEmitter, once } from "node:events";
import type { IncomingMessage } from "node:http";
import { PassThrough, Readable } from "node:stream";
import timers from "node:timers";
import { isPromise } from "node:util/types";
import { connect, type Socket } from "node:net";
import { runInNewContext } from "node:vm";
import { createRequest, createResponse, type RequestOptions } from "node-mocks-http";
import type { PushWebhooksOptions } from "express-push-verification";
import { createReceiver } from "../../support/receivers";
import { eventPairs, PUBLIC_URL, signedRequestOf } from "../../support/webhook-requests";
import {
  PATH,
  rawRequest,
  sendRaw,
  SERVERS,
  startServer,
  stopServers,
  type ListenerOf,
  type Middleware,
} from "../../support/servers";
import type { NodeMessage } from "../../../lib/core/receiver/node-request";
import { testSignal } from "../../support/waiting";

afterEach(stopServers);

type Before = (req: NodeMessage) => unknown;
const pairs = eventPairs("factor.created");
const { headers, body = "" } = signedRequestOf(pairs);
const startOf = (line: string) =>
  rawRequest({ method: "POST", path: PATH, headers, body: undefined }, [line]);
const announced = (length = body.length) => startOf(`content-length: ${length}`);
const CHUNKED = startOf("transfer-encoding: chunked");
const LAST = "0\r\n\r\n";
const ON_NODE = SERVERS.find(([name]) => name === "node:http")![1];
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const half = body.slice(0, 50);
const NOTHING: Before = () => {};

/** Creates a receiver, and a promise of 200 or the rejection of a request. */
function createPush(options: Partial<PushWebhooksOptions> = {}) {
  const { push } = createReceiver(options);
  const result = new Promise<string>((resolve) => {
    push.onAny(() => resolve("200"));
    push.onRejected(({ status, code, message }) => resolve(`${status} ${code} ${message}`));
  });
  return { push, result };
}

const runBefore =
  (before: Before): Middleware =>
  async (req, _res, next) => {
    const waited = before(req);
    // Not instanceof: promises of Node belong to another realm than those of a Jest test.
    if (isPromise(waited)) await waited;
    next();
  };

/** Returns 200, or the code. */
async function receive(
  chunks: string[],
  options: Partial<PushWebhooksOptions> = {},
  before = NOTHING,
  giveUpMs = 20_000,
) {
  const { push, result } = createPush(options);
  const port = await startServer(ON_NODE(push, runBefore(before)));
  await sendRaw(port, chunks, { giveUpMs });
  return (await result).replace(/^\d+ (\w+) .*$/s, "$1");
}

const consume = async (req: IncomingMessage) => void (await once(req.resume(), "end"));
const keptAs = (kept: object) => async (req: NodeMessage) => {
  await consume(req);
  Object.assign(req, kept);
};
const parsedAs = (parsed: unknown) => keptAs({ body: parsed });
const beside =
  (given: object): Before =>
  (req) =>
    void Object.assign(req, given);
const collect = (req: NodeMessage) => {
  req.rawBody = "";
  req.on("data", (data: Buffer) => (req.rawBody += data.toString()));
};
const otherBytes: unknown = runInNewContext("Uint8Array.from(bytes)", {
  bytes: [...Buffer.from(body)],
});

/** What the helper of Vercel does with a body: it reads the body, and puts a copy back. */
async function putBack(req: NodeMessage) {
  const copy = new PassThrough();
  const originalOn = req.on.bind(req);
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  req.read = copy.read.bind(copy);
  req.on = ((name: string, listener: () => void) =>
    name === "data" || name === "end"
      ? copy.on(name, listener)
      : originalOn(name, listener)) as never;
  copy.end(Buffer.concat(parts));
}

async function unshift(req: NodeMessage) {
  const [data] = await once(req, "data");
  req.pause().unshift(data);
  return data;
}
const defineThrowing = (name: string) => (req: NodeMessage) => {
  const get = () => {
    throw new Error("Invalid JSON");
  };
  Object.defineProperty(req, name, { get });
};

interface Row {
  before?: Before;
  /** The same for a `Request`. */
  fetch?: (request: Request) => unknown;
  /** Why it is rejected. */
  reason?: string;
  options?: Partial<PushWebhooksOptions>;
  /** Only Content-Length shows that a part is missing, or several segments. */
  leastSegments?: number;
}

/** What may run before the receiver. */
const ACCEPTED: Record<string, Before> = {
  "after a slow middleware": () => new Promise(setImmediate),
  "after a middleware that paused it": (req) => void req.pause(),
  "piped elsewhere": (req) => void req.pipe(new PassThrough()).resume(),
  "with the encoding latin1": (req) => void req.setEncoding("latin1"),
  'beside an empty rawBody ""': beside({ rawBody: "" }),
  "beside an empty object": beside({ body: {} }),
  "beside a list in rawBody": beside({ rawBody: [] }),
  "with a collector that just began": collect,
  "with a collector that is collecting": (req) => (collect(req), once(req, "data")),
  "read and put back": putBack,
  "read and put back by unshift": unshift,
  "kept, and put back by unshift": async (req) => (req.rawBody = await unshift(req)),
  "with a rawBody that throws": defineThrowing("rawBody"),
  "kept as text": keptAs({ rawBody: body, body: "x" }),
  "kept as bytes of another realm": keptAs({ rawBody: otherBytes }),
  "parsed to a flat object": parsedAs(Object.fromEntries(pairs)),
};

const BODIES: Record<string, Row> = {
  unread: { fetch: () => {} },
  "kept whole in body, beside a part in rawBody": {
    before: keptAs({ rawBody: body.slice(0, 9), body }),
    leastSegments: 1,
  },
  "read, and nothing kept": {
    before: consume,
    fetch: (request) => request.text(),
    reason: "it kept neither|bodyUsed .* or a clone of it",
  },
  "read, with a body that throws": {
    before: (req) => consume(req).then(() => defineThrowing("body")(req)),
    reason: "its getter of req.body throws",
  },
  "read, and an empty object kept": { before: parsedAs({}), reason: "it kept neither" },
  "parsed to a nested form": { before: parsedAs({ a: { b: "1" } }), reason: "it kept neither" },
  "kept in part": {
    before: keptAs({ rawBody: half }),
    reason: `req.rawBody has 50 of ${body.length} bytes`,
    leastSegments: 1,
  },
  "kept in part, while the rest arrives": {
    before: async (req) => {
      [req.rawBody] = await once(req, "data");
    },
    reason: "req.rawBody has .* of .* bytes",
    leastSegments: 2,
  },
  "read in part": {
    before: (req) => once(req, "data").then(() => req.pause()),
    reason: "the stream has .* of .* bytes",
    leastSegments: 2,
  },
  "held by another": {
    before: (req) => void req.on("readable", () => {}),
    fetch: (request) => request.body?.getReader(),
    reason: "another listener holds the stream|a reader holds the stream",
    options: { deadlineMs: 100 },
  },
};

function cut(count: number) {
  const length = Math.ceil(body.length / count);
  return Array.from({ length: count }, (_, index) => body.slice(index * length).slice(0, length));
}

type Column = (row: Row, segments: readonly string[]) => Promise<string>;

/** Sends each segment after the server has received the one before it. */
function serve(listenerOf: ListenerOf, head: string, encode: (part: string) => string): Column {
  return async ({ before = NOTHING, options }, segments) => {
    const { push, result } = createPush(options);
    const ended = testSignal();
    let socket: Socket | undefined;
    const keepSocket: Middleware = (req, _res, next) => {
      ({ socket } = req);
      next();
    };
    const port = await startServer(listenerOf(push, keepSocket, runBefore(before)));
    const client = connect(port, "127.0.0.1")
      .setNoDelay()
      .on("error", () => {});
    let sent = 0;
    const texts = segments.map(encode);
    for (const text of [head + texts[0], ...texts.slice(1)]) {
      client.write(text);
      sent += text.length;
      // Ends when the receiver has responded, too.
      const isReceived = () => (socket?.bytesRead ?? 0) >= sent || client.bytesRead > 0;
      while (!isReceived() && !ended.aborted) await new Promise(setImmediate);
    }
    return result.finally(() => client.destroy());
  };
}

const fetchWith: Column = async ({ fetch, options }, segments) => {
  const { push, result } = createPush(options);
  const stream = Readable.toWeb(Readable.from(segments.map((part) => Buffer.from(part))));
  const init = { method: "POST", headers, body: stream as ReadableStream, duplex: "half" as const };
  const request = new Request(PUBLIC_URL, init);
  await fetch?.(request);
  await push.fetch(request);
  return result;
};

const COLUMNS: Record<string, Column> = {
  ...Object.fromEntries(SERVERS.map(([name, on]) => [name, serve(on, announced(), String)])),
  chunked: serve(ON_NODE, CHUNKED, (part) => chunk(part) + (body.endsWith(part) ? LAST : "")),
  fetch: fetchWith,
};

describe("a body", () => {
  it.each([
    ...Object.entries(ACCEPTED).map(([what, before]): [string, Row] => [what, { before }]),
    ...Object.entries(BODIES),
  ])("%s", async (_what, row) => {
    const { reason, leastSegments = 0 } = row;
    const expected = reason ? new RegExp(`: 500 BODY_CONSUMED .*(${reason})`) : /: 200$/;
    for (const [name, column] of Object.entries(COLUMNS)) {
      if (name === "fetch" && row.fetch === undefined) continue;
      // Without Content-Length, a part cannot be told from the whole once the stream has ended.
      if (name === "chunked" && leastSegments === 1) continue;
      for (const count of [1, 2, 5].filter((one) => one >= leastSegments)) {
        const result = await column(row, cut(count));
        expect(`${name}, ${count} segments: ${result}`).toMatch(expected);
      }
    }
  });
});

const formBytes = pairs.reduce((bytes, pair) => bytes + Buffer.byteLength(pair.join("")), 0);
it.each([
  ["announced", body.length, [announced(), body]],
  ["not announced", body.length, [CHUNKED, chunk(body) + LAST]],
  ["in req.rawBody", body.length, [announced(1), "x"], (req) => (req.rawBody = body)],
  ["parsed", formBytes, [announced(1), "x"], parsedAs(Object.fromEntries(pairs))],
])("limits a body to limitBytes: %s", async (...row) => {
  const [, limitBytes, chunks, before] = row;
  expect(await receive(chunks, { limitBytes }, before)).toBe("200");
  expect(await receive(chunks, { limitBytes: limitBytes - 1 }, before)).toBe("BODY_TOO_LARGE");
});

it("starts no timer for a body that arrives with its headers, or is rejected then", async () => {
  const start = jest.spyOn(timers, "setTimeout");
  const deadlineMs = 143;
  const started = () => start.mock.calls.filter(([, delayMs]) => delayMs === deadlineMs);
  await receive([announced() + body], { deadlineMs });
  await receive([CHUNKED + chunk(body)], { limitBytes: 11, deadlineMs });
  expect(started()).toEqual([]);
  await receive([announced() + half], { deadlineMs });
  expect(started()).toHaveLength(1);
  start.mockRestore();
});

it("rejects a body that is late or cut short, or whose client is gone", async () => {
  const cutShort = [announced(), half];
  expect(await receive(cutShort, { deadlineMs: 100 })).toBe("BODY_TIMEOUT");
  expect(await receive(cutShort, {}, undefined, 100)).toBe("BODY_MALFORMED");
  const gone: Before = (req) => new Promise((resolve) => req.socket.once("close", resolve));
  expect(await receive(cutShort, {}, gone, 100)).toBe("BODY_MALFORMED");
  expect(await receive([CHUNKED, "3\r\na=1\r\nxyz\r\n"])).toBe("BODY_MALFORMED");
});

it("reads an announced body of an adapter that has no socket and no raw headers", async () => {
  const { push } = createReceiver();
  const req = Readable.from([Buffer.from(body)]) as NodeMessage;
  Object.assign(req, { method: "POST", url: PATH, httpVersionMajor: 1, complete: true });
  req.headers = { ...headers, "content-length": String(body.length) };
  const written: number[] = [];
  const res = { writeHead: (status: number) => written.push(status), end() {} };
  await (push(req, res as never) as unknown as Promise<void>);
  expect(written).toEqual([200]);
});

describe("a mock of a request", () => {
  const length = { "content-length": String(body.length) };
  type Mock = Partial<RequestOptions> & { sent?: string };
  it.each<[string, Mock, number]>([
    ["a text", { body: body as never }, 200],
    ["an object", { body: Object.fromEntries(pairs) }, 200],
    ["an object, with a length", { body: Object.fromEntries(pairs), headers: length }, 200],
    ["events", { headers: length, sent: body }, 200],
    ["another object", { body: { a: "1" }, headers: length }, 403],
    ["too many bytes", { headers: length, sent: "x".repeat(65_537) }, 413],
    ["no body", { headers: length }, 408],
    ["nothing", {}, 403],
  ])("of node-mocks-http with %s", async (_what, { sent, ...mock }, status) => {
    const { push, failed } = createReceiver({ deadlineMs: 100 });
    const all = { ...headers, ...mock.headers } as Record<string, string>;
    const req = createRequest({ method: "POST", url: PATH, ...mock, headers: all });
    const res = createResponse({ eventEmitter: EventEmitter });
    const done = push(req, res) as unknown as Promise<void>;
    if (sent !== undefined) req.send(sent);
    await done;
    expect(res.statusCode).toBe(status);
    expect(failed).toEqual([]);
  });
});
