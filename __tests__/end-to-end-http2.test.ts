/** Receivers on HTTP/2 servers, over real sockets: several requests, streams and sessions. */
import { request as requestByHttps } from "node:https";
import { constants } from "node:http2";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL, type TestRequest } from "./support/webhook-requests";
import {
  HTTP2_SERVERS,
  sendStream,
  startHttp2Server,
  stopHttp2Servers,
} from "./support/http2-servers";

afterEach(stopHttp2Servers);

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const good = () => eventRequest("challenge.approved");
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const unsigned: TestRequest = {
  ...good(),
  headers: { "content-type": "application/x-www-urlencoded" },
};

/** A receiver on a bare HTTP/2 server; with `forwardErrors`, a middleware after it responds. */
async function receiver(options: Partial<PushWebhooksOptions> = {}, respondAfterMs = 0) {
  const push = pushWebhooks({
    authToken: AUTH_TOKEN,
    publicUrl: PUBLIC_URL,
    methods: ["POST", "GET"],
    logger: silent,
    ...options,
  });
  const events: object[] = [];
  const failures: string[] = [];
  const rejected: string[] = [];
  push.onAny((event) => void events.push(event));
  push.onError((error) => void failures.push(error.code));
  push.onRejected((error) => void rejected.push(error.code));
  const server = await startHttp2Server((req, res) => {
    const next = (error: unknown) => {
      setTimeout(() => {
        res.writeHead((error as { status: number }).status);
        res.end("forwarded");
      }, respondAfterMs).unref();
    };
    void push(req, res, options.forwardErrors === true ? next : undefined);
  });
  return { push, events, failures, rejected, server, session: server.openSession() };
}

