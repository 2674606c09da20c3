/** What untrusted clients send over HTTP/2: one row each. */
import type { ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";
import type { PushWebhooksOptions } from "express-push-verification";
import {
  encodeForm,
  eventPairs,
  eventRequest,
  signedRequestOf,
  type TestRequest,
} from "./webhook-requests";
import { encodeFields, FLAGS, frame, NO_WINDOW, pad } from "./http2-frames";
import type { WriteBody } from "./http2-servers";
import { good, signature } from "./hostile-rows";

const goodGet = eventRequest("factor.created", {}, { method: "GET" });
const body = good.body ?? "";
const length = Buffer.byteLength(body);
const urlAlone = signedRequestOf([]);

/** One request on a stream of its own, and the status of the response. */
export interface StreamRow {
  what: string;
  request: TestRequest;
  write?: WriteBody;
  extraHeaders?: OutgoingHttpHeaders;
  /** 0: no response, the stream is reset. */
  status: number;
  options?: Partial<PushWebhooksOptions>;
}

const without = (name: string): TestRequest => {
  const { [name]: _left, ...headers } = good.headers;
  return { ...good, headers };
};
const keepOpen: WriteBody = () => {};
const writeOpen = (text: string) => (stream: ClientHttp2Stream) => void stream.write(text);
const writeForever: WriteBody = (stream) => {
  const chunk = Buffer.alloc(16_384, "y");
  const write = () => {
    if (!stream.destroyed && !stream.closed) stream.write(chunk, write);
  };
  write();
};
export const STREAM_ROWS: StreamRow[] = [
  { what: "a POST without a content-length", request: good, status: 200 },
  {
    what: "a POST in pieces, without a content-length",
    request: good,
    write: (stream) => {
      stream.write(body.slice(0, 9));
      setTimeout(() => stream.end(body.slice(9)), 20);
    },
    status: 200,
  },
  {
    what: "a POST with its content-length",
    request: good,
    extraHeaders: { "content-length": length },
    status: 200,
  },
  {
    what: "a content-length of which a part arrives later",
    request: good,
    extraHeaders: { "content-length": length },
    write: (stream) => {
      stream.write(body.slice(0, 9));
      setTimeout(() => stream.end(body.slice(9)), 20);
    },
    status: 200,
  },
  {
    what: "a content-length that is too long",
    request: good,
    extraHeaders: { "content-length": length + 1 },
    status: 0,
  },
  {
    what: "a content-length that is too short",
    request: good,
    extraHeaders: { "content-length": length - 1 },
    status: 0,
  },
  { what: "a GET", request: goodGet, status: 200 },
  { what: "a GET with a body", request: { ...goodGet, body: "a=b" }, status: 403 },
  {
    what: "a GET with a body that arrives later",
    request: goodGet,
    write: (stream) => void setTimeout(() => stream.end("a=b"), 20),
    status: 403,
  },
  {
    what: "a GET that ends with an empty DATA frame",
    request: { ...goodGet, body: "" },
    status: 403,
  },
  { what: "a GET that does not end", request: goodGet, write: keepOpen, status: 403 },
  {
    what: "a GET of no length that does not end",
    request: goodGet,
    extraHeaders: { "content-length": 0 },
    write: keepOpen,
    status: 403,
  },
  {
    what: "a GET that ends without DATA",
    request: goodGet,
    write: (stream) => void stream.end(),
    status: 403,
  },
  { what: "a POST as a GET", request: { ...good, method: "GET" }, status: 403 },
  { what: "a POST without a body", request: { ...good, body: undefined }, status: 403 },
  {
    what: "a body that the signature does not cover",
    request: { ...urlAlone, body },
    status: 403,
  },
  {
    what: "a body that is neither covered nor of a type",
    request: { ...urlAlone, body, headers: { "x-service-signature": signatureOf(urlAlone) } },
    status: 415,
  },
  { what: "a body without a type", request: without("content-type"), status: 415 },
  { what: "gzip", request: good, extraHeaders: { "content-encoding": "gzip" }, status: 415 },
  { what: "no signature, and a body that does not end", ...open("x-service-signature") },
  {
    what: "another signature",
    request: eventRequest("challenge.approved", {}, { authToken: "x" }),
    status: 403,
  },
  {
    what: "the right signature twice",
    request: good,
    extraHeaders: { "x-service-signature": [signature, signature] },
    status: 403,
  },
  {
    what: "an announced gigabyte",
    request: good,
    extraHeaders: { "content-length": 1e9 },
    write: writeOpen("a=b"),
    status: 413,
  },
  { what: "an endless body", request: good, write: writeForever, status: 413 },
  {
    what: "an endless body without a signature",
    request: without("x-service-signature"),
    write: writeForever,
    status: 403,
  },
  {
    what: "an endless body of a GET",
    request: goodGet,
    write: writeForever,
    status: 403,
  },
  {
    what: "a body of 64 kB",
    request: signedRequestOf([...eventPairs("factor.created"), ["a", "x".repeat(65_536)]]),
    status: 413,
  },
  {
    what: "a slow body",
    request: good,
    write: writeOpen(body.slice(0, 9)),
    options: { bodyTimeoutMs: 60 },
    status: 408,
  },
  {
    what: "a body that never arrives",
    request: good,
    write: keepOpen,
    options: { bodyTimeoutMs: 60 },
    status: 408,
  },
  {
    what: "a body that is whole but for its end",
    request: good,
    extraHeaders: { "content-length": length },
    write: writeOpen(body),
    options: { bodyTimeoutMs: 60 },
    status: 408,
  },
  { what: "an expectation", request: good, extraHeaders: { expect: "100-continue" }, status: 200 },
  {
    what: "a method in a header",
    request: good,
    extraHeaders: { "x-http-method-override": "GET" },
    status: 200,
  },
  ...["HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "PURGE"].flatMap((method): StreamRow[] => [
    { what: method, request: { ...good, method, body: undefined }, status: 405 },
    {
      what: `${method} with a body that does not end`,
      request: { ...good, method },
      write: keepOpen,
      status: 405,
    },
  ]),
];

