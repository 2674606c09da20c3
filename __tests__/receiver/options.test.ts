import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { pushWebhooks, verifyPushRequest } from "express-push-verification";
import { ACCOUNT_SID, AUTH_TOKEN, PUBLIC_URL, SERVICE_SID } from "../support/webhook-requests";

const good = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const TWO_ACCOUNTS = [ACCOUNT_SID, ACCOUNT_SID.replace("AC3", "AC4")];
const eventQueue = { store() {}, outcomes: {} };
const store = { claim: () => "new", complete() {}, release() {} };

const bad: [option: string, options: object][] = [
  ["authToken", { publicUrl: PUBLIC_URL }],
  ["publicUrl", { authToken: AUTH_TOKEN }],
  ...[undefined, null, "", [], [""], [AUTH_TOKEN, ""], 5, {}, new Set(["x"]), Buffer.from("x")].map(
    (authToken): [string, object] => ["authToken", { ...good, authToken }],
  ),
  ...[
    "",
    "/webhooks/push",
    "hooks.example.test/push",
    "//hooks.example.test/push",
    "ftp://hooks.example.test/push",
    "https:",
    "https://",
    "https:///push",
    "https://hooks.example.test:99999/push",
    " https://hooks.example.test/push",
    "https://hooks.example.test/push ",
    "https://hooks.example.test/pu sh",
    new URL(PUBLIC_URL),
    undefined,
    5,
  ].map((publicUrl): [string, object] => ["publicUrl", { ...good, publicUrl }]),
  ...["", "X Signature", "X-Sig:", "é", 5].map((signatureHeader): [string, object] => [
    "signatureHeader",
    { ...good, signatureHeader },
  ]),
  ...["any", "", true].map((urlMatching): [string, object] => [
    "urlMatching",
    { ...good, urlMatching },
  ]),
  ...[0, -1, 1.5, "64kb", Number.NaN, Number.POSITIVE_INFINITY, null].flatMap(
    (number): [string, object][] => [
      ["limitBytes", { ...good, limitBytes: number }],
      ["bodyTimeoutMs", { ...good, bodyTimeoutMs: number }],
      ["handlerTimeoutMs", { ...good, handlerTimeoutMs: number }],
    ],
  ),
  ["handlerTimeoutMs", { ...good, handlerTimeoutMs: 2 ** 31 }],
  ...["", "AC1", ACCOUNT_SID, [SERVICE_SID], [], [ACCOUNT_SID, "x"], /^AC/].map(
    (allowedAccountSids): [string, object] => [
      "allowedAccountSids",
      { ...good, allowedAccountSids },
    ],
  ),
  ...["", SERVICE_SID, [ACCOUNT_SID], [], 5].map((allowedServiceSids): [string, object] => [
    "allowedServiceSids",
    { ...good, allowedServiceSids },
  ]),
  ...["never", true].map((acknowledge): [string, object] => [
    "acknowledge",
    { ...good, acknowledge },
  ]),
  ...[true, null, {}, { claim() {}, complete() {} }].map((dedupe): [string, object] => [
    "dedupe",
    { ...good, dedupe },
  ]),
  ...[null, {}, { store() {} }].map((queue): [string, object] => ["queue", { ...good, queue }]),
  ...[[], ["/push"], [PUBLIC_URL, ""]].map((publicUrl): [string, object] => [
    "publicUrl",
    { ...good, publicUrl },
  ]),
  ["dedupe", { ...good, queue: eventQueue, dedupe: false }],
  ["acknowledge", { ...good, queue: eventQueue, acknowledge: "before" }],
  ...["yes", 1].map((forwardErrors): [string, object] => [
    "forwardErrors",
    { ...good, forwardErrors },
  ]),
  ...[console.log, {}, true, { ...logger, warn: 1 }].map((log): [string, object] => [
    "logger",
    { ...good, logger: log },
  ]),
  ...[99, 1.5, "14s"].map((deadlineMs): [string, object] => [
    "deadlineMs",
    { ...good, deadlineMs },
  ]),
  ["bodyTimeoutMs", { ...good, bodyTimeoutMs: 14_001 }],
  ["handlerTimeoutMs", { ...good, deadlineMs: 5_000, handlerTimeoutMs: 5_001 }],
  ...["", "a b", 5, "x".repeat(101)].map((name): [string, object] => ["name", { ...good, name }]),
  ["handlers", { ...good, handlers: { on() {} } }],
  ...[
    "event_id",
    [""],
    ["x".repeat(101)],
    ["type"],
    ["AccountSid"],
    ["date_entity_identity"],
    [5],
  ].map((extraParameters): [string, object] => ["extraParameters", { ...good, extraParameters }]),
  [
    "a function",
    {
      ...good,
      authToken: ["one", "two"],
      allowedAccountSids: TWO_ACCOUNTS,
    },
  ],
  ['Did you mean "allowedAccountSids"?', { ...good, accountSid: ACCOUNT_SID }],
  ['Did you mean "allowedServiceSids"?', { ...good, serviceSid: SERVICE_SID }],
  ["publicURL", { ...good, publicURL: PUBLIC_URL }],
  ['Did you mean "publicUrl"?', { ...good, webhook_url: PUBLIC_URL }],
  ["token", { ...good, token: AUTH_TOKEN }],
];

