/** Hostile requests of untrusted clients, with and without a valid signature: one row each. */
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
import { words } from "./attacker-texts";
import { PATH, rawRequest } from "./servers";

const header = "x-service-signature";
const twilio = "x-twilio-signature";
const FORM = "application/x-www-form-urlencoded";
/** The request that the rows change. */
export const good = eventRequest("challenge.approved");
export const signature = good.headers[header] ?? "";

type Bytes = readonly (string | Buffer)[];

export type HostileRow = readonly [
  what: string,
  sent: TestRequest | Bytes,
  /** The code of the rejection, or the possible statuses; 0 without a response. */
  result: WebhookErrorCode | number | readonly number[],
  more?: {
    options?: Partial<PushWebhooksOptions>;
    event?: object;
  },
];

const NO_BODY = { ...good, body: undefined };
const withHeaders = (headers: Record<string, string>): TestRequest => ({ ...good, headers });
const withHeader = (name: string, value: string) => withHeaders({ ...good.headers, [name]: value });
const withSignature = (value: string) => withHeader(header, value);
const typed = (type: string) => withHeader("content-type", type);
const signedBytes = (value: string) => [rawRequest(good).replace(signature, value)];
const bytesAt = (path: string) => [rawRequest({ ...good, path })];
const having = (overrides: Record<string, string>) => eventRequest("challenge.approved", overrides);
const named = (identity: string) => having({ entity_identity: identity });
const withPairs = (...pairs: [string, string][]) =>
  signedRequestOf([...eventPairs("challenge.approved"), ...pairs]);
const signedFor = (publicUrl: string): TestRequest => ({
  ...eventRequest("challenge.approved", {}, { publicUrl }),
  path: PATH,
});
const signedAt = (end: string) => signedFor(PUBLIC_URL + end);
const withBody = (change: (body: string) => string, request = good): TestRequest => ({
  ...request,
  body: change(request.body ?? ""),
});

/** What a row has more: fields of its event, or options of the receiver. */
const read = (event: object) => ({ event });
const by = (options: Partial<PushWebhooksOptions>) => ({ options });
const DENIED = "ACCOUNT_NOT_ALLOWED";
const UNSUPPORTED = "CONTENT_TYPE_UNSUPPORTED";

const other = signature.startsWith("A") ? "B" : "A";

const SIGNATURES: HostileRow[] = [
  ["none", withHeaders({ "content-type": FORM }), "SIGNATURE_MISSING"],
  ["an empty one", withSignature(""), "SIGNATURE_MISSING"],
  ["another first character", withSignature(`${other}${signature.slice(1)}`), "SIGNATURE_MISMATCH"],
  ["no padding", withSignature(signature.slice(0, -1)), "SIGNATURE_MALFORMED"],
  ["in a header of another case", [rawRequest(good).replace(header, header.toUpperCase())], 200],
  ["white space inside", signedBytes(`${signature.slice(0, 9)} ${signature.slice(9)}`), 403],
  ["white space around", signedBytes(` \t${signature} `), 200],
  ["the valid one, twice", [rawRequest(good, [`${header}: ${signature}`])], "SIGNATURE_MALFORMED"],
  ["under both names, one empty", [rawRequest(good, [`${twilio}:`])], "SIGNATURE_MALFORMED"],
  ["of the URL without parameters", { ...signedRequestOf([]), body: good.body }, 403],
  ["by another token", eventRequest("challenge.approved", {}, { authToken: "x" }), 403],
  ["by the previous token", good, 200, by({ authToken: ["next", AUTH_TOKEN] })],
];

const withPort = PUBLIC_URL.replace(".test/", ".test:443/");
const forwarded = ["x-forwarded-host: evil.example", "x-forwarded-proto: http"];

const URLS: HostileRow[] = [
  ["http for https", signedFor(PUBLIC_URL.replace("https", "http")), 403],
  ["another Host", [rawRequest(good)], 200],
  ["forwarded for another host", [rawRequest(good, forwarded)], 200],
  ["an explicit port", signedFor(withPort), 200],
  ["an explicit port, matched exactly", signedFor(withPort), 403, by({ urlMatching: "exact" })],
  ["an added query", signedAt("?a=b"), 403],
  ["a query, encoded again", signedAt("?q=%27"), 403, by({ publicUrl: `${PUBLIC_URL}?q='` })],
  ["a fragment in publicUrl", good, 200, by({ publicUrl: `${PUBLIC_URL}#rc=2` })],
  ["a fragment in the target", bytesAt(`${PATH}#x`), [200, 400]],
  ["a query of a POST", bytesAt(`${PATH}?type=x`), 200, read({ type: "challenge.approved" })],
  ["a target that begins with two slashes", bytesAt("//evil.example/raw"), [404, 200]],
  ["raw UTF-8 in the target", [Buffer.from(bytesAt(`${PATH}/ö`).join(""))], [200, 400, 404]],
];

