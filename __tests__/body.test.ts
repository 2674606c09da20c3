import type { IncomingMessage } from "node:http";
import { createReadBody, readGivenBody } from "../lib/body";
import type { Pair } from "../lib/form";
import { sendRaw, startServer, stopServers } from "./support/servers";

afterEach(stopServers);

/** Sends raw bytes to a server that reads the body after `before`, and tells what came of it. */
async function read(
  chunks: (string | Buffer)[],
  before: (req: IncomingMessage & { body?: unknown; rawBody?: unknown }) => unknown = () => {},
  { limitBytes = 100, bodyTimeoutMs = 1_000, announced = true } = {},
): Promise<Pair[] | { code: string }> {
  const readBody = createReadBody(limitBytes, bodyTimeoutMs);
  let settle!: (outcome: Pair[] | { code: string }) => void;
  const outcome = new Promise<Pair[] | { code: string }>((resolve) => (settle = resolve));
  const port = await startServer((req, res) => {
    const run = async () => {
      await before(req);
      return readBody(req, res, announced);
    };
    run().then(settle, ({ code }) => settle({ code }));
  });
  await sendRaw(port, chunks, { giveUpMs: 50 });
  return outcome;
}

const head = (length: number) => `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`;
const CHUNKED = "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
const pairs = [
  ["a", "1"],
  ["b", "é"],
];
const form = "a=1&b=%C3%A9";

describe("readBody", () => {
  it("reads an unread stream", async () => {
    expect(await read([head(form.length), form])).toEqual(pairs);
    expect(await read([CHUNKED, "4\r\na=1&\r\n", "8\r\nb=%C3%A9\r\n0\r\n\r\n"])).toEqual(pairs);
  });

  it("reads a stream that comes in pieces, or is longer than Node keeps unread", async () => {
    expect(await read([head(form.length), form.slice(0, 5), form.slice(5)])).toEqual(pairs);
    const long = `a=${"1".repeat(100_000)}`;
    const limitBytes = 200_000;
    for (const wait of [undefined, () => new Promise((resolve) => setTimeout(resolve, 20))]) {
      expect(await read([head(long.length), long], wait, { limitBytes })).toEqual([
        ["a", long.slice(2)],
      ]);
    }
  });

  it("reads a stream that waited for somebody", async () => {
    const wait = () => new Promise((resolve) => setTimeout(resolve, 20));
    expect(await read([head(form.length), form], wait)).toEqual(pairs);
  });

  it.each<[string, (req: IncomingMessage & { body?: unknown; rawBody?: unknown }) => unknown]>([
    ["req.rawBody as bytes", (req) => (req.rawBody = Buffer.from(form))],
    ["req.rawBody as a string", (req) => (req.rawBody = form)],
    ["req.body as bytes", (req) => (req.body = new TextEncoder().encode(form))],
    ["req.body as a string", (req) => (req.body = form)],
    ["req.rawBody before req.body", (req) => Object.assign(req, { rawBody: form, body: "x=2" })],
  ])("takes %s", async (_what, before) => {
    expect(await read([head(form.length), form], before)).toEqual(pairs);
  });

  const consume = (req: IncomingMessage) =>
    new Promise<void>((resolve) => {
      req.resume().once("end", resolve);
    });

  it("takes a flat form of a stream that was read", async () => {
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
  ])("refuses a stream that was read and left %s", async (_what, body) => {
    const parsed = async (req: IncomingMessage & { body?: unknown }) => {
      await consume(req);
      req.body = body;
    };
    expect(await read([head(1), "x"], parsed)).toEqual({ code: "BODY_CONSUMED" });
  });

  it("refuses a stream of which somebody has read a part", async () => {
    const readSome = (req: IncomingMessage) =>
      new Promise<void>((resolve) => {
        req.once("data", () => {
          req.pause();
          resolve();
        });
      });
    expect(await read([head(20), "a=1&b=2"], readSome)).toEqual({ code: "BODY_CONSUMED" });
  });

  it("refuses a stream whose bytes somebody has decoded", async () => {
    const decode = (req: IncomingMessage) => req.setEncoding("latin1");
    expect(await read([head(form.length), form], decode)).toEqual({ code: "BODY_CONSUMED" });
  });

  it("takes an unannounced body for none", async () => {
    expect(await read([head(0)], undefined, { announced: false })).toEqual([]);
  });

  it("refuses what is over the limit, wherever it stands", async () => {
    const limit = { limitBytes: 11 };
    const tooLarge = { code: "BODY_TOO_LARGE" };
    expect(await read([head(form.length), form], undefined, limit)).toEqual(tooLarge);
    expect(await read([CHUNKED, "c\r\n", form], undefined, limit)).toEqual(tooLarge);
    expect(await read([head(1)], (req) => (req.rawBody = form), limit)).toEqual(tooLarge);
    expect(await read([head(1)], (req) => (req.body = Buffer.from(form)), limit)).toEqual(tooLarge);
  });

  it("refuses what is not complete in time, or cut short", async () => {
    const slow = read([head(20), "a=1"], undefined, { bodyTimeoutMs: 15 });
    expect(await slow).toEqual({ code: "BODY_TIMEOUT" });
    expect(await read([head(20), "a=1"])).toEqual({ code: "BODY_MALFORMED" });
    expect(await read([CHUNKED, "3\r\na=1\r\nxyz\r\n"])).toEqual({ code: "BODY_MALFORMED" });
  });
});

describe("readGivenBody", () => {
  it.each<[unknown, Pair[]]>([
    [undefined, []],
    [null, []],
    ["", []],
    [form, pairs as unknown as Pair[]],
    [Buffer.from(form), pairs as unknown as Pair[]],
    [{ a: "1", b: "é" }, pairs as unknown as Pair[]],
    [Object.assign(Object.create(null) as object, { a: ["1"] }), [["a", "1"]]],
  ])("reads %j", (body, expected) => {
    expect(readGivenBody(body, 100)).toEqual(expected);
  });

  it.each(["a=\ud800", { a: "\ud800" }, { "\udc00": ["1"] }])(
    "refuses %j, whose halves of characters are no bytes",
    (body) => {
      expect(() => readGivenBody(body, 100)).toThrow(
        expect.objectContaining({ code: "BODY_MALFORMED" }),
      );
    },
  );

  it.each([[5], [true], [[]], [{}], [{ a: 1 }], [new Date()], [() => form]])(
    "refuses %p",
    (body) => {
      expect(() => readGivenBody(body, 100)).toThrow(
        expect.objectContaining({ code: "BODY_CONSUMED" }),
      );
    },
  );
});
