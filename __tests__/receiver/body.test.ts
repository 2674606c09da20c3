import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { isPromise } from "node:util/types";
import {
  createReadParams,
  readGivenParams,
  type BodyHeaders,
  type RequestWithBody,
} from "../../lib/receiver/body";
import { toWebhookError } from "../../lib/receiver/rejection";
import { MAX_PARAMETERS, type Pair } from "../../lib/form/form";
import { sendRaw, startServer, stopServers } from "../support/servers";

afterEach(stopServers);

type Before = (req: RequestWithBody) => unknown;

const headersOf = ({ headers }: IncomingMessage, hasBody = true): BodyHeaders => ({
  hasBody,
  contentLength: Number(headers["content-length"]),
  isHttp2: false,
});

/** Sends raw bytes to a server that reads the body after `before`, and returns the result. */
async function read(
  chunks: (string | Buffer)[],
  before: Before = () => {},
  {
    limitBytes = 100,
    bodyTimeoutMs = 1_000,
    announced = true,
    giveUpMs = 2_000,
    insecureHTTPParser = false,
  } = {},
): Promise<Pair[] | { code: string }> {
  const readParams = createReadParams(limitBytes, bodyTimeoutMs);
  let settle!: (outcome: Pair[] | { code: string }) => void;
  const outcome = new Promise<Pair[] | { code: string }>((resolve) => (settle = resolve));
  const listen = (req: IncomingMessage, res: ServerResponse) => {
    const run = async () => {
      const waited = before(req);
      // Not instanceof: promises of Node belong to another realm than those of a Jest test.
      if (isPromise(waited)) await waited;
      return readParams(req, res, headersOf(req, announced));
    };
    run()
      .then(settle, (error: unknown) => settle({ code: toWebhookError(error).code }))
      .finally(() => res.end());
  };
  const port = await startServer(listen, { insecureHTTPParser });
  await sendRaw(port, chunks, { giveUpMs });
  return outcome;
}

const head = (length: number) => `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`;
const CHUNKED = "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
const pairs = [
  ["a", "1"],
  ["b", "é"],
];
const form = "a=1&b=%C3%A9";
const rest = (_req: IncomingMessage) => new Promise((resolve) => setTimeout(resolve, 20));

