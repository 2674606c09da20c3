/** Hostile requests of untrusted clients, with and without a valid signature: one row each. */
import { createHmac } from "node:crypto";
import type { PushWebhooksOptions, WebhookErrorCode } from "express-push-verification";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventPairs,
  eventRequest,
  PUBLIC_URL,
  SERVICE_SID,
  signedRequestOf,
  type TestRequest,
} from "./webhook-requests";
import { PATH, rawRequest } from "./servers";

const header = "x-service-signature";
const FORM = "application/x-www-form-urlencoded";
/** The request that the rows change. */
export const good = eventRequest("challenge.approved");
/** Its signature. */
export const signature = good.headers[header] ?? "";

/** One request and its result. */
export interface HostileRow {
  what: string;
  /** The request to send, or its bytes. */
  request?: TestRequest;
  raw?: (string | Buffer)[];
  /** 0: no response. */
  status: number | number[];
  /** Of the rejection. */
  code?: WebhookErrorCode;
  options?: Partial<PushWebhooksOptions>;
  /** The fields of the event, if the request is accepted. */
  event?: object;
}

const sign = (text: string, algorithm = "sha1", encoding: "base64" | "hex" = "base64") =>
  createHmac(algorithm, AUTH_TOKEN).update(text).digest(encoding);
const signedText = (params: readonly (readonly [string, string])[]) =>
  PUBLIC_URL +
  params
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flat()
    .join("");
const withSignature = (value: string): TestRequest => ({
  ...good,
  headers: { ...good.headers, [header]: value },
});
const rawSignature = (value: string) => [rawRequest(good).replace(signature, value)];
const at = (path: string) => ({ ...good, path });
const having = (overrides: Record<string, string | undefined>) =>
  eventRequest("challenge.approved", overrides);
const withPairs = (...pairs: [string, string][]) =>
  signedRequestOf([...eventPairs("challenge.approved"), ...pairs]);
const typed = (type: string): TestRequest => ({
  ...good,
  headers: { ...good.headers, "content-type": type },
});
const withHeaders = (headers: Record<string, string>): TestRequest => ({ ...good, headers });
const signedFor = (publicUrl: string): TestRequest => ({
  ...eventRequest("challenge.approved", {}, { publicUrl }),
  path: PATH,
});
const bodyOf = (request: TestRequest, change: (body: string) => string): TestRequest => ({
  ...request,
  body: change(request.body ?? ""),
});

const SIGNATURES: HostileRow[] = [
  {
    what: "none",
    request: withHeaders({ "content-type": FORM }),
    status: 403,
    code: "SIGNATURE_MISSING",
  },
  { what: "an empty one", request: withSignature(""), status: 403, code: "SIGNATURE_MISSING" },
  {
    what: "one bit changed",
    request: withSignature(flipBit(signature)),
    status: 403,
    code: "SIGNATURE_MISMATCH",
  },
  {
    what: "no padding",
    request: withSignature(signature.slice(0, -1)),
    status: 403,
    code: "SIGNATURE_MALFORMED",
  },
  { what: "in a header of another case", raw: [upperCased(rawRequest(good))], status: 200 },
  {
    what: "white space inside",
    raw: rawSignature(`${signature.slice(0, 9)} ${signature.slice(9)}`),
    status: 403,
  },
  { what: "white space around", raw: rawSignature(` \t${signature} `), status: 200 },
  {
    what: "the valid one, twice",
    raw: [rawRequest(good, [`${header}: ${signature}`])],
    status: 403,
    code: "SIGNATURE_MALFORMED",
  },
  {
    what: "the valid one twice in one header",
    request: withSignature(`${signature}, ${signature}`),
    status: 403,
  },
  {
    what: "hexadecimal",
    request: withSignature(sign(signedText(eventPairs("challenge.approved")), "sha1", "hex")),
    status: 403,
  },
  {
    what: "HMAC-SHA256",
    request: withSignature(sign(signedText(eventPairs("challenge.approved")), "sha256")),
    status: 403,
  },
  { what: "1 MB long", raw: rawSignature("A".repeat(1_000_000)), status: [431, 0] },
  {
    what: "28 characters of another alphabet",
    request: withSignature(signature.replace(/^../, "-_")),
    status: 403,
  },
  {
    what: "of the URL without parameters",
    request: { ...signedRequestOf([]), body: good.body },
    status: 403,
  },
  {
    what: "by another token",
    request: eventRequest("challenge.approved", {}, { authToken: "x" }),
    status: 403,
  },
  {
    what: "by the previous token",
    request: good,
    options: { authToken: ["next", AUTH_TOKEN] },
    status: 200,
  },
];