describe("pushWebhooks", () => {
  it.each(bad)("rejects a bad %s: %p", (option, options) => {
    const make = () => pushWebhooks(options as never);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(option);
    expect(make).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining(AUTH_TOKEN) }),
    );
  });

  it.each([undefined, null, AUTH_TOKEN, [], () => {}])("rejects %p as options", (options) => {
    const make = () => pushWebhooks(options as never);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining(AUTH_TOKEN) }),
    );
  });

  it("explains the mistake of app.use(pushWebhooks)", () => {
    const req = new IncomingMessage(new Socket());
    expect(() => pushWebhooks(req as never)).toThrow("app.use(path, pushWebhooks({");
  });

  it.each<[object]>([
    [{}],
    [{ authToken: [AUTH_TOKEN, "next"] }],
    [{ authToken: async () => AUTH_TOKEN }],
    [{ publicUrl: "http://localhost:3000/" }],
    [{ publicUrl: "HTTPS://bücher.example/push?a='&b#rc=2" }],
    [{ publicUrl: "https://bot:pw@[::1]:8443/push" }],
    [
      {
        signatureHeader: "X-Twilio-Signature",
        urlMatching: "exact",
        limitBytes: 1,
        bodyTimeoutMs: 1,
      },
    ],
    [{ allowedAccountSids: [ACCOUNT_SID], allowedServiceSids: [SERVICE_SID] }],
    [{ acknowledge: "before", handlerTimeoutMs: 2 ** 31 - 1, dedupe: false, forwardErrors: true }],
    [{ dedupe: store, logger: console }],
    [{ authToken: () => AUTH_TOKEN, allowedAccountSids: TWO_ACCOUNTS }],
    [{ authToken: AUTH_TOKEN, allowedAccountSids: TWO_ACCOUNTS }],
    [{ authToken: [AUTH_TOKEN, "next"], allowedAccountSids: [ACCOUNT_SID] }],
    [{ dedupe: undefined, logger: undefined, limitBytes: undefined }],
  ])("accepts %p", (options) => {
    expect(() => pushWebhooks({ ...good, ...options })).not.toThrow();
  });
});

describe("verifyPushRequest", () => {
  it.each([
    ["bodyTimeoutMs", 5],
    ["acknowledge", "after"],
    ["publicUrl", "x"],
  ])("rejects the option %s", async (name, value) => {
    const request = { method: "POST", url: "/", headers: {}, body: "" };
    const verified = verifyPushRequest(request, { ...good, [name]: value });
    await expect(verified).rejects.toThrow(TypeError);
  });
});