describe("createReadParams", () => {
  it("reads an unread stream", async () => {
    expect(await read([head(form.length), form])).toEqual(pairs);
    expect(await read([CHUNKED, "4\r\na=1&\r\n", "8\r\nb=%C3%A9\r\n0\r\n\r\n"])).toEqual(pairs);
  });

  it("reads a stream in chunks, and one longer than the buffer of Node", async () => {
    expect(await read([head(form.length), form.slice(0, 5), form.slice(5)])).toEqual(pairs);
    const long = `a=${"1".repeat(100_000)}`;
    const limitBytes = long.length;
    for (const wait of [undefined, rest]) {
      expect(await read([head(long.length), long], wait, { limitBytes })).toEqual([
        ["a", long.slice(2)],
      ]);
    }
  });

  it("ignores Content-Length of a chunked stream, if the HTTP parser accepts both", async () => {
    const both = `${CHUNKED.slice(0, -2)}content-length: 3\r\n\r\n`;
    const limits = { insecureHTTPParser: true, bodyTimeoutMs: 30 };
    expect(await read([`${both}3\r\na=1\r\n`], undefined, limits)).toEqual({
      code: "BODY_TIMEOUT",
    });
  });

  it("reads a stream after a slow middleware", async () => {
    expect(await read([head(form.length), form], rest)).toEqual(pairs);
  });

  it.each<[string, Before]>([
    ["req.rawBody as bytes", (req) => (req.rawBody = Buffer.from(form))],
    ["req.rawBody as a string", (req) => (req.rawBody = form)],
    ["req.body as bytes", (req) => (req.body = new TextEncoder().encode(form))],
    ["req.body as a string", (req) => (req.body = form)],
    ["req.rawBody before req.body", (req) => Object.assign(req, { rawBody: form, body: "x=2" })],
  ])("accepts %s", async (_what, before) => {
    expect(await read([head(5), "z=not"], before)).toEqual(pairs);
  });

  const consume = (req: IncomingMessage) =>
    new Promise<void>((resolve) => {
      req.resume().once("end", resolve);
    });

  it("reads a stream that another listener reads too, attached before or in the same turn", async () => {
    const listen = (req: IncomingMessage) => void req.on("data", () => {});
    const listenSoon = (req: IncomingMessage) => process.nextTick(listen, req);
    for (const before of [listen, listenSoon]) {
      expect(await read([head(form.length), form], before)).toEqual(pairs);
      expect(await read([head(form.length), form.slice(0, 5), form.slice(5)], before)).toEqual(
        pairs,
      );
    }
  });

  it("reads a stream that was paused or piped elsewhere", async () => {
    const pause = (req: IncomingMessage) => void req.pause();
    const pipe = (req: IncomingMessage) => void req.pipe(new PassThrough()).resume();
    for (const before of [pause, pipe]) {
      expect(await read([head(form.length), form], before)).toEqual(pairs);
      expect(await read([head(form.length), form.slice(0, 5), form.slice(5)], before)).toEqual(
        pairs,
      );
    }
  });

  it("does not stop other readers of a stream", async () => {
    const idle = (req: IncomingMessage) => void req.on("readable", () => {});
    const wait = { bodyTimeoutMs: 30 };
    expect(await read([head(form.length), form], idle, wait)).toEqual({ code: "BODY_TIMEOUT" });
    const take = (req: IncomingMessage) => process.nextTick(() => req.read() as unknown);
    expect(await read([head(form.length), form], take)).toEqual({ code: "BODY_CONSUMED" });
  });

  it("never treats the rest of a stream as the whole body", async () => {
    const listen = (req: IncomingMessage) => void req.on("data", () => {});
    const chunks = [CHUNKED, "4\r\nx=1&\r\n", "3\r\na=1\r\n0\r\n\r\n"];
    expect(await read(chunks, listen)).toEqual([
      ["x", "1"],
      ["a", "1"],
    ]);
  });

  it.each<[string, object]>([
    ["without a socket that says anything", { socket: {} }],
    ["without a socket", { socket: undefined }],
    ["that says that it is complete", { complete: true, socket: { readable: true } }],
    [
      "without a Content-Length",
      { complete: true, socket: { readable: true }, headers: { "transfer-encoding": "chunked" } },
    ],
  ])("reads a stream that is not of Node, %s", async (_what, like) => {
    const halves = [form.slice(0, 5), form.slice(5)].map((half) => Buffer.from(half));
    const headers = { "content-length": String(form.length) };
    const req = Object.assign(Readable.from(halves), { method: "POST", headers }, like);
    const readParams = createReadParams(100, 1_000);
    const request = req as unknown as RequestWithBody;
    expect(await readParams(request, {} as ServerResponse, headersOf(request))).toEqual(pairs);
  });

  it("sets req.body to the bytes of every source", async () => {
    for (const chunks of [[form], [form.slice(0, 5), form.slice(5)]]) {
      let req: RequestWithBody | undefined;
      await read([head(form.length), ...chunks], (given) => void (req = given));
      expect(req?.body).toEqual(Buffer.from(form));
    }
  });

  it("accepts the flat form of a consumed stream", async () => {
    const parsed = async (req: IncomingMessage & { body?: unknown }) => {
      await consume(req);
      req.body = { a: "1", b: ["x", "y"] };
    };
    expect(await read([head(1), "x"], parsed)).toEqual([
      ["a", "1"],
      ["b", "x"],
      ["b", "y"],
    ]);
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["an empty object", {}],
    ["a nested form", { a: { b: "1" } }],
    ["a list of forms", { a: [{ b: "1" }] }],
    ["numbers", { a: 1 }],
    ["null", null],
    ["a list", ["a"]],
  ])("rejects a consumed stream with req.body %s", async (_what, body) => {
    const parsed = async (req: IncomingMessage & { body?: unknown }) => {
      await consume(req);
      req.body = body;
    };
    expect(await read([head(1), "x"], parsed)).toEqual({ code: "BODY_CONSUMED" });
  });

  it("rejects a partly consumed stream", async () => {
    const readSome = (req: IncomingMessage) =>
      new Promise<void>((resolve) => {
        req.once("data", () => {
          req.pause();
          resolve();
        });
      });
    expect(await read([head(20), "a=1&b=2"], readSome)).toEqual({ code: "BODY_CONSUMED" });
  });

  it("rejects a stream with a decoder", async () => {
    const decode = (req: IncomingMessage) => req.setEncoding("latin1");
    expect(await read([head(form.length), form], decode)).toEqual({ code: "BODY_CONSUMED" });
  });

  it("treats an unannounced body as empty", async () => {
    expect(await read([head(0)], undefined, { announced: false })).toEqual([]);
  });

  it.each<[string, string[], Before?]>([
    ["that has arrived", [head(form.length), form]],
    ["of which nothing was announced", [CHUNKED, "c\r\n", form, "\r\n0\r\n\r\n"]],
    ["that waited", [head(form.length), form], rest],
    ["in req.rawBody", [head(1), "x"], (req) => (req.rawBody = form)],
    ["in req.body", [head(1), "x"], (req) => (req.body = Buffer.from(form))],
  ])(
    "accepts a body of exactly the limit %s, and rejects one byte more",
    async (_what, chunks, before = () => {}) => {
      const limitBytes = form.length;
      expect(await read(chunks, before, { limitBytes })).toEqual(pairs);
      expect(await read(chunks, before, { limitBytes: limitBytes - 1 })).toEqual({
        code: "BODY_TOO_LARGE",
      });
    },
  );

  it("rejects a body as soon as it exceeds the limit", async () => {
    const limits = { limitBytes: 11, bodyTimeoutMs: 200 };
    expect(await read([CHUNKED, "c\r\n", form], undefined, limits)).toEqual({
      code: "BODY_TOO_LARGE",
    });
  });

  it("rejects a Content-Length over the limit before the body arrives", async () => {
    const limits = { limitBytes: 11, giveUpMs: 200 };
    expect(await read([head(20), "a=1"], undefined, limits)).toEqual({ code: "BODY_TOO_LARGE" });
  });

  it("treats a body without bytes as one without parameters", async () => {
    expect(await read([CHUNKED, "0\r\n\r\n"])).toEqual([]);
    expect(await read([head(0)])).toEqual([]);
  });

  it("rejects an announced body that is absent", async () => {
    expect(await read(["POST / HTTP/1.1\r\nhost: x\r\n\r\n"])).toEqual({ code: "BODY_CONSUMED" });
  });

  it("sets no timer for a body that has arrived, and leaves no timer and no listener", async () => {
    const bodyTimeoutMs = 4_321;
    const [set, clear] = [
      jest.spyOn(globalThis, "setTimeout"),
      jest.spyOn(globalThis, "clearTimeout"),
    ];
    const timers = () =>
      set.mock.results.filter((_, call) => set.mock.calls[call]?.[1] === bodyTimeoutMs);
    let request: IncomingMessage | undefined;
    const keep: Before = (req) => rest((request = req));
    expect(await read([head(form.length), form], keep, { bodyTimeoutMs })).toEqual(pairs);
    expect(timers()).toEqual([]);

    const long = `a=${"1".repeat(100_000)}`;
    await read([head(long.length), long], keep, { bodyTimeoutMs, limitBytes: long.length });
    expect(timers()).toHaveLength(1);
    expect(clear).toHaveBeenCalledWith(timers()[0]?.value);
    expect(request?.listenerCount("data")).toBe(0);
    set.mockRestore();
    clear.mockRestore();
  });

  it("accepts a complete body of a client that disconnected", async () => {
    const gone: Before = (req) => once(req.socket, "close");
    expect(await read([head(form.length), form], gone, { giveUpMs: 200 })).toEqual(pairs);
    // This body is not known to be complete.
    const chunked = [CHUNKED, "c\r\n", form, "\r\n0\r\n\r\n"];
    expect(await read(chunked, gone, { giveUpMs: 200 })).toEqual({ code: "BODY_MALFORMED" });
  });

  describe("of a request that is not of a Node server", () => {
    const requestLike = (complete: boolean, socket?: { readable: boolean }) => {
      const req = new Readable({ read() {} }).on("error", () => {});
      const headers = { "content-length": String(form.length) };
      return Object.assign(req, { headers, complete, socket }) as unknown as IncomingMessage;
    };
    const readLike = (req: IncomingMessage) =>
      createReadParams(100, 1_000)(req, {} as ServerResponse, headersOf(req));

    it("reads one without a socket, as adapters of serverless platforms create it", async () => {
      const req = requestLike(true);
      req.push(form);
      expect(await readLike(req)).toEqual(pairs);
    });

    it.each([true, false])(
      "rejects one whose client disconnected, complete: %p",
      async (complete) => {
        const req = requestLike(complete, { readable: false });
        req.headers = { "transfer-encoding": "chunked" };
        req.push(form);
        await expect(readLike(req)).rejects.toHaveProperty("code", "BODY_MALFORMED");
      },
    );

    it("rejects an incomplete one without a socket", async () => {
      await expect(readLike(requestLike(false))).rejects.toHaveProperty("code", "BODY_CONSUMED");
    });

    it("names the reason why one is incomplete", async () => {
      const cause = new Error("cut short");
      const req = requestLike(false, { readable: false }).destroy(cause);
      await expect(readLike(req)).rejects.toMatchObject({ code: "BODY_MALFORMED", cause });
    });

    it("names the reason why one cannot be read", async () => {
      const req = requestLike(false, new Readable()).setEncoding("latin1");
      req.push(form);
      req.push(null);
      const cause = { type: "stream.encoding.set" };
      await expect(readLike(req)).rejects.toMatchObject({ code: "BODY_CONSUMED", cause });
    });
  });

  it("rejects a body that is late or cut short", async () => {
    const slow = read([head(20), "a=1"], undefined, { bodyTimeoutMs: 15 });
    expect(await slow).toEqual({ code: "BODY_TIMEOUT" });
    const cut = read([head(20), "a=1"], undefined, { giveUpMs: 200 });
    expect(await cut).toEqual({ code: "BODY_MALFORMED" });
    expect(await read([CHUNKED, "3\r\na=1\r\nxyz\r\n"])).toEqual({ code: "BODY_MALFORMED" });
  });
});