const URLS: HostileRow[] = [
  { what: "http for https", request: signedFor(PUBLIC_URL.replace("https", "http")), status: 403 },
  { what: "another Host", raw: [rawRequest(good)], status: 200 },
  {
    what: "forwarded for another host",
    raw: [rawRequest(good, ["x-forwarded-host: evil.example", "x-forwarded-proto: http"])],
    status: 200,
  },
  {
    what: "an explicit port",
    request: signedFor(PUBLIC_URL.replace(".test/", ".test:443/")),
    status: 200,
  },
  {
    what: "an explicit port, matched exactly",
    request: signedFor(PUBLIC_URL.replace(".test/", ".test:443/")),
    options: { urlMatching: "exact" },
    status: 403,
  },
  { what: "a trailing slash", request: signedFor(`${PUBLIC_URL}/`), status: 403 },
  { what: "another case", request: signedFor(PUBLIC_URL.replace("push", "Push")), status: 403 },
  { what: "an added query", request: signedFor(`${PUBLIC_URL}?a=b`), status: 403 },
  {
    what: "a query that was encoded again",
    request: signedFor(`${PUBLIC_URL}?q=%27`),
    options: { publicUrl: `${PUBLIC_URL}?q='` },
    status: 403,
  },
  {
    what: "a fragment in publicUrl",
    request: good,
    options: { publicUrl: `${PUBLIC_URL}#rc=2` },
    status: 200,
  },
  { what: "a fragment in the target", raw: [rawRequest(at(`${PATH}#x`))], status: [200, 400] },
  {
    what: "a query in the target of a POST",
    raw: [rawRequest(at(`${PATH}?type=challenge.denied`))],
    event: { type: "challenge.approved" },
    status: 200,
  },
  {
    what: "a target that begins with two slashes",
    raw: [rawRequest(at("//evil.example/raw"))],
    status: [404, 200],
  },
  {
    what: "raw UTF-8 in the target",
    raw: [Buffer.from(rawRequest(at(`${PATH}/ö`)), "utf8")],
    status: [200, 400, 404],
  },
];