function open(header: string): Pick<StreamRow, "request" | "write" | "status"> {
  return { request: without(header), write: writeOpen("a=b"), status: 403 };
}

function signatureOf(request: TestRequest): string {
  return request.headers["x-service-signature"] ?? "";
}

/** One request as frames, and whether it is accepted. */
export interface FrameRow {
  what: string;
  frames: Buffer[];
  /** Rejected: HEADERS of another status than 200, or a reset. */
  isOk: boolean;
  /** Whether the client resets the stream, so that there is no response. */
  isReset?: true;
  /** Whether the client accepts no DATA, so that the response has no end. */
  hasNoWindow?: true;
}

const { endStream, endHeaders, padded } = FLAGS;
const pseudo = (method: string, path: string): [string, string][] => [
  [":method", method],
  [":scheme", "http"],
  [":authority", "spoofed.example"],
  [":path", path],
];
const postFields: [string, string][] = [
  ...pseudo("POST", good.path),
  ...Object.entries(good.headers),
];
const getFields: [string, string][] = [
  ...pseudo("GET", goodGet.path),
  ...Object.entries(goodGet.headers),
];
const headers = (fields: readonly [string, string][], flags = endHeaders) =>
  frame("headers", flags, encodeFields(fields));
const data = frame("data", endStream, body);
const block = encodeFields(postFields);
const emptyData = frame("data", 0);