describe("readGivenParams", () => {
  it.each<[unknown, Pair[]]>([
    [undefined, []],
    [null, []],
    ["", []],
    [form, pairs as unknown as Pair[]],
    [Buffer.from(form), pairs as unknown as Pair[]],
    [{ a: "1", b: "é" }, pairs as unknown as Pair[]],
    [Object.assign(Object.create(null) as object, { a: ["1"] }), [["a", "1"]]],
  ])("reads %j", (body, expected) => {
    expect(readGivenParams(body, 100)).toEqual(expected);
  });

  it("accepts a form of exactly the limits, and rejects one byte or one parameter more", () => {
    const refusal = expect.objectContaining({ code: "BODY_TOO_LARGE" }) as Error;
    expect(readGivenParams({ a: "1", b: "é" }, 5)).toEqual(pairs);
    expect(() => readGivenParams({ a: "1", b: "é" }, 4)).toThrow(refusal);
    const most = Array.from({ length: MAX_PARAMETERS }, () => "1");
    expect(readGivenParams({ a: most }, 10_000)).toHaveLength(MAX_PARAMETERS);
    expect(() => readGivenParams({ a: most, b: "1" }, 10_000)).toThrow(refusal);
  });

  it.each(["a=\ud800", { a: "\ud800" }, { "\udc00": ["1"] }])(
    "rejects %j, which has half a surrogate pair",
    (body) => {
      expect(() => readGivenParams(body, 100)).toThrow(
        expect.objectContaining({ name: "FormError", reason: "malformed" }),
      );
    },
  );

  it.each([[5], [true], [[]], [{}], [{ a: 1 }], [new Date()], [() => form]])(
    "rejects %p",
    (body) => {
      expect(() => readGivenParams(body, 100)).toThrow(
        expect.objectContaining({ code: "BODY_CONSUMED" }),
      );
    },
  );
});
