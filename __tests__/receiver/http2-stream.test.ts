import { IncomingMessage, type RequestListener } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { createReadParams } from "../../lib/receiver/body";
import {
  collectHttp2Body,
  getHttp2Stream,
  mayHaveHttp2Body,
} from "../../lib/receiver/http2-stream";
import { sendStream, startHttp2Server, stopHttp2Servers } from "../support/http2-servers";

afterEach(stopHttp2Servers);

const post = { method: "POST", path: "/", headers: {}, body: "a=1" };
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function open(listener: RequestListener) {
  const server = await startHttp2Server(listener);
  return { ...server, session: server.openSession() };
}

describe("getHttp2Stream, mayHaveHttp2Body", () => {
  it("return undefined for HTTP/1", () => {
    const req = Object.assign(new IncomingMessage(new Socket()), { httpVersionMajor: 1 });
    expect(getHttp2Stream(req)).toBeUndefined();
    expect(getHttp2Stream(Object.assign(req, { stream: {} }))).toBeUndefined();
    expect([1, undefined].map((major) => mayHaveHttp2Body(req, major))).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("expect a body without a stream", () => {
    expect(mayHaveHttp2Body({}, 2)).toBe(true);
    expect(mayHaveHttp2Body({ stream: {} } as never, 3)).toBe(true);
    expect(mayHaveHttp2Body({ stream: { endAfterHeaders: true } } as never, 2)).toBe(false);
  });

  it("expect a body unless END_STREAM is in the headers", async () => {
    const seen: unknown[] = [];
    const { session } = await open((req, res) => {
      seen.push(mayHaveHttp2Body(req, req.httpVersionMajor));
      res.end();
    });
    await sendStream(session, { ...post, body: undefined });
    await sendStream(session, post);
    await sendStream(session, { ...post, body: "" });
    expect(seen).toEqual([false, true, true]);
  });
});

describe("collectHttp2Body", () => {
  /** Collects the body of one request, and returns the result. */
  const collect = (req: IncomingMessage, stream: object, limitBytes = 10) =>
    new Promise<unknown>((resolve) => {
      const settle = (outcome: unknown) =>
        setImmediate(() => {
          stop();
          resolve(outcome);
        });
      const stop = collectHttp2Body(req, stream as ServerHttp2Stream, limitBytes, {
        end: (body) => settle(body.toString()),
        exceed: () => settle("exceeded"),
        cutShort: (cause) => settle(["cut short", cause]),
      });
    });
  const like = (chunks: string[], headers = {}) =>
    Object.assign(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), {
      headers,
    }) as unknown as IncomingMessage;

  it("collects chunks of any size, up to the limit", async () => {
    expect(await collect(like([]), {})).toBe("");
    expect(await collect(like(["a", "bc", "", "d", "efghij"]), {})).toBe("abcdefghij");
    expect(await collect(like(["abcdefghij", "k"]), {})).toBe("exceeded");
  });

  it("reports a body as cut short after a reset, or with another length than announced", async () => {
    const length = { "content-length": "2" };
    expect(await collect(like(["ab"], length), {})).toBe("ab");
    expect(await collect(like(["a"], length), {})).toEqual(["cut short", undefined]);
    expect(await collect(like(["abc"], length), {})).toEqual(["cut short", undefined]);
    expect(await collect(like(["ab"], length), { aborted: true })).toEqual([
      "cut short",
      undefined,
    ]);
    expect(await collect(like([]), { closed: true })).toEqual(["cut short", undefined]);
    const cause = new Error("cut short");
    expect(await collect(like(["a"]).destroy(cause), {})).toEqual(["cut short", cause]);
  });

  it("leaves no listener, and pauses an incomplete request", async () => {
    for (const [chunks, complete] of [
      [["abcdefghij", "k", "l"], false],
      [["a"], true],
    ] as const) {
      const req = Object.assign(like([...chunks]), { complete });
      const names = ["data", "end", "close", "error"];
      const before = names.map((name) => req.listenerCount(name));
      await collect(req, {});
      expect(names.map((name) => req.listenerCount(name))).toEqual(before);
      expect(req.isPaused()).toBe(!complete);
    }
  });
});

describe("a body over HTTP/2", () => {
  const readParams = createReadParams(100, 1_000);
  const headers = { hasBody: true, contentLength: Number.NaN, isHttp2: true };
  const read = (before: (req: IncomingMessage) => unknown) =>
    new Promise<unknown>((resolve, reject) => {
      open((req, res) => {
        const run = async () => {
          await before(req);
          return readParams(req, res, headers);
        };
        run()
          .then(resolve, (error: { code: unknown }) => resolve(error.code))
          .finally(() => res.end());
      })
        .then(({ session }) => sendStream(session, post))
        .catch(reject);
    });

  it("waits for a slow middleware, and is set as req.body", async () => {
    let req: (IncomingMessage & { body?: unknown }) | undefined;
    const pairs = await read((given) => {
      req = given;
      return wait(20);
    });
    expect(pairs).toEqual([["a", "1"]]);
    expect(req?.body).toEqual(Buffer.from("a=1"));
  });

  it("is rejected if another middleware has read or decoded it", async () => {
    const consume = (req: IncomingMessage) =>
      new Promise((resolve) => req.resume().once("end", resolve));
    expect(await read(consume)).toBe("BODY_CONSUMED");
    expect(await read((req) => req.setEncoding("latin1"))).toBe("BODY_CONSUMED");
  });

  it("is rejected if the client disconnects before it is read", async () => {
    let disconnect!: () => void;
    const code = new Promise((resolve, reject) => {
      open((req, res) => {
        req.once("aborted", () => {
          readParams(req, res, headers).catch((error: { code: unknown }) => resolve(error.code));
        });
        disconnect();
      })
        .then(({ session }) => {
          disconnect = () => session.destroy();
          return sendStream(session, post, { write: (stream) => void stream.write("a=1") });
        })
        .catch(reject);
    });
    expect(await code).toBe("BODY_MALFORMED");
  });
});
