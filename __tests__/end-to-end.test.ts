import { once } from "node:events";
import { connect } from "node:net";
import bodyParser from "body-parser";
import type { PushWebhooksOptions, WebhookErrorCode } from "express-push-verification";
import { eventPairs, eventRequest, signedRequestOf } from "./support/webhook-requests";
import {
  closeServers,
  rawRequest,
  send,
  sendRaw,
  SERVERS,
  startServer,
  stopServers,
} from "./support/servers";
import type { ListenerOf, Middleware } from "./support/servers";
import { createReceiver } from "./support/receivers";

const never = () => new Promise<never>(() => {});

afterEach(stopServers);

describe.each(SERVERS)("on %s", (_server, listenerOf) => {
  async function receiver(options: Partial<PushWebhooksOptions> = {}, ...before: Middleware[]) {
    return startReceiver(listenerOf, options, before);
  }

  describe("a handler", () => {
    it.each<[string, WebhookErrorCode, () => unknown]>([
      ["that fails", "HANDLER_FAILED", () => Promise.reject(new Error("no"))],
      ["that hangs", "HANDLER_TIMEOUT", never],
    ])(
      "%s fails the request with %s, and the next delivery runs it again",
      async (_what, code, handler) => {
        const { port, push } = await receiver({ handlerTimeoutMs: 40 });
        const failures: [string, string | undefined][] = [];
        push.onError((error, event) => void failures.push([error.code, event?.uuid]));
        push.on("challenge.approved", handler);
        const request = eventRequest("challenge.approved", { uuid: "again" });
        for (const status of [500, 500])
          expect(await send(port, request)).toHaveProperty("status", status);
        expect(failures).toEqual(Array(2).fill([code, "again"]));
        push.off("challenge.approved", handler);
        expect(await send(port, request)).toHaveProperty("status", 200);
      },
    );

    it("runs once after the response with acknowledge: before, and close() waits for it", async () => {
      const { port, push, events } = await receiver({ acknowledge: "before" });
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
      const closed = jest.fn();
      const closing = push.close().then(closed);
      await new Promise((resolve) => setImmediate(resolve));
      expect(closed).not.toHaveBeenCalled();
      release();
      expect(await failed).toBe("HANDLER_FAILED");
      await closing;
    });
  });

  it("finishes running requests when it closes, handles others until then, then responds 503", async () => {
    const { port, push, events } = await receiver({});
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
    const rejected = await sendRaw(port, [rawRequest(eventRequest("challenge.denied"))]);
    expect(rejected.status).toBe(503);
    expect(rejected.text).toContain("Retry-After: 5");
    await expect(push.close()).resolves.toBeUndefined();
  });

  it("does not wait for a connection that sent nothing, and tells clients to connect elsewhere", async () => {
    const { port, push } = await receiver({});
    const idle = connect(port, "127.0.0.1");
    await once(idle, "connect");
    closeServers();
    await push.close({ deadlineMs: 60_000 });
    idle.write(rawRequest(eventRequest("challenge.approved")));
    const [response] = (await once(idle, "data")) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 503 .*\r\nConnection: close\r\n/s);
  });

  it("forwards rejections and failures with forwardErrors", async () => {
    const { port, push } = await receiver({ forwardErrors: true });
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
      const { port, events } = await receiver({}, lenient);
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
});

describe("on one server", () => {
  const receiver = (options: Partial<PushWebhooksOptions> = {}) =>
    startReceiver(SERVERS[0]![1], options, []);

  it("runs once for 200 concurrent copies of a request, and all get 200", async () => {
    const { port, events, push } = await receiver();
    push.onAny(() => new Promise((resolve) => setImmediate(resolve)));
    const request = eventRequest("challenge.approved");
    const responses = await Promise.all(Array.from({ length: 200 }, () => send(port, request)));
    await Promise.all(responses.map((response) => response.text()));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(events).toHaveLength(1);
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
});

async function startReceiver(
  listenerOf: ListenerOf,
  options: Partial<PushWebhooksOptions>,
  before: Middleware[],
) {
  const { push, events } = createReceiver(options);
  return { push, port: await startServer(listenerOf(push, ...before)), events };
}

function keepRawBody(req: unknown, _res: unknown, bytes: Buffer): void {
  (req as { rawBody?: Buffer }).rawBody = bytes;
}