export const FRAME_ROWS: FrameRow[] = [
  { what: "HEADERS and DATA", frames: [headers(postFields), data], isOk: true },
  {
    what: "padding",
    frames: [
      frame("headers", endHeaders | padded, pad(block, 200)),
      frame("data", padded, pad(body, 255)),
      frame("data", padded | endStream, pad("", 255)),
    ],
    isOk: true,
  },
  {
    what: "CONTINUATION",
    frames: [
      frame("headers", 0, block.subarray(0, 7)),
      frame("continuation", 0, block.subarray(7, 60)),
      frame("continuation", endHeaders, block.subarray(60)),
      data,
    ],
    isOk: true,
  },
  {
    what: "CONTINUATION after END_STREAM of a GET",
    frames: [
      frame("headers", endStream, encodeFields(getFields).subarray(0, 9)),
      frame("continuation", endHeaders, encodeFields(getFields).subarray(9)),
    ],
    isOk: true,
  },
  {
    what: "empty DATA frames around the body",
    frames: [
      headers(postFields),
      ...Array(20).fill(emptyData),
      frame("data", 0, body),
      ...Array(20).fill(emptyData),
      frame("data", endStream),
    ],
    isOk: true,
  },
  {
    what: "one byte in each DATA frame",
    frames: [
      headers(postFields),
      ...[...body].map((byte) => frame("data", 0, byte)),
      frame("data", endStream),
    ],
    isOk: true,
  },
  {
    what: "trailers after the body, a signature among them",
    frames: [
      headers(postFields.filter(([name]) => name !== "x-service-signature")),
      frame("data", 0, body),
      headers([["x-service-signature", signature]], endHeaders | endStream),
    ],
    isOk: false,
  },
  {
    what: "trailers after the body",
    frames: [
      headers(postFields),
      frame("data", 0, body),
      headers([["a", "b"]], endHeaders | endStream),
    ],
    isOk: true,
  },
  {
    what: "trailers in place of a body of a GET",
    frames: [headers(getFields), headers([["a", "b"]], endHeaders | endStream)],
    isOk: false,
  },
  {
    what: "padding in place of a body of a GET",
    frames: [headers(getFields), frame("data", padded | endStream, pad("", 255))],
    isOk: false,
  },
  ...(
    [
      ["an upper-case header name", ["X-Service-Signature", signature]],
      ["a connection header", ["connection", "close"]],
      ["chunks", ["transfer-encoding", "chunked"]],
      ["a second content-length", ["content-length", String(length)]],
      ["a second content-type", ["content-type", "text/plain"]],
      ["a second signature", ["x-service-signature", signature]],
      ["a second path", [":path", "/"]],
      ["an unknown pseudo header", [":status", "200"]],
    ] as [string, [string, string]][]
  ).map(([what, field]): FrameRow => ({
    what,
    frames: [headers([...postFields, ["content-length", String(length)], field]), data],
    isOk: false,
  })),
  ...[0, 8].map((code): FrameRow => ({
    what: `a reset with the code ${code} in place of the end of the body`,
    frames: [
      headers(postFields),
      frame("data", 0, body),
      frame("rstStream", 0, Buffer.from([0, 0, 0, code])),
    ],
    isOk: false,
    isReset: true,
  })),
  {
    what: "no method",
    frames: [headers(postFields.slice(1)), data],
    isOk: false,
  },
  {
    what: "END_STREAM where a content-length is",
    frames: [headers([...getFields, ["content-length", "3"]], endHeaders | endStream)],
    isOk: false,
  },
  ...[
    "*",
    "",
    "x",
    "//evil.example/push",
    "https://evil.example/push/events",
    "/push/events#x",
  ].map((path): FrameRow => ({
    what: `a GET of the path ${JSON.stringify(path)}`,
    frames: [headers([...pseudo("GET", path), ...getFields.slice(4)], endHeaders | endStream)],
    isOk: false,
  })),
  {
    what: "a client that accepts no response to a GET that does not end",
    frames: [NO_WINDOW, headers(getFields)],
    isOk: false,
    hasNoWindow: true,
  },
  {
    what: "a client that accepts no response to a body over the limit",
    frames: [
      NO_WINDOW,
      headers(postFields),
      ...Array(5).fill(frame("data", 0, encodeForm([["a", "y".repeat(16_000)]]))),
    ],
    isOk: false,
    hasNoWindow: true,
  },
];
