import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import bodyParser from "body-parser";
import fc from "fast-check";
import {
  createMemoryDedupe,
  pushWebhooks,
  type PushEvent,
  type PushWebhooksOptions,
  type UnknownPushEvent,
  type WebhookErrorCode,
} from "express-push-verification";
import { STATUS_BY_CODE } from "../lib/errors/codes";
import recorded from "./fixtures/webhook-calls.json";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventPairs,
  CHALLENGE_SID,
  encodeForm,
  eventRequest,
  PUBLIC_URL,
  signedRequestOf,
  type TestRequest,
} from "./support/webhook-requests";
import {
  closeServers,
  PATH,
  rawRequest,
  send,
  sendRaw,
  SERVERS,
  startServer,
  stopServers,
} from "./support/servers";
import type { ListenerOf, Middleware, RawResponse } from "./support/servers";
import { until } from "./support/redis";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const never = () => new Promise<never>(() => {});

afterEach(stopServers);

describe.each(SERVERS)("on %s", (_server, listenerOf) => {
  async function receiver(options: Partial<PushWebhooksOptions> = {}, ...before: Middleware[]) {
    return startReceiver(listenerOf, options, before);
  }

  it.each(recorded.calls.map((one) => [one.id, one] as const))(
    "accepts %s",
    async (_id, request) => {
      const { authToken, publicUrl } = {
        authToken: recorded.about.token,
        publicUrl: recorded.about.configuredUrl,
      };
      const { port, events } = await receiver({ authToken, publicUrl });
      const { pathname, search } = new URL(request.url);
      const path = pathname + search;
      const headers = request.headers as Record<string, string>;
      const response = await send(port, {
        method: request.method,
        path,
        headers,
        body: request.body ?? undefined,
      });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe("");
      expect(events).toMatchObject([
        { type: request.type, version: request.version, uuid: request.params.uuid },
      ]);
    },
  );

  describe("responds to", () => {
    const good = eventRequest("challenge.approved");
    const header = "x-service-signature";
    const signature = good.headers[header] ?? "";

    interface Row {
      what: string;
      code?: WebhookErrorCode;
      request?: TestRequest;
      raw?: (string | Buffer)[];
      options?: Partial<PushWebhooksOptions>;
      before?: Middleware[];
    }
    const withHeaders = (headers: Record<string, string | undefined>): TestRequest => ({
      ...good,
      headers: Object.fromEntries(
        Object.entries({ ...good.headers, ...headers }).filter(
          (pair): pair is [string, string] => pair[1] !== undefined,
        ),
      ),
    });
    const withBody = (body: string): TestRequest => ({ ...good, body });
    const withoutBody = { ...good, body: undefined };
    const head = rawRequest(withoutBody).replace("\r\n\r\n", "\r\n");

    const rows: Row[] = [
      { what: "a good request", request: good },
      {
        what: "a good request of v1",
        request: eventRequest("factor.created", {}, { version: "v1" }),
      },
      {
        what: "a good GET request",
        request: eventRequest("factor.deleted", {}, { method: "GET" }),
      },
      { what: "an unknown type", request: signedRequestOf(eventPairs("factor.suspended")) },
      {
        what: "extra parameters",
        request: signedRequestOf([...eventPairs("factor.created"), ["tag", "b"], ["tag", "a"]]),
      },
      {
        what: "the header in another case",
        raw: [rawRequest(good).replace(header, "X-SERVICE-SIGNATURE")],
      },
      {
        what: "white space around the signature",
        raw: [rawRequest(good).replace(signature, ` ${signature} `)],
      },
      { what: "an older token", request: good, options: { authToken: ["next", AUTH_TOKEN] } },
      { what: "an allowed account", request: good, options: { allowedAccountSids: [ACCOUNT_SID] } },
      {
        what: "a body in many chunks",
        raw: [`${head}transfer-encoding: chunked\r\n\r\n`, ...chunked(good.body ?? "")],
      },

      {
        what: "no signature",
        code: "SIGNATURE_MISSING",
        request: withHeaders({ [header]: undefined }),
      },
      {
        what: "an empty signature",
        code: "SIGNATURE_MISSING",
        request: withHeaders({ [header]: "" }),
      },
      {
        what: "a short signature",
        code: "SIGNATURE_MALFORMED",
        request: withHeaders({ [header]: signature.slice(1) }),
      },
      {
        what: "two signatures",
        code: "SIGNATURE_MALFORMED",
        raw: [rawRequest(good, [`${header}: ${signature}`])],
      },
      {
        what: "another signature",
        code: "SIGNATURE_MISMATCH",
        request: withHeaders({ [header]: "spltyRVLIB+qQr/llzKRKlLsVRc=" }),
      },
      {
        what: "a body with more",
        code: "SIGNATURE_MISMATCH",
        request: withBody(`${good.body}&x=1`),
      },
      { what: "no body", code: "SIGNATURE_MISMATCH", request: withBody("") },
      {
        what: "a signature over the URL without the parameters",
        code: "SIGNATURE_MISMATCH",
        request: { ...signedRequestOf([]), body: good.body },
      },
      {
        what: "a body after a byte order mark",
        code: "SIGNATURE_MISMATCH",
        request: withBody(`\ufeff${good.body}`),
      },
      {
        what: "JSON under the form's type",
        code: "SIGNATURE_MISMATCH",
        request: withBody('{"type":"challenge.approved"}'),
      },
      {
        what: "a GET with a body",
        code: "SIGNATURE_MISMATCH",
        raw: [
          rawRequest({ ...eventRequest("factor.deleted", {}, { method: "GET" }), body: "x=1" }),
        ],
      },
      {
        what: "another account",
        code: "ACCOUNT_NOT_ALLOWED",
        request: good,
        options: { allowedAccountSids: [`AC${"0".repeat(32)}`] },
      },

      {
        what: "a missing parameter",
        code: "PAYLOAD_INVALID",
        request: eventRequest("factor.created", { uuid: undefined }),
      },
      {
        what: "a malformed parameter",
        code: "PAYLOAD_INVALID",
        request: eventRequest("factor.created", { factor_sid: "YF1" }),
      },
      {
        what: "a repeated parameter",
        code: "PAYLOAD_INVALID",
        request: signedRequestOf([
          ...eventPairs("challenge.denied"),
          ["type", "challenge.approved"],
        ]),
      },
      {
        what: "a signed request without a body",
        code: "PAYLOAD_INVALID",
        request: signedRequestOf([]),
      },
      { what: "broken percent-encoding", code: "BODY_MALFORMED", request: withBody("a=%zz") },
      {
        what: "encoded bytes that are not UTF-8",
        code: "BODY_MALFORMED",
        request: withBody("a=%FF"),
      },
      {
        what: "raw bytes that are not UTF-8",
        code: "BODY_MALFORMED",
        raw: [`${head}content-length: 3\r\n\r\n`, Buffer.from([0x61, 0x3d, 0xff])],
      },
      {
        what: "broken percent-encoding in a GET",
        code: "BODY_MALFORMED",
        raw: [
          rawRequest({
            ...eventRequest("factor.created", {}, { method: "GET" }),
            path: `${PATH}?a=%zz`,
          }),
        ],
      },

      ...["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"].map((method): Row => ({
        what: method,
        code: "METHOD_NOT_ALLOWED",
        raw: [rawRequest({ ...good, method })],
      })),
      {
        what: "a method to override the method",
        request: withHeaders({ "x-http-method-override": "DELETE" }),
      },
      {
        what: "TRACE",
        code: "METHOD_NOT_ALLOWED",
        raw: [rawRequest({ ...withoutBody, method: "TRACE" })],
      },

      ...[
        "application/json",
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded; charset=utf-16",
      ].map((type): Row => ({
        what: type,
        code: "CONTENT_TYPE_UNSUPPORTED",
        request: withHeaders({ "content-type": type }),
      })),
      {
        what: "no content type",
        code: "CONTENT_TYPE_UNSUPPORTED",
        raw: [rawRequest(withHeaders({ "content-type": undefined }))],
      },
      {
        what: "two content types",
        code: "CONTENT_TYPE_UNSUPPORTED",
        raw: [rawRequest(good, ["content-type: application/json"])],
      },
      ...["gzip", "br", "deflate", "zstd", "gzip, gzip"].map((encoding): Row => ({
        what: encoding,
        code: "CONTENT_TYPE_UNSUPPORTED",
        request: withHeaders({ "content-encoding": encoding }),
      })),

      {
        what: "a body over the limit",
        code: "BODY_TOO_LARGE",
        request: withBody(`x=${"y".repeat(65_535)}`),
      },
      { what: "1001 parameters", code: "BODY_TOO_LARGE", request: withBody("a=1&".repeat(1001)) },
      {
        what: "a body that is announced and never sent",
        code: "BODY_TOO_LARGE",
        raw: [`${head}content-length: 1000000000\r\n\r\n`],
      },
      {
        what: "a chunked body over the limit that goes on",
        code: "BODY_TOO_LARGE",
        raw: [
          `${head}transfer-encoding: chunked\r\n\r\n`,
          ...Array.from({ length: 70 }, () => `400\r\n${"y".repeat(1024)}\r\n`),
        ],
      },
      {
        what: "a body that stops half-way",
        code: "BODY_TIMEOUT",
        raw: [`${head}content-length: 50\r\n\r\n`, "half"],
        options: { bodyTimeoutMs: 40 },
      },

      {
        what: "a consumed body",
        code: "BODY_CONSUMED",
        request: withHeaders({ "content-type": "application/x-www-form-urlencoded" }),
        before: [consume],
      },
      {
        what: "a nested parsed body",
        code: "BODY_CONSUMED",
        request: signedRequestOf([...eventPairs("factor.created"), ["a[b]", "1"]], {
          contentType: "application/x-www-form-urlencoded",
        }),
        before: [bodyParser.urlencoded({ extended: true })],
      },
    ];

    it.each(rows.map((row) => [row.what, row.code ?? "200", row] as const))(
      "%s: %s",
      async (_what, _code, row) => {
        const refused: string[] = [];
        const { port, push, events } = await receiver(
          { ...row.options, logger: silent },
          ...(row.before ?? []),
        );
        push.onRejected((error) => void refused.push(error.code));
        const { status, text } = await ask(port, row.request, row.raw);
        expect(status).toBe(row.code === undefined ? 200 : STATUS_BY_CODE[row.code]);
        expect(refused).toEqual(row.code === undefined ? [] : [row.code]);
        expect(events).toHaveLength(row.code === undefined ? 1 : 0);
        expect(text.toLowerCase()).toContain("cache-control: no-store");
        if (status === 405) expect(text).toContain("Allow: POST, GET");
        if (status === 413 || status === 408) expect(text).toContain("Connection: close");
        // The next request is accepted.
        if (row.before === undefined && row.code !== "ACCOUNT_NOT_ALLOWED") {
          expect(await send(port, eventRequest("factor.verified"))).toHaveProperty("status", 200);
        }
      },
    );

    it("rejections of one status with the same bytes, for every reason", async () => {
      const { port } = await receiver({
        allowedAccountSids: [`AC${"0".repeat(32)}`],
        logger: silent,
      });
      const kinds = new Map<number, Set<string>>();
      for (const { code, request, raw, options, before } of rows) {
        if (code === undefined || options !== undefined || before !== undefined) continue;
        const { status, text } = await ask(port, request, raw);
        const same = text.replace(/\r\nDate: .*/, "").replace(/\r\nKeep-Alive: .*/, "");
        const kind = kinds.get(status) ?? new Set();
        if (raw?.[0]?.toString().startsWith("HEAD") !== true) kinds.set(status, kind.add(same));
      }
      expect([...kinds.keys()].toSorted((a, b) => a - b)).toEqual([400, 403, 405, 413, 415]);
      for (const kind of kinds.values()) expect([...kind]).toHaveLength(1);
    });
  });

  describe("a handler", () => {
    it.each<[string, WebhookErrorCode, () => unknown]>([
      [
        "that throws",
        "HANDLER_FAILED",
        () => {
          throw new Error("no");
        },
      ],
      ["that rejects", "HANDLER_FAILED", () => Promise.reject(new Error("no"))],
      ["that hangs", "HANDLER_TIMEOUT", never],
    ])(
      "%s fails the request with %s, and the next delivery runs it again",
      async (_what, code, handler) => {
        const { port, push } = await receiver({ handlerTimeoutMs: 40, logger: silent });
        const failures: [string, string | undefined][] = [];
        push.onError((error, event) => void failures.push([error.code, event?.uuid]));
        push.on("challenge.approved", handler);
        const request = eventRequest("challenge.approved", { uuid: "again" });
        for (const status of [500, 500])
          expect(await send(port, request)).toHaveProperty("status", status);
        expect(failures).toEqual([
          [code, "again"],
          [code, "again"],
        ]);
        push.off("challenge.approved", handler);
        expect(await send(port, request)).toHaveProperty("status", 200);
      },
    );

    it("fails every concurrent copy of a request once", async () => {
      let received = 0;
      const count: Middleware = (_req, _res, next) => void (received++, next());
      const { port, push } = await receiver({ logger: silent }, count);
      let fail!: (error: Error) => void;
      const failure = new Promise((_resolve, reject) => (fail = reject));
      const handler = jest.fn(() => failure);
      push.on("challenge.approved", handler);
      const onError = jest.fn();
      push.onError(onError);
      const request = eventRequest("challenge.approved");
      const sent = Array.from({ length: 5 }, () => send(port, request));
      await until(() => received === 5);
      fail(new Error("no"));
      const responses = await Promise.all(sent);
      expect(responses.map(({ status }) => status)).toEqual([500, 500, 500, 500, 500]);
      expect(handler).toHaveBeenCalledTimes(1);
      expect(onError).toHaveBeenCalledTimes(1);
    });

    it("runs for each delivery with dedupe: false", async () => {
      const { port, events } = await receiver({ dedupe: false });
      const request = eventRequest("factor.created");
      for (let delivery = 0; delivery < 3; delivery++) await send(port, request);
      expect(events).toHaveLength(3);
    });

    it("runs once after the response with acknowledge: before", async () => {
      const { port, push, events } = await receiver({ acknowledge: "before", logger: silent });
      let release!: () => void;
      const gate = new Promise<void>((resolve) => (release = resolve));
      push.onAny(async () => {
        await gate;
        throw new Error("never reported");
      });
      const failed = new Promise((resolve) => push.onError((error) => resolve(error.code)));
      const request = eventRequest("challenge.approved");
      expect(await send(port, request)).toHaveProperty("status", 200);
      expect(await send(port, request)).toHaveProperty("status", 200);
      expect(events).toHaveLength(1);
      release();
      expect(await failed).toBe("HANDLER_FAILED");
    });
  });

  it("finishes running requests when it closes, handles others until then, then responds 503", async () => {
    const { port, push, events } = await receiver({ logger: silent });
    let release!: () => void;
    const entered = new Promise<void>((resolve) => {
      push.on("challenge.approved", () => {
        resolve();
        return new Promise<void>((done) => (release = done));
      });
    });
    const running = send(port, eventRequest("challenge.approved"));
    await entered;
    const closed = jest.fn();
    const closing = push.close().then(closed);
    expect(await send(port, eventRequest("challenge.denied"))).toHaveProperty("status", 200);
    expect(closed).not.toHaveBeenCalled();
    release();
    await closing;
    expect(await running).toHaveProperty("status", 200);
    expect(events).toHaveLength(2);
    const rejected = await ask(port, eventRequest("challenge.denied"), undefined);
    expect(rejected.status).toBe(503);
    expect(rejected.text).toContain("Retry-After: 5");
    await expect(push.close()).resolves.toBeUndefined();
  });

  it("does not wait for a connection that sent nothing, and tells clients to connect elsewhere", async () => {
    const { port, push } = await receiver({ logger: silent });
    const idle = connect(port, "127.0.0.1");
    await once(idle, "connect");
    closeServers();
    await push.close({ deadlineMs: 60_000 });
    idle.write(rawRequest(eventRequest("challenge.approved")));
    const [response] = (await once(idle, "data")) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 503 .*\r\nConnection: close\r\n/s);
  });

  it("forwards rejections and failures with forwardErrors", async () => {
    const { port, push } = await receiver({ forwardErrors: true, logger: silent });
    push.on("challenge.approved", () => Promise.reject(new Error("no")));
    const wrong = { ...eventRequest("factor.created"), body: "x=1" };
    expect(await send(port, wrong)).toHaveProperty("status", 403);
    const allow = await send(port, { ...wrong, method: "DELETE", body: undefined });
    expect(allow.status).toBe(405);
    expect(await send(port, eventRequest("challenge.approved"))).toHaveProperty("status", 500);
    expect(await send(port, eventRequest("challenge.denied"))).toHaveProperty("status", 200);
  });

  describe("accepts a body that was consumed before", () => {
    const formType = { contentType: "application/x-www-form-urlencoded" };
    it.each<[string, Middleware]>([
      ["by express.raw()", bodyParser.raw({ type: "*/*" })],
      ["by express.text()", bodyParser.text({ type: "*/*" })],
      ["by express.urlencoded()", bodyParser.urlencoded({ extended: false })],
      ["by express.urlencoded({ extended: true })", bodyParser.urlencoded({ extended: true })],
      ["by express.json(), which leaves it alone", bodyParser.json()],
      [
        "by a parser that keeps req.rawBody",
        bodyParser.json({ type: "*/*", strict: false, verify: keepRawBody }) as Middleware,
      ],
      ["slowly, without a response", (_req, _res, next) => void setImmediate(setImmediate, next)],
    ])("%s", async (_how, middleware) => {
      // A JSON parser rejects a form; this test ignores its error.
      const lenient: Middleware = (req, res, next) => middleware(req, res, () => next());
      const { port, events } = await receiver({ logger: silent }, lenient);
      const params = [
        ...eventPairs("challenge.approved"),
        ["tag", "b"],
        ["tag", "a"],
        ["empty", ""],
      ] as [string, string][];
      expect(await send(port, signedRequestOf(params, formType))).toHaveProperty("status", 200);
      expect(events).toMatchObject([{ type: "challenge.approved" }]);
    });
  });

  it("accepts a body of exactly limitBytes in any chunks, and rejects one byte more", async () => {
    const params = eventPairs("challenge.approved");
    const size = Buffer.byteLength(encodeForm(params));
    const padded = (bytes: number) =>
      signedRequestOf([...params, ["pad", "x".repeat(bytes - size - 5)]]);
    const { port } = await receiver({ limitBytes: 3_000, dedupe: false, logger: silent });
    const head = (request: TestRequest) =>
      `${rawRequest({ ...request, body: undefined }).trimEnd()}\r\ntransfer-encoding: chunked\r\n\r\n`;
    for (const [bytes, status] of [
      [3_000, 200],
      [3_001, 413],
    ] as const) {
      const request = padded(bytes);
      expect(Buffer.byteLength(request.body ?? "")).toBe(bytes);
      expect(await send(port, request)).toHaveProperty("status", status);
      expect(await sendRaw(port, [head(request), ...chunked(request.body ?? "")])).toHaveProperty(
        "status",
        status,
      );
    }
  });

  it("stores nothing of a request whose client disconnects before its end", async () => {
    const { port, push, events } = await receiver({ logger: silent });
    const gone = new Promise((resolve) => push.onRejected((error) => resolve(error.code)));
    const request = eventRequest("factor.created");
    const half = rawRequest(request).slice(0, -20);
    await sendRaw(port, [half], { giveUpMs: 30 });
    expect(await gone).toBe("BODY_MALFORMED");
    expect(events).toEqual([]);
    expect(await send(port, request)).toHaveProperty("status", 200);
  });

  it("closes the connection of a rejected slow upload", async () => {
    const { port } = await receiver({ bodyTimeoutMs: 50, logger: silent });
    const head = rawRequest({ ...eventRequest("factor.created"), body: undefined }).replace(
      /x-service-signature.*\r\n/,
      "",
    );
    const raw = [`${head.trimEnd()}\r\ncontent-length: 50\r\n\r\n`, "half"];
    const { status, gaveUp } = await sendRaw(port, raw, { untilClosed: true });
    expect([status, gaveUp]).toEqual([403, false]);
  });
});