const PARAMETERS: HostileRow[] = [
  ...[
    "application/x-www-urlencoded",
    FORM,
    `${FORM}; charset=utf-8`,
    `${FORM};charset="UTF-8"`,
    "APPLICATION/X-WWW-URLENCODED ; Charset=Utf8",
    `${FORM} ; Charset="utf-8" ; a=b`,
    `${FORM};`,
    `${FORM}; boundary="charset=utf-16"`,
    String.raw`${FORM}; a="\";charset=utf-16"; charset=utf-8`,
  ].map((type): HostileRow => ({ what: type, request: typed(type), status: 200 })),
  ...[
    "application/json",
    "text/plain",
    "multipart/form-data; boundary=x",
    `${FORM}x`,
    `${FORM}; charset=iso-8859-1`,
    `${FORM}; charset=utf-8; charset=utf-16`,
    `${FORM}; charset="utf-16"`,
  ].map((type): HostileRow => ({
    what: type,
    request: typed(type),
    status: 415,
    code: "CONTENT_TYPE_UNSUPPORTED",
  })),
  {
    what: "no content type",
    raw: [rawRequest(withHeaders({ [header]: signature }))],
    status: 415,
    code: "CONTENT_TYPE_UNSUPPORTED",
  },
  {
    what: "two content types",
    raw: [rawRequest(good, ["content-type: application/json"])],
    status: 415,
    code: "CONTENT_TYPE_UNSUPPORTED",
  },
  ...["gzip", "BR", "deflate", "zstd", "gzip, gzip"].map((encoding): HostileRow => ({
    what: encoding,
    request: withHeaders({ ...good.headers, "content-encoding": encoding }),
    status: 415,
    code: "CONTENT_TYPE_UNSUPPORTED",
  })),
  {
    what: "an unknown type",
    request: signedRequestOf(eventPairs("factor.suspended")),
    event: { type: "factor.suspended" },
    status: 200,
  },
  {
    what: "a malformed SID",
    request: having({ factor_sid: "YF1" }),
    status: 400,
    code: "PAYLOAD_INVALID",
  },
  { what: "none at all", request: signedRequestOf([]), status: 400, code: "PAYLOAD_INVALID" },
  {
    what: "a known one twice, equal",
    request: withPairs(["type", "challenge.approved"]),
    status: 400,
    code: "PAYLOAD_INVALID",
  },
  {
    what: "a known one twice, different",
    request: withPairs(["type", "challenge.denied"]),
    status: 400,
  },
  {
    what: "an unknown one twice",
    request: withPairs(["tag", "b"], ["tag", "a"], ["tag", "b"]),
    status: 200,
  },
  ...[
    "__proto__",
    "constructor",
    "constructor[prototype][z]",
    "toString",
    "hasOwnProperty",
    "length",
    "a[b][c]",
    "a.b",
    "[]",
  ].map((name): HostileRow => ({
    what: `one named ${name}`,
    request: withPairs([name, "x"]),
    // One that sorts before account_sid must be declared.
    options: name < "account_sid" ? { extraParameters: [name] } : {},
    event: { params: expect.arrayContaining([[name, "x"]]) },
    status: 200,
  })),
  {
    what: "__proto__ that was not signed",
    request: bodyOf(good, (body) => `${body}&__proto__=x`),
    status: 403,
  },
  ...[
    "a+b",
    "a b",
    "a%20b",
    " a ",
    "a\r\nb\t",
    "a\u0000b",
    "Zoë 😀 \u202Eabc",
    "e\u0301",
    "\u00e9",
    "&=%",
  ].map((text): HostileRow => ({
    what: `the value ${JSON.stringify(text)}`,
    request: having({ entity_identity: text }),
    event: { entity_identity: text },
    status: 200,
  })),
  {
    what: "a raw plus that was signed as one",
    request: bodyOf(having({ entity_identity: "a+b" }), (body) => body.replace("a%2Bb", "a+b")),
    status: 403,
  },
  {
    what: "NFD for NFC",
    request: bodyOf(having({ entity_identity: "\u00e9" }), (body) =>
      body.replace("%C3%A9", "e%CC%81"),
    ),
    status: 403,
  },
  ...["%zz", "%", "%E0%A4%A", "%FF", "%C0%AF", "%ED%A0%80"].map((escape): HostileRow => ({
    what: `the escape ${escape}`,
    request: bodyOf(good, (body) => `${body}&a=${escape}`),
    status: 400,
    code: "BODY_MALFORMED",
  })),
  {
    what: "a value of 64 kB",
    request: withPairs(["a", "x".repeat(65_536)]),
    status: 413,
    code: "BODY_TOO_LARGE",
  },
  { what: "10,000 parameters", request: bodyOf(good, () => "a=1&".repeat(10_000)), status: 413 },
  {
    what: "thousands of nested brackets",
    request: withPairs([`b${"[b]".repeat(5_000)}`, "1"]),
    status: 200,
  },
  { what: "a byte order mark", request: bodyOf(good, (body) => `\uFEFF${body}`), status: 403 },
  { what: "another cut of the same text", request: recut(), status: 400 },
  ...[undefined, "", "x".repeat(257), "x".repeat(10_000)].map((uuid): HostileRow => ({
    what: `the uuid ${String(uuid).slice(0, 9)}`,
    request: having({ uuid }),
    status: 400,
  })),
  ...["meta", "0", "a:b", "x".repeat(256)].map((uuid): HostileRow => ({
    what: `the uuid ${uuid.slice(0, 9)}`,
    request: having({ uuid }),
    event: { uuid },
    status: 200,
  })),
  ...[
    `AC${"0".repeat(31)}`,
    `AC${"0".repeat(33)}`,
    `${ACCOUNT_SID}\n`,
    ACCOUNT_SID.toLowerCase(),
    `\n${ACCOUNT_SID}`,
  ].map((account_sid): HostileRow => ({
    what: `the account ${JSON.stringify(account_sid)}`,
    request: having({ account_sid }),
    status: 400,
  })),
  {
    what: "another account",
    request: good,
    options: { allowedAccountSids: [`AC${"0".repeat(32)}`] },
    status: 403,
    code: "ACCOUNT_NOT_ALLOWED",
  },
  {
    what: "another service",
    request: good,
    options: { allowedServiceSids: [`VA${"0".repeat(32)}`] },
    status: 403,
    code: "ACCOUNT_NOT_ALLOWED",
  },
  {
    what: "an allowed account and service",
    request: good,
    options: { allowedAccountSids: [ACCOUNT_SID], allowedServiceSids: [SERVICE_SID] },
    status: 200,
  },
  ...[
    "{",
    "[]",
    '"x"',
    "null",
    '{"a":1}',
    `{"a":"${"x".repeat(1024)}"}`,
    "[".repeat(9_000),
    '{"__proto__":{"a":"b"}}',
  ].map((text): HostileRow => ({
    what: `the metadata ${text.slice(0, 12)}`,
    request: having({ factor_metadata: text }),
    event: { issues: [expect.objectContaining({ param: "factor_metadata" })] },
    status: 200,
  })),
  {
    what: "a challenge event without its challenge",
    request: having({ challenge_sid: undefined }),
    status: 400,
  },
  {
    what: "a factor event with a challenge",
    request: signedRequestOf([...eventPairs("factor.created"), ["challenge_sid", "x"]]),
    status: 200,
  },
  {
    what: "v1 on an endpoint of v2",
    request: eventRequest("challenge.approved", {}, { version: "v1" }),
    event: { version: "v1" },
    status: 200,
  },
];

