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
import { STATUS_BY_CODE } from "../lib/errors";
import calls from "./fixtures/webhook-calls.json";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  callParams,
  CHALLENGE_SID,
  encodeForm,
  eventCall,
  PUBLIC_URL,
  signedCall,
  type TestCall,
} from "./support/calls";
import {
  closeServers,
  PATH,
  rawCall,
  send,
  sendRaw,
  SERVERS,
  startServer,
  stopServers,
} from "./support/servers";
import type { ListenerOf, Middleware, RawAnswer } from "./support/servers";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const never = () => new Promise<never>(() => {});

afterEach(stopServers);

describe.each(SERVERS)("on %s", (_server, listenerOf) => {
  async function receiver(options: Partial<PushWebhooksOptions> = {}, ...before: Middleware[]) {
    return startReceiver(listenerOf, options, before);
  }

  it.each(calls.calls.map((call) => [call.id, call] as const))("takes %s", async (_id, call) => {
    const { authToken, publicUrl } = {
      authToken: calls.about.token,
      publicUrl: calls.about.configuredUrl,
    };
    const { port, events } = await receiver({ authToken, publicUrl });
    const { pathname, search } = new URL(call.url);
    const path = pathname + search;
    const headers = call.headers as Record<string, string>;
    const answer = await send(port, {
      method: call.method,
      path,
      headers,
      body: call.body ?? undefined,
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("");
    expect(events).toMatchObject([
      { type: call.type, version: call.version, uuid: call.params.uuid },
    ]);
  });

  describe("answers", () => {
    const good = eventCall("challenge.approved");
    const header = "x-service-signature";
    const signature = good.headers[header] ?? "";

    interface Row {
      what: string;
      code?: WebhookErrorCode;
      call?: TestCall;
      raw?: (string | Buffer)[];
      options?: Partial<PushWebhooksOptions>;
      before?: Middleware[];
    }
    const withHeaders = (headers: Record<string, string | undefined>): TestCall => ({
      ...good,
      headers: Object.fromEntries(
        Object.entries({ ...good.headers, ...headers }).filter(
          (pair): pair is [string, string] => pair[1] !== undefined,
        ),
      ),
    });
    const withBody = (body: string): TestCall => ({ ...good, body });
    const withoutBody = { ...good, body: undefined };
    const head = rawCall(withoutBody).replace("\r\n\r\n", "\r\n");

    const rows: Row[] = [
      { what: "a good call", call: good },
      { what: "a good call of v1", call: eventCall("factor.created", {}, { version: "v1" }) },
      { what: "a good GET call", call: eventCall("factor.deleted", {}, { method: "GET" }) },
      { what: "an unknown type", call: signedCall(callParams("factor.suspended")) },
      {
        what: "extra parameters",
        call: signedCall([...callParams("factor.created"), ["tag", "b"], ["tag", "a"]]),
      },
      {
        what: "the header in another case",
        raw: [rawCall(good).replace(header, "X-SERVICE-SIGNATURE")],
      },
      {
        what: "white space around the signature",
        raw: [rawCall(good).replace(signature, ` ${signature} `)],
      },
      { what: "an older token", call: good, options: { authToken: ["next", AUTH_TOKEN] } },
      { what: "an allowed account", call: good, options: { allowedAccountSids: [ACCOUNT_SID] } },
      {
        what: "a body in many chunks",
        raw: [`${head}transfer-encoding: chunked\r\n\r\n`, ...chunked(good.body ?? "")],
      },

      {
        what: "no signature",
        code: "SIGNATURE_MISSING",
        call: withHeaders({ [header]: undefined }),
      },
      {
        what: "an empty signature",
        code: "SIGNATURE_MISSING",
        call: withHeaders({ [header]: "" }),
      },
      {
        what: "a short signature",
        code: "SIGNATURE_MALFORMED",
        call: withHeaders({ [header]: signature.slice(1) }),
      },
      {
        what: "two signatures",
        code: "SIGNATURE_MALFORMED",
        raw: [rawCall(good, [`${header}: ${signature}`])],
      },
      {
        what: "another signature",
        code: "SIGNATURE_MISMATCH",
        call: withHeaders({ [header]: "spltyRVLIB+qQr/llzKRKlLsVRc=" }),
      },
      { what: "a body with more", code: "SIGNATURE_MISMATCH", call: withBody(`${good.body}&x=1`) },
      { what: "no body", code: "SIGNATURE_MISMATCH", call: withBody("") },
      {
        what: "a signature over the URL alone",
        code: "SIGNATURE_MISMATCH",
        call: { ...signedCall([]), body: good.body },
      },
      {
        what: "a body before which stands a BOM",
        code: "SIGNATURE_MISMATCH",
        call: withBody(`\ufeff${good.body}`),
      },
      {
        what: "JSON under the form's type",
        code: "SIGNATURE_MISMATCH",
        call: withBody('{"type":"challenge.approved"}'),
      },
      {
        what: "a GET with a body",
        code: "SIGNATURE_MISMATCH",
        raw: [rawCall({ ...eventCall("factor.deleted", {}, { method: "GET" }), body: "x=1" })],
      },
      {
        what: "another account",
        code: "ACCOUNT_NOT_ALLOWED",
        call: good,
        options: { allowedAccountSids: [`AC${"0".repeat(32)}`] },
      },

      {
        what: "a missing parameter",
        code: "PAYLOAD_INVALID",
        call: eventCall("factor.created", { uuid: undefined }),
      },
      {
        what: "a malformed parameter",
        code: "PAYLOAD_INVALID",
        call: eventCall("factor.created", { factor_sid: "YF1" }),
      },
      {
        what: "a repeated parameter",
        code: "PAYLOAD_INVALID",
        call: signedCall([...callParams("challenge.denied"), ["type", "challenge.approved"]]),
      },
      { what: "a signed call without a body", code: "PAYLOAD_INVALID", call: signedCall([]) },
      { what: "broken percent-encoding", code: "BODY_MALFORMED", call: withBody("a=%zz") },
      { what: "encoded bytes that are no UTF-8", code: "BODY_MALFORMED", call: withBody("a=%FF") },
      {
        what: "raw bytes that are no UTF-8",
        code: "BODY_MALFORMED",
        raw: [`${head}content-length: 3\r\n\r\n`, Buffer.from([0x61, 0x3d, 0xff])],
      },
      {
        what: "broken percent-encoding in a GET",
        code: "BODY_MALFORMED",
        raw: [
          rawCall({ ...eventCall("factor.created", {}, { method: "GET" }), path: `${PATH}?a=%zz` }),
        ],
      },

      ...["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"].map((method): Row => ({
        what: method,
        code: "METHOD_NOT_ALLOWED",
        raw: [rawCall({ ...good, method })],
      })),
      {
        what: "a method to override the method",
        call: withHeaders({ "x-http-method-override": "DELETE" }),
      },
      {
        what: "TRACE",
        code: "METHOD_NOT_ALLOWED",
        raw: [rawCall({ ...withoutBody, method: "TRACE" })],
      },

      ...[
        "application/json",
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded; charset=utf-16",
      ].map((type): Row => ({
        what: type,
        code: "CONTENT_TYPE_UNSUPPORTED",
        call: withHeaders({ "content-type": type }),
      })),
      {
        what: "no content type",
        code: "CONTENT_TYPE_UNSUPPORTED",
        raw: [rawCall(withHeaders({ "content-type": undefined }))],
      },
      {
        what: "two content types",
        code: "CONTENT_TYPE_UNSUPPORTED",
        raw: [rawCall(good, ["content-type: application/json"])],
      },
      ...["gzip", "br", "deflate", "zstd", "gzip, gzip"].map((encoding): Row => ({
        what: encoding,
        code: "CONTENT_TYPE_UNSUPPORTED",
        call: withHeaders({ "content-encoding": encoding }),
      })),

      {
        what: "a body over the limit",
        code: "BODY_TOO_LARGE",
        call: withBody(`x=${"y".repeat(65_535)}`),
      },
      { what: "1001 parameters", code: "BODY_TOO_LARGE", call: withBody("a=1&".repeat(1001)) },
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
        what: "a body that was read",
        code: "BODY_CONSUMED",
        call: withHeaders({ "content-type": "application/x-www-form-urlencoded" }),
        before: [consume],
      },
      {
        what: "a body that was nested",
        code: "BODY_CONSUMED",
        call: signedCall([...callParams("factor.created"), ["a[b]", "1"]], {
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
        const { status, text } = await ask(port, row.call, row.raw);
        expect(status).toBe(row.code === undefined ? 200 : STATUS_BY_CODE[row.code]);
        expect(refused).toEqual(row.code === undefined ? [] : [row.code]);
        expect(events).toHaveLength(row.code === undefined ? 1 : 0);
        expect(text.toLowerCase()).toContain("cache-control: no-store");
        if (status === 405) expect(text).toContain("Allow: POST, GET");
        if (status === 413 || status === 408) expect(text).toContain("Connection: close");
        // The next call is not harmed.
        if (row.before === undefined && row.code !== "ACCOUNT_NOT_ALLOWED") {
          expect(await send(port, eventCall("factor.verified"))).toHaveProperty("status", 200);
        }
      },
    );

    it("refusals of one kind with the same bytes, whatever their reason", async () => {
      const { port } = await receiver({
        allowedAccountSids: [`AC${"0".repeat(32)}`],
        logger: silent,
      });
      const kinds = new Map<number, Set<string>>();
      for (const { code, call, raw, options, before } of rows) {
        if (code === undefined || options !== undefined || before !== undefined) continue;
        const { status, text } = await ask(port, call, raw);
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
      "%s fails the call with %s, and the next delivery runs it again",
      async (_what, code, handler) => {
        const { port, push } = await receiver({ handlerTimeoutMs: 40, logger: silent });
        const failures: [string, string | undefined][] = [];
        push.onError((error, event) => void failures.push([error.code, event?.uuid]));
        push.on("challenge.approved", handler);
        const call = eventCall("challenge.approved", { uuid: "again" });
        for (const status of [500, 500])
          expect(await send(port, call)).toHaveProperty("status", status);
        expect(failures).toEqual([
          [code, "again"],
          [code, "again"],
        ]);
        push.off("challenge.approved", handler);
        expect(await send(port, call)).toHaveProperty("status", 200);
      },
    );

    it("is run once for 1,000 concurrent copies of a call, and all are answered 200", async () => {
      const { port, events, push } = await receiver();
      push.onAny(() => new Promise((resolve) => setTimeout(resolve, 50)));
      const call = eventCall("challenge.approved");
      const answers = await Promise.all(Array.from({ length: 1000 }, () => send(port, call)));
      await Promise.all(answers.map((answer) => answer.text()));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(events).toHaveLength(1);
    }, 30_000);

    it("fails every concurrent copy of a call, once", async () => {
      const { port, push } = await receiver({ logger: silent });
      const handler = jest.fn(async () => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        throw new Error("no");
      });
      push.on("challenge.approved", handler);
      const onError = jest.fn();
      push.onError(onError);
      const call = eventCall("challenge.approved");
      const answers = await Promise.all(Array.from({ length: 5 }, () => send(port, call)));
      expect(answers.map(({ status }) => status)).toEqual([500, 500, 500, 500, 500]);
      expect(handler).toHaveBeenCalledTimes(1);
      expect(onError).toHaveBeenCalledTimes(1);
    });

    it("runs for each delivery with dedupe: false", async () => {
      const { port, events } = await receiver({ dedupe: false });
      const call = eventCall("factor.created");
      for (let delivery = 0; delivery < 3; delivery++) await send(port, call);
      expect(events).toHaveLength(3);
    });

    it("runs after the answer with acknowledge: before, and once", async () => {
      const { port, push, events } = await receiver({ acknowledge: "before", logger: silent });
      let release!: () => void;
      const gate = new Promise<void>((resolve) => (release = resolve));
      push.onAny(async () => {
        await gate;
        throw new Error("nobody hears");
      });
      const failed = new Promise((resolve) => push.onError((error) => resolve(error.code)));
      const call = eventCall("challenge.approved");
      expect(await send(port, call)).toHaveProperty("status", 200);
      expect(await send(port, call)).toHaveProperty("status", 200);
      expect(events).toHaveLength(1);
      release();
      expect(await failed).toBe("HANDLER_FAILED");
    });
  });

  it("shares a store of the user's", async () => {
    const dedupe = createMemoryDedupe();
    const [one, two] = [await receiver({ dedupe }), await receiver({ dedupe })];
    const call = eventCall("factor.created");
    for (const { port } of [one, two]) expect(await send(port, call)).toHaveProperty("status", 200);
    expect([one.events.length, two.events.length]).toEqual([1, 0]);
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
    const running = send(port, eventCall("challenge.approved"));
    await entered;
    const closed = jest.fn();
    const closing = push.close().then(closed);
    expect(await send(port, eventCall("challenge.denied"))).toHaveProperty("status", 200);
    expect(closed).not.toHaveBeenCalled();
    release();
    await closing;
    expect(await running).toHaveProperty("status", 200);
    expect(events).toHaveLength(2);
    const rejected = await ask(port, eventCall("challenge.denied"), undefined);
    expect(rejected.status).toBe(503);
    expect(rejected.text).toContain("Retry-After: 5");
    await expect(push.close()).resolves.toBeUndefined();
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

  it("handles a request that an open connection completes after server.close() and push.close()", async () => {
    const { port, push, events } = await receiver();
    await send(port, eventCall("factor.created"));
    const raw = rawCall(eventCall("challenge.approved"));
    const socket = connect(port, "127.0.0.1");
    // The request line alone: the receiver has not seen this request.
    socket.write(raw.slice(0, 20));
    await new Promise((resolve) => setTimeout(resolve, 50));
    closeServers();
    const closed = jest.fn();
    const closing = push.close({ deadlineMs: 5_000 }).then(closed);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(closed).not.toHaveBeenCalled();
    socket.write(raw.slice(20));
    const [response] = (await once(socket, "data")) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s);
    await closing;
    expect(events.map(({ type }) => type)).toEqual(["factor.created", "challenge.approved"]);
  });

  it("waits for what runs after the answer, too, when it closes", async () => {
    const { port, push } = await receiver({ acknowledge: "before" });
    let done = false;
    push.onAny(async () => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      done = true;
    });
    await send(port, eventCall("factor.created"));
    await push.close();
    expect(done).toBe(true);
  });

  it("resolves a wait for a challenge, before and after its event", async () => {
    const { port, push } = await receiver();
    const wait = {
      challengeSid: "YCb0977f3f759c742acc1f94257f7974b0",
      entityIdentity: "user-7f3a-22",
    };
    const early = push.waitForChallenge({ ...wait, timeoutMs: 5_000 });
    await send(port, eventCall("challenge.denied"));
    await send(port, eventCall("challenge.approved"));
    const late = push.waitForChallenge(wait);
    expect([(await early).type, (await late).type]).toEqual([
      "challenge.denied",
      "challenge.denied",
    ]);
  });

  it("hands refusals and failures on with forwardErrors", async () => {
    const { port, push } = await receiver({ forwardErrors: true, logger: silent });
    push.on("challenge.approved", () => Promise.reject(new Error("no")));
    const wrong = { ...eventCall("factor.created"), body: "x=1" };
    expect(await send(port, wrong)).toHaveProperty("status", 403);
    const allow = await send(port, { ...wrong, method: "DELETE", body: undefined });
    expect(allow.status).toBe(405);
    expect(await send(port, eventCall("challenge.approved"))).toHaveProperty("status", 500);
    expect(await send(port, eventCall("challenge.denied"))).toHaveProperty("status", 200);
  });

  describe("takes a body that was read before", () => {
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
      ["slowly, by nobody", (_req, _res, next) => void setTimeout(next, 20)],
    ])("%s", async (_how, middleware) => {
      // What a JSON parser makes of a form is an error, which is not this test's.
      const lenient: Middleware = (req, res, next) => middleware(req, res, () => next());
      const { port, events } = await receiver({ logger: silent }, lenient);
      const params = [
        ...callParams("challenge.approved"),
        ["tag", "b"],
        ["tag", "a"],
        ["empty", ""],
      ] as [string, string][];
      expect(await send(port, signedCall(params, formType))).toHaveProperty("status", 200);
      expect(events).toMatchObject([{ type: "challenge.approved" }]);
    });
  });

  it("takes a body of exactly limitBytes, in any chunks, and not one more byte", async () => {
    const params = callParams("challenge.approved");
    const size = Buffer.byteLength(encodeForm(params));
    const padded = (bytes: number) =>
      signedCall([...params, ["pad", "x".repeat(bytes - size - 5)]]);
    const { port } = await receiver({ limitBytes: 3_000, dedupe: false, logger: silent });
    const head = (call: TestCall) =>
      `${rawCall({ ...call, body: undefined }).trimEnd()}\r\ntransfer-encoding: chunked\r\n\r\n`;
    for (const [bytes, status] of [
      [3_000, 200],
      [3_001, 413],
    ] as const) {
      const call = padded(bytes);
      expect(Buffer.byteLength(call.body ?? "")).toBe(bytes);
      expect(await send(port, call)).toHaveProperty("status", status);
      expect(await sendRaw(port, [head(call), ...chunked(call.body ?? "")])).toHaveProperty(
        "status",
        status,
      );
    }
  });

  it("stores nothing of a call whose sender goes away half-way", async () => {
    const { port, push, events } = await receiver({ logger: silent });
    const gone = new Promise((resolve) => push.onRejected((error) => resolve(error.code)));
    const call = eventCall("factor.created");
    const half = rawCall(call).slice(0, -20);
    await sendRaw(port, [half], { giveUpMs: 30 });
    expect(await gone).toBe("BODY_MALFORMED");
    expect(events).toEqual([]);
    expect(await send(port, call)).toHaveProperty("status", 200);
  });

  it("handles a call whose sender does not wait for the answer", async () => {
    const { port, push } = await receiver();
    const handled = new Promise((resolve) => {
      push.onAny(async ({ type }) => {
        await new Promise((done) => setTimeout(done, 60));
        resolve(type);
      });
    });
    const aborted = send(port, eventCall("factor.created"), AbortSignal.timeout(20));
    await expect(aborted).rejects.toThrow();
    expect(await handled).toBe("factor.created");
  });

  it("cuts off a refused upload that trickles on", async () => {
    const { port } = await receiver({ bodyTimeoutMs: 50, logger: silent });
    const head = rawCall({ ...eventCall("factor.created"), body: undefined }).replace(
      /x-service-signature.*\r\n/,
      "",
    );
    const raw = [`${head.trimEnd()}\r\ncontent-length: 50\r\n\r\n`, "half"];
    const { status, gaveUp } = await sendRaw(port, raw, { untilClosed: true });
    expect([status, gaveUp]).toEqual([403, false]);
  });

  it("gives every Unicode text that was signed and sent to the handlers unchanged", async () => {
    const { port, events } = await receiver();
    const text = fc.string({ unit: "binary", maxLength: 20 });
    const required = callParams("factor.created");
    const known = new Set(callParams("challenge.approved").map(([name]) => name));
    // The names that PAYLOAD_AMBIGUOUS rejects unless extraParameters lists them.
    const isAmbiguous = (name: string) =>
      (name > "entity_identity" && name < "factor_friendly_name") || /^u{1,2}i?$/.test(name);
    const extra = fc.array(
      fc.tuple(
        text.filter((name) => !known.has(name) && !isAmbiguous(name)),
        text,
      ),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(extra, fc.boolean(), async (pairs, plus) => {
        // Not an arbitrary: it would repeat one, and the second request would be a duplicate.
        const uuid = crypto.randomUUID();
        const params = [...required, ...pairs].map(
          ([name, value]) => [name, name === "uuid" ? uuid : value] as [string, string],
        );
        const call = signedCall(params);
        const body = plus ? new URLSearchParams(params).toString() : call.body;
        expect(await send(port, { ...call, body })).toHaveProperty("status", 200);
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
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, ...options });
  const events: (PushEvent | UnknownPushEvent)[] = [];
  push.onAny((event) => void events.push(event));
  const port = await startServer(listenerOf(push, ...before));
  return { push, port, events };
}

/** Sends a call as raw bytes and reads the answer as raw text. */
function ask(
  port: number,
  call: TestCall | undefined,
  raw: (string | Buffer)[] | undefined,
): Promise<RawAnswer> {
  return sendRaw(port, raw ?? [rawCall(call as TestCall)]);
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
