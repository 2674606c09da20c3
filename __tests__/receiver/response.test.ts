import { IncomingMessage, request, STATUS_CODES, type RequestListener } from "node:http";
import type { ClientHttp2Stream } from "node:http2";
import { Socket } from "node:net";
import { boundRest, sendResponse } from "../../lib/receiver/response";
import { sendStream, startHttp2Server, stopHttp2Servers } from "../support/http2-servers";
import { sendRaw, startServer, stopServers } from "../support/servers";

const limits = { limitBytes: 100, bodyTimeoutMs: 60 };

afterEach(stopServers);
afterEach(stopHttp2Servers);

function answering(status: number, headers?: Record<string, string>): Promise<number> {
  return startServer((req, res) => {
    sendResponse(req, res, { status, ...(headers !== undefined && { headers }) }, limits);
  });
}

const post = (length: number) => `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`;

describe("sendResponse", () => {
  it("responds 200 with an empty body, and a rejection with the text of its status", async () => {
    const ok = await sendRaw(await answering(200), [post(0)]);
    expect(ok.text).toMatch(
      /^HTTP\/1\.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 0\r\n/,
    );
    const refusal = await sendRaw(await answering(405, { Allow: "POST" }), [post(0)]);
    expect(refusal.text).toMatch(/\r\nAllow: POST\r\n[^]*\r\n\r\nMethod Not Allowed\n$/);
    expect(refusal.text).not.toContain("Connection: close");
  });

  it("keeps the connection after a small body, and separates the next request", async () => {
    const port = await answering(403);
    const { text } = await sendRaw(port, [post(5), "hello", post(2), "yo"], {
      giveUpMs: 60,
      untilClosed: true,
    });
    expect(text.match(/HTTP\/1\.1 403/g)).toHaveLength(2);
  });

  it.each([
    ["a small body", 403, post(50)],
    ["no more of a timed out body", 408, post(50)],
    ["a large body", 403, post(101)],
    [
      "a body of unknown length",
      403,
      "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ],
  ])("does not wait forever for %s", async (_what, status, head) => {
    const port = await answering(status);
    const answer = await sendRaw(port, [head], { untilClosed: true, giveUpMs: 5_000 });
    expect(answer.status).toBe(status);
    expect(answer.gaveUp).toBe(false);
  });

  it("delivers a rejection to a client that sends 20 MB", async () => {
    const port = await answering(413);
    const chunk = Buffer.alloc(65_536);
    const outcome = await new Promise<number | string>((resolve) => {
      const upload = request({ port, method: "POST", headers: { "content-length": 20_971_520 } });
      upload.on("response", (response: IncomingMessage) => {
        response.resume();
        resolve(response.statusCode ?? 0);
        upload.destroy();
      });
      upload.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      const write = () => {
        if (!upload.destroyed) upload.write(chunk, write);
      };
      write();
    });
    expect(outcome).toBe(413);
  });
});

describe("over HTTP/2", () => {
  const openPost = { method: "POST", path: "/", headers: {}, body: "a=1" };
  const untilClosed = true;
  const keepOpen = { write: () => {}, untilClosed };
  const write = (stream: ClientHttp2Stream) => void stream.write("a");
  const open = async (listener: RequestListener) => {
    const server = await startHttp2Server(listener);
    return { ...server, session: server.openSession() };
  };

  it.each([
    ["POST", 403],
    ["POST", 413],
    ["POST", 408],
    ["HEAD", 405],
  ])(
    "closes a stream of %s with %p after the response, without an error",
    async (method, status) => {
      for (const readsSome of [false, true]) {
        const { session, countStreams } = await open((req, res) => {
          const respond = () =>
            sendResponse(req, res, { status }, { ...limits, bodyTimeoutMs: 5_000 });
          if (readsSome) req.once("data", () => respond()).once("data", () => req.pause());
          else respond();
        });
        const started = performance.now();
        const response = await sendStream(session, { ...openPost, method }, { write, untilClosed });
        expect(response).toMatchObject({ status, rstCode: 0, gaveUp: false });
        // Not with the response: curl 7.88 would lose the response.
        expect(performance.now() - started).toBeGreaterThan(900);
        const text = method === "HEAD" ? "" : `${STATUS_CODES[status]}\n`;
        expect(response.text).toBe(text);
        expect(response.headers).not.toHaveProperty("connection");
        expect(countStreams()).toBe(0);
      }
    },
  );

  it("needs no reset if the client ends its body soon, or has ended it", async () => {
    const { session, countStreams } = await open((req, res) => {
      sendResponse(req, res, { status: 403 }, { ...limits, bodyTimeoutMs: 5_000 });
    });
    const end = (stream: ClientHttp2Stream) => void setTimeout(() => stream.end("a"), 40);
    const started = performance.now();
    for (const options of [{ untilClosed }, { untilClosed, write: end }]) {
      expect(await sendStream(session, openPost, options)).toMatchObject({ text: "Forbidden\n" });
    }
    expect(performance.now() - started).toBeLessThan(900);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(countStreams()).toBe(0);
  });

  it("does not respond on a stream that the client has reset", async () => {
    const failure = await new Promise((resolve, reject) => {
      open((req, res) => {
        req.once("close", () => {
          try {
            sendResponse(req, res, { status: 403 }, limits);
            resolve(undefined);
          } catch (error) {
            resolve(error);
          }
        });
      })
        .then(({ session }) =>
          sendStream(session, openPost, {
            write: (stream) => void setTimeout(() => stream.close(8), 20),
          }),
        )
        .catch(reject);
    });
    expect(failure).toBeUndefined();
  });

  describe("boundRest", () => {
    it("closes a stream after the response that the app sends later", async () => {
      const { session } = await open((req, res) => {
        boundRest(req, 5_000);
        req.pause();
        setTimeout(() => res.end("later"), 20);
      });
      const response = await sendStream(session, openPost, keepOpen);
      expect(response).toMatchObject({ status: 200, text: "later", rstCode: 0, gaveUp: false });
    });

    it("closes it in time without a response, if its body does not end", async () => {
      const { session } = await open((req) => boundRest(req, 30));
      expect(await sendStream(session, openPost, keepOpen)).toMatchObject({
        status: 0,
        gaveUp: false,
      });
    });

    it("keeps it while the app works on a body that has ended", async () => {
      const { session } = await open((req, res) => {
        boundRest(req, 20);
        setTimeout(() => res.end("later"), 80);
      });
      expect(await sendStream(session, openPost)).toMatchObject({ status: 200, text: "later" });
    });

    it("does not keep the process alive once the connection is gone", async () => {
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout");
      const before = timers().length;
      // Of an adapter: it has no connection that could close.
      boundRest(new IncomingMessage(new Socket()), 60_000);
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      expect(timers()).toHaveLength(before);
    });

    it("sets no timer for a request that ended with its headers", async () => {
      const set = jest.spyOn(globalThis, "setTimeout");
      const { session } = await open((req, res) => {
        boundRest(req, 4_321);
        res.end();
      });
      await sendStream(session, { ...openPost, body: undefined });
      expect(set.mock.calls.filter(([, ms]) => ms === 4_321)).toEqual([]);
      set.mockRestore();
    });
  });
});