describe("on one server", () => {
  const receiver = (options: Partial<PushWebhooksOptions> = {}) =>
    startReceiver(SERVERS[0]![1], options, []);

  it("runs once for 1,000 concurrent copies of a request, and all get 200", async () => {
    const { port, events, push } = await receiver();
    push.onAny(() => new Promise((resolve) => setImmediate(resolve)));
    const request = eventRequest("challenge.approved");
    const responses = await Promise.all(Array.from({ length: 1000 }, () => send(port, request)));
    await Promise.all(responses.map((response) => response.text()));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(events).toHaveLength(1);
  }, 30_000);

  it("uses a dedupe store of the app", async () => {
    const dedupe = createMemoryDedupe();
    const [one, two] = [await receiver({ dedupe }), await receiver({ dedupe })];
    const request = eventRequest("factor.created");
    for (const { port } of [one, two])
      expect(await send(port, request)).toHaveProperty("status", 200);
    expect([one.events.length, two.events.length]).toEqual([1, 0]);
  });

  it("rejects pending and new waits in the turn in which it closes", async () => {
    const { push } = await receiver();
    const wait = { challengeSid: CHALLENGE_SID, entityIdentity: "ada" };
    const pending = push.waitForChallenge(wait);
    const closing = push.close();
    await expect(pending).rejects.toMatchObject({ code: "CLOSING", status: 503 });
    await expect(push.waitForChallenge(wait)).rejects.toHaveProperty("code", "CLOSING");
    await closing;
  });

  it("waits for handlers that run after the response when it closes", async () => {
    const { port, push } = await receiver({ acknowledge: "before" });
    let finish!: () => void;
    push.onAny(() => new Promise<void>((resolve) => (finish = resolve)));
    await send(port, eventRequest("factor.created"));
    let isClosed = false;
    const closing = push.close().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    finish();
    await closing;
  });

  it("resolves a wait for a challenge, before and after its event", async () => {
    const { port, push } = await receiver();
    const wait = {
      challengeSid: "YCb0977f3f759c742acc1f94257f7974b0",
      entityIdentity: "user-7f3a-22",
    };
    const early = push.waitForChallenge({ ...wait, timeoutMs: 5_000 });
    await send(port, eventRequest("challenge.denied"));
    await send(port, eventRequest("challenge.approved"));
    const late = push.waitForChallenge(wait);
    expect([(await early).type, (await late).type]).toEqual([
      "challenge.denied",
      "challenge.denied",
    ]);
  });

  it("handles a request whose client does not wait for the response", async () => {
    const { port, push } = await receiver();
    const leaving = new AbortController();
    const handled = new Promise((resolve) => {
      push.onAny(async ({ type }) => {
        leaving.abort();
        await expect(sent).rejects.toThrow();
        resolve(type);
      });
    });
    const sent = send(port, eventRequest("factor.created"), leaving.signal);
    sent.catch(() => {});
    expect(await handled).toBe("factor.created");
  });

  it("passes every signed Unicode text to the handlers unchanged", async () => {
    const { port, events } = await receiver();
    const text = fc.string({ unit: "binary", maxLength: 20 });
    const required = eventPairs("factor.created");
    // Undeclared names are accepted where they cannot be the rest of another value.
    const name = text.map((rest) => `n${rest}`);
    const extra = fc.array(fc.tuple(name, text), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(extra, fc.boolean(), async (pairs, plus) => {
        // Not an arbitrary: it would repeat one, and the second request would be a duplicate.
        const uuid = crypto.randomUUID();
        const params = [...required, ...pairs].map(
          ([key, value]) => [key, key === "uuid" ? uuid : value] as [string, string],
        );
        const request = signedRequestOf(params);
        const body = plus ? new URLSearchParams(params).toString() : request.body;
        expect(await send(port, { ...request, body })).toHaveProperty("status", 200);
        expect(events.at(-1)?.params).toEqual(params);
      }),
      { numRuns: 60 },
    );
  });
});

async function startReceiver(
  listenerOf: ListenerOf,
  options: Partial<PushWebhooksOptions>,
  before: Middleware[],
) {
  const push = pushWebhooks({
    authToken: AUTH_TOKEN,
    publicUrl: PUBLIC_URL,
    methods: ["POST", "GET"],
    ...options,
  });
  const events: (PushEvent | UnknownPushEvent)[] = [];
  push.onAny((event) => void events.push(event));
  const port = await startServer(listenerOf(push, ...before));
  return { push, port, events };
}

/** Sends a request as raw bytes and reads the response as raw text. */
function ask(
  port: number,
  request: TestRequest | undefined,
  raw: (string | Buffer)[] | undefined,
): Promise<RawResponse> {
  return sendRaw(port, raw ?? [rawRequest(request as TestRequest)]);
}

function chunked(body: string): string[] {
  const chunks = body.match(/[^]{1,97}/g) ?? [];
  return [...chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`), "0\r\n\r\n"];
}

function consume(req: IncomingMessage, _res: unknown, next: () => void): void {
  req.resume().once("end", next);
}

function keepRawBody(req: unknown, _res: unknown, bytes: Buffer): void {
  (req as { rawBody?: Buffer }).rawBody = bytes;
}