const head = rawRequest({ ...good, body: undefined }).replace("\r\n\r\n", "\r\n");
const length = Buffer.byteLength(good.body ?? "");

const BODIES: HostileRow[] = [
  {
    what: "none",
    request: { ...good, body: "" },
    status: 403,
    code: "SIGNATURE_MISMATCH",
  },
  {
    what: "JSON",
    request: { ...good, body: '{"type":"challenge.approved"}' },
    status: 403,
    code: "SIGNATURE_MISMATCH",
  },
  {
    what: "bytes that are not UTF-8",
    raw: [`${head}content-length: 3\r\n\r\n`, Buffer.from([0x61, 0x3d, 0xff])],
    status: 400,
    code: "BODY_MALFORMED",
  },
  { what: "a GET", request: eventRequest("factor.created", {}, { method: "GET" }), status: 200 },
  {
    what: "a GET with broken percent-encoding",
    request: {
      ...eventRequest("factor.created", {}, { method: "GET" }),
      path: `${PATH}?a=%zz`,
    },
    status: 400,
    code: "BODY_MALFORMED",
  },
  {
    what: "two lengths",
    raw: [`${head}content-length: ${length}\r\ncontent-length: 1\r\n\r\n`, good.body ?? ""],
    status: 400,
  },
  {
    what: "a length and chunks",
    raw: [
      `${head}content-length: ${length}\r\ntransfer-encoding: chunked\r\n\r\n`,
      good.body ?? "",
    ],
    status: 400,
  },
  { what: "a negative length", raw: [`${head}content-length: -1\r\n\r\n`], status: 400 },
  { what: "bare line feeds", raw: [rawRequest(good).replaceAll("\r\n", "\n")], status: [400, 0] },
  {
    what: "a chunk without its end",
    raw: [`${head}transfer-encoding: chunked\r\n\r\n5\r\nabc`],
    options: { bodyTimeoutMs: 60 },
    status: 408,
    code: "BODY_TIMEOUT",
  },
  {
    what: "a chunk of a nonsense size",
    raw: [`${head}transfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n`],
    status: [400, 0],
  },
  {
    what: "a gzip bomb",
    raw: [`${head}content-encoding: gzip\r\ncontent-length: 20\r\n\r\n`, Buffer.alloc(20)],
    status: 415,
  },
  {
    what: "an announced gigabyte",
    raw: [`${head}content-length: 1000000000\r\n\r\n`],
    status: 413,
  },
  {
    what: "endless chunks",
    raw: [
      `${head}transfer-encoding: chunked\r\n\r\n`,
      ...Array(80).fill(`400\r\n${"y".repeat(1024)}\r\n`),
    ],
    status: 413,
  },
  {
    what: "an upgrade",
    raw: [rawRequest(good, ["connection: upgrade", "upgrade: websocket"])],
    status: [200, 400],
  },
  { what: "an expectation", raw: [rawRequest(good, ["expect: 100-continue"])], status: [100, 200] },
  { what: "HTTP/1.0", raw: [rawRequest(good).replace("HTTP/1.1", "HTTP/1.0")], status: 200 },
  {
    what: "bytes that are not HTTP",
    raw: ["\u0016\u0003\u0001\u0002\u0000\r\n\r\n"],
    status: [400, 0],
  },
  {
    what: "a GET with a body",
    raw: [rawRequest({ ...eventRequest("factor.created", {}, { method: "GET" }), body: "a=b" })],
    status: 403,
  },
  {
    what: "a POST as a GET",
    raw: [rawRequest({ ...good, method: "GET", body: undefined, path: `${PATH}?${good.body}` })],
    status: 403,
  },
  {
    what: "a GET as a POST",
    raw: [
      rawRequest({
        ...eventRequest("factor.created", {}, { method: "GET" }),
        method: "POST",
        body: "",
      }),
    ],
    status: [415, 403],
  },
  {
    what: "a fragment in a GET",
    raw: [
      rawRequest({
        ...eventRequest("factor.created", {}, { method: "GET" }),
        path: `${eventRequest("factor.created", {}, { method: "GET" }).path}#&a=b`,
      }),
    ],
    status: [400, 403],
  },
  ...["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "PROPFIND", "PURGE"].map(
    (method): HostileRow => ({
      what: method,
      raw: [rawRequest({ ...good, method })],
      status: 405,
      code: "METHOD_NOT_ALLOWED",
    }),
  ),
  {
    what: "TRACE",
    raw: [rawRequest({ ...good, method: "TRACE", body: undefined })],
    status: 405,
    code: "METHOD_NOT_ALLOWED",
  },
  {
    what: "a method to override the method",
    request: withHeaders({ ...good.headers, "x-http-method-override": "DELETE" }),
    status: 200,
  },
];

/** All rows, by their hostile part. */
export const HOSTILE_ROWS = {
  signature: SIGNATURES,
  URL: URLS,
  parameters: PARAMETERS,
  body: BODIES,
};

function upperCased(raw: string): string {
  return raw.replace(header, header.toUpperCase());
}

/** The same signed text cut into other names and values. */
function recut(): TestRequest {
  const { body = "", ...request } = good;
  return { ...request, body: body.replace("type=challenge.approved", "typechal=lenge.approved") };
}

function flipBit(text: string): string {
  const bytes = Buffer.from(text, "base64");
  bytes[7] = (bytes[7] ?? 0) ^ 1;
  return bytes.toString("base64");
}