const untyped = withHeaders({ [header]: signature });

const TYPES: HostileRow[] = [
  ...[
    ...words(`application/x-www-urlencoded ${FORM} ${FORM};charset=utf-8 ${FORM};`),
    "APPLICATION/X-WWW-URLENCODED ; Charset=Utf8",
    `${FORM} ; Charset="UTF-8" ; a=b`,
    `${FORM}; boundary="charset=utf-16"`,
    String.raw`${FORM}; a="\";charset=utf-16"; charset=utf-8`,
    ...["charset=", 'charset=""', "charset='utf-8'", 'charset=" UTF-8 "', "charset=US-ASCII"].map(
      (parameter) => `${FORM}; ${parameter}`,
    ),
    `${FORM}, ${FORM}; charset=utf-8`,
  ].map((type): HostileRow => [type, typed(type), 200]),
  ...[
    ...words(`application/json multipart/form-data;boundary=x ${FORM}x`),
    ...[" charset =latin1", "charset=utf-8x", "charset=xutf-8", 'charset="utf-16"'].map(
      (parameter) => `${FORM}; ${parameter}`,
    ),
    `${FORM}; charset=utf-8; charset=utf-16`,
  ].map((type): HostileRow => [type, typed(type), UNSUPPORTED]),
  ["none", untyped, UNSUPPORTED],
  // HTTP/2 does not announce a body, so a type is missing there.
  ["none, and no body", [rawRequest({ ...untyped, body: undefined })], 403],
  ["one without a body", { ...typed("text/plain"), body: undefined }, UNSUPPORTED],
  ["two equal ones", [rawRequest(good, [`content-type: ${FORM}`])], 200],
  [
    "two, of which one is no form",
    [rawRequest(good, ["content-type: application/json"])],
    UNSUPPORTED,
  ],
  ["a list, of which one is no form", typed(`${FORM}, application/json`), UNSUPPORTED],
  ...["", "Identity", "identity, identity", "none", "UTF-8"].map((encoding): HostileRow => [
    `the encoding ${JSON.stringify(encoding)}`,
    withHeader("content-encoding", encoding),
    200,
  ]),
  [
    "two encodings that compress nothing",
    [rawRequest(good, ["content-encoding: identity", "content-encoding: none"])],
    200,
  ],
  ...["gzip", "BR, gzip", "identity, gzip", "deflate", "zstd", "x y"].map(
    (encoding): HostileRow => [
      `the encoding ${encoding}`,
      withHeader("content-encoding", encoding),
      UNSUPPORTED,
    ],
  ),
];

const allowing = (account: string, service: string) =>
  by({ allowedAccountSids: [account], allowedServiceSids: [service] });
const declared = (name: string) => ({
  // One that sorts before account_sid must be declared.
  ...by(name < "account_sid" ? { extraParameters: [name] } : {}),
  ...read({ params: expect.arrayContaining([[name, "x"]]) }),
});
const later = { uuid: "1", type: "factor.suspended", account_sid: ACCOUNT_SID };
const anonymous = signedRequestOf(Object.entries(later));
const entity = (entity_identity: string) => read({ entity_identity });
const issues = read({ issues: [expect.objectContaining({ param: "factor_metadata" })] });
const legacy = eventRequest("challenge.approved", {}, { version: "v1" });