describe("a receiver over HTTP/2", () => {
  it("passes the sent parameters to the handlers unchanged", async () => {
    const { session, events } = await receiver();
    const request = eventRequest("challenge.approved", { entity_identity: "Zoë 😀 a+b" });
    expect(await sendStream(session, request)).toMatchObject({ status: 200, text: "" });
    expect(events).toMatchObject([{ entity_identity: "Zoë 😀 a+b" }]);
  });

  it("handles concurrent copies on one session once", async () => {
    const { session, events, push } = await receiver();
    push.onAny(() => wait(20));
    const request = good();
    const responses = await Promise.all(
      Array.from({ length: 90 }, () => sendStream(session, request)),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(events).toHaveLength(1);
  });

  it("responds to a good request beside 90 endless bodies, and closes their streams", async () => {
    const { session, server, events } = await receiver();
    const chunk = Buffer.alloc(16_384, "y");
    let writtenBytes = 0;
    const responses = Array.from({ length: 90 }, (_, index) =>
      sendStream(session, index % 2 === 0 ? good() : unsigned, {
        giveUpMs: 8_000,
        untilClosed: true,
        write(stream) {
          const write = () => {
            if (stream.destroyed || stream.closed) return;
            writtenBytes += chunk.length;
            stream.write(chunk, write);
          };
          write();
        },
      }),
    );
    expect(await sendStream(session, good())).toMatchObject({ status: 200 });
    const statuses = (await Promise.all(responses)).map(({ status, gaveUp }) => [status, gaveUp]);
    expect(statuses).toEqual(statuses.map((_, index) => [index % 2 === 0 ? 413 : 403, false]));
    // 256 KiB are discarded, and flow control allows 64 KiB more.
    expect(writtenBytes / responses.length).toBeLessThan(8 * 65_536);
    await wait(20);
    expect([server.countStreams(), events.length]).toEqual([0, 1]);
  }, 20_000);

  it("accepts requests after sessions that ended in the middle of a body, and while a handler ran", async () => {
    const { server, events, rejected, failures, push } = await receiver({ dedupe: false });
    const half = server.openSession();
    void sendStream(half, good(), { write: (stream) => void stream.write("uuid=") });
    await wait(30);
    half.destroy();
    const running = new Promise<void>((resolve) => {
      push.onAny(async () => {
        resolve();
        await wait(50);
      });
    });
    const gone = server.openSession();
    void sendStream(gone, good());
    await running;
    gone.destroy();
    await wait(80);
    expect([rejected, failures, events.length]).toEqual([["BODY_MALFORMED"], [], 1]);
    expect(await sendStream(server.openSession(), good())).toHaveProperty("status", 200);
    expect(server.countStreams()).toBe(0);
  });

  it("accepts requests after 200 streams were reset at once", async () => {
    const { server, session, failures } = await receiver();
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: 20 }, () =>
          sendStream(session, good(), {
            write: (stream) => {
              stream.write("uuid=");
              setImmediate(() => stream.close(constants.NGHTTP2_CANCEL));
            },
          }),
        ),
      );
    }
    expect(await sendStream(server.openSession(), good())).toHaveProperty("status", 200);
    expect(failures).toEqual([]);
  });

  it.each([
    ["an unread body", unsigned],
    ["a body over the limit", good()],
  ])(
    "with forwardErrors, closes the stream of %s after the app has responded",
    async (_what, request) => {
      const { session, server } = await receiver({ forwardErrors: true, limitBytes: 100 }, 40);
      const write = (stream: { write(text: string): unknown }) =>
        void stream.write("y".repeat(200));
      const response = await sendStream(session, request, { write, untilClosed: true });
      expect(response).toMatchObject({ text: "forwarded", rstCode: 0, gaveUp: false });
      expect([403, 413]).toContain(response.status);
      expect(server.countStreams()).toBe(0);
    },
  );

  it("with forwardErrors, closes the stream in time if the app does not respond", async () => {
    const options = { forwardErrors: true, bodyTimeoutMs: 40 };
    const { session } = await receiver(options, 5_000);
    const response = await sendStream(session, unsigned, { write: () => {}, untilClosed: true });
    expect(response).toMatchObject({ status: 0, gaveUp: false });
  });

  it("rejects and closes later requests when it was closed, on the same session", async () => {
    const { session, push, server } = await receiver();
    await push.close();
    for (const write of [undefined, () => {}]) {
      const response = await sendStream(session, good(), { write, untilClosed: true });
      expect(response).toMatchObject({ status: 503, rstCode: 0, gaveUp: false });
      expect(response.headers).toHaveProperty("retry-after", "5");
    }
    expect(server.countStreams()).toBe(0);
  });

  it("explains a URL by the :authority of the request", async () => {
    const { session, push } = await receiver({ publicUrl: "https://hooks.example.test/other" });
    const explained = new Promise<string>((resolve) => {
      push.onRejected((error) => resolve(JSON.stringify(error.explain())));
    });
    const request = eventRequest(
      "challenge.approved",
      {},
      { publicUrl: "https://front.example.test/push" },
    );
    await sendStream(session, request, { extraHeaders: { ":authority": "front.example.test" } });
    expect(await explained).toContain("https://front.example.test/push");
  });
});

describe.each(HTTP2_SERVERS.filter(([, { isSecure }]) => isSecure))(
  "a receiver over HTTP/1.1 on %s",
  (_name, { listenerOf }) => {
    it("accepts and rejects as on an HTTP/1.1 server, on the same port", async () => {
      const push = pushWebhooks({
        authToken: AUTH_TOKEN,
        publicUrl: PUBLIC_URL,
        methods: ["POST", "GET"],
        logger: silent,
      });
      const { port } = await startHttp2Server(listenerOf(push), true);
      const ask = ({ method, path, headers, body }: TestRequest) =>
        new Promise<[number | undefined, string]>((resolve, reject) => {
          const sent = requestByHttps({
            port,
            method,
            path,
            headers,
            rejectUnauthorized: false,
            agent: false,
          });
          sent.on("response", (response) => {
            response.resume();
            resolve([response.statusCode, response.httpVersion]);
          });
          sent.on("error", reject).end(body);
        });
      const get = eventRequest("factor.created", {}, { method: "GET" });
      expect(await ask(good())).toEqual([200, "1.1"]);
      expect(await ask(get)).toEqual([200, "1.1"]);
      const uncovered = { ...get, headers: { ...get.headers, "content-length": "3" }, body: "a=b" };
      expect(await ask(uncovered)).toEqual([403, "1.1"]);
      expect(await ask(unsigned)).toEqual([403, "1.1"]);
      expect(await ask({ ...good(), body: "x".repeat(100_000) })).toEqual([413, "1.1"]);
    });
  },
);