const PARAMETERS: HostileRow[] = [
  ["an unknown type", having({ type: "challenge.late" }), 200, read({ type: "challenge.late" })],
  ["none at all", signedRequestOf([]), "PAYLOAD_INVALID"],
  ["a known one twice, equal", withPairs(["type", "challenge.approved"]), "PAYLOAD_INVALID"],
  ["a known one twice, different", withPairs(["type", "challenge.denied"]), "PAYLOAD_INVALID"],
  ["an unknown one twice", withPairs(["tag", "b"], ["tag", "a"], ["tag", "b"]), 200],
  ...["__proto__", "constructor[prototype][z]", "[]"].map((name): HostileRow => [
    `one named ${name}`,
    withPairs([name, "x"]),
    200,
    declared(name),
  ]),
  ["__proto__ that was not signed", withBody((body) => `${body}&__proto__=x`), 403],
  ...["a+b", "a%20b", " a ", "a\r\nb\t", "a\u0000b", "Zoë 😀 \u202Eabc", "&=%"].map(
    (text): HostileRow => [`the value ${JSON.stringify(text)}`, named(text), 200, entity(text)],
  ),
  ["a raw plus", withBody((body) => body.replace("a%2Bb", "a+b"), named("a+b")), 403],
  ["NFD for NFC", withBody((body) => body.replace("%C3%A9", "e%CC%81"), named("\u00e9")), 403],
  ["a broken escape", withBody((body) => `${body}&a=%zz`), "BODY_MALFORMED"],
  ["an escape that is not UTF-8", withBody((body) => `${body}&a=%C0%AF`), "BODY_MALFORMED"],
  ["a value of 64 kB", withPairs(["a", "x".repeat(65_536)]), "BODY_TOO_LARGE"],
  ["10,000 parameters", withBody(() => "a=1&".repeat(10_000)), "BODY_TOO_LARGE"],
  ["thousands of nested brackets", withPairs([`b${"[b]".repeat(5_000)}`, "1"]), 200],
  ["a byte order mark", withBody((body) => `\uFEFF${body}`), 403],
  ["another cut of the same text", withBody((body) => body.replace("type=chal", "typechal=")), 400],
  ["a uuid of 10 kB", having({ uuid: "x".repeat(10_000) }), "PAYLOAD_INVALID"],
  ["the uuid meta", having({ uuid: "meta" }), 200, read({ uuid: "meta" })],
  ["a malformed SID", having({ factor_sid: "YF1" }), "PAYLOAD_INVALID"],
  ["another account", good, DENIED, allowing(`AC${"0".repeat(32)}`, SERVICE_SID)],
  ["another service", good, DENIED, allowing(ACCOUNT_SID, `VA${"0".repeat(32)}`)],
  ["no service, an unknown type", anonymous, DENIED, allowing(ACCOUNT_SID, `VA${"0".repeat(32)}`)],
  ["an allowed account and service", good, 200, allowing(ACCOUNT_SID, SERVICE_SID)],
  ["metadata with __proto__", having({ factor_metadata: '{"__proto__":{"a":"b"}}' }), 200, issues],
  ["v1 on an endpoint of v2", legacy, 200, read({ version: "v1" })],
];

const head = rawRequest(NO_BODY).replace("\r\n\r\n", "\r\n");
const ofLength = (length: number | string) => `${head}content-length: ${length}\r\n`;
const length = Buffer.byteLength(good.body ?? "");
const CHUNKED = "transfer-encoding: chunked\r\n\r\n";
const chunked = head + CHUNKED;
const CHUNK = `400\r\n${"y".repeat(1024)}\r\n`;
const get = eventRequest("factor.created", {}, { method: "GET" });
const asGet = { ...good, method: "GET", body: undefined };

const BODIES: HostileRow[] = [
  ["none", { ...good, body: "" }, "SIGNATURE_MISMATCH"],
  ["no UTF-8", [`${ofLength(3)}\r\n`, Buffer.from([0x61, 0x3d, 0xff])], "BODY_MALFORMED"],
  ["as many bytes as limitBytes", good, 200, by({ limitBytes: length })],
  ["a GET", get, 200],
  ["a GET of length 0", { ...get, headers: { ...get.headers, "content-length": "0" } }, 200],
  ["a GET with broken percent-encoding", { ...get, path: `${PATH}?a=%zz` }, "BODY_MALFORMED"],
  ["a chunk without its end", [`${chunked}5\r\nabc`], "BODY_TIMEOUT", by({ deadlineMs: 1_000 })],
  ["an announced gigabyte", [`${ofLength(1e9)}\r\n`], "BODY_TOO_LARGE"],
  ["endless chunks", [chunked, ...Array<string>(80).fill(CHUNK)], "BODY_TOO_LARGE"],
  ["an upgrade", [rawRequest(good, ["connection: upgrade", "upgrade: websocket"])], [200, 400]],
  ["an expectation", [rawRequest(good, ["expect: 100-continue"])], [100, 200]],
  ["HTTP/1.0", [rawRequest(good).replace("HTTP/1.1", "HTTP/1.0")], 200],
  ["a GET with a body", [rawRequest({ ...get, body: "a=b" })], 403],
  ["a GET with a body of no parameters", [rawRequest({ ...get, body: "&" })], "SIGNATURE_MISMATCH"],
  ["a POST as a GET", [rawRequest({ ...asGet, path: `${PATH}?${good.body}` })], 403],
  ["a GET as a POST", [rawRequest({ ...get, method: "POST", body: "" })], [415, 403]],
  ["a fragment in a GET", [rawRequest({ ...get, path: `${get.path}#&a=b` })], [400, 403]],
  ...["HEAD", "OPTIONS", "PUT", "PURGE"].map((method): HostileRow => [
    method,
    [rawRequest({ ...good, method })],
    "METHOD_NOT_ALLOWED",
  ]),
  ["TRACE", [rawRequest({ ...NO_BODY, method: "TRACE" })], "METHOD_NOT_ALLOWED"],
  ["a method to override the method", withHeader("x-http-method-override", "DELETE"), 200],
];

export const HOSTILE_ROWS = {
  signature: SIGNATURES,
  URL: URLS,
  "content type": TYPES,
  parameters: PARAMETERS,
  body: BODIES,
};
