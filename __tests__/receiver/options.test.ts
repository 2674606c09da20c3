import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { pushWebhooks, verifyPushRequest } from "express-push-verification";
import { words } from "../support/attacker-texts";
import { silent } from "../support/receivers";
import { ACCOUNT_SID, AUTH_TOKEN, PUBLIC_URL, SERVICE_SID } from "../support/webhook-requests";

const good = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };
const TWO_ACCOUNTS = [ACCOUNT_SID, ACCOUNT_SID.replace("AC3", "AC4")];
const eventQueue = { store() {}, outcomes: {} };
const store = { claim: () => "new", complete() {}, release() {} };

const NO_NUMBERS = [0, -1, 1.5, "64kb", Number.NaN, Number.POSITIVE_INFINITY, null];

/** Values that each option rejects. */
const BAD: Record<string, unknown[]> = {
  authToken: [undefined, null, "", [], [""], [AUTH_TOKEN, ""], 5, {}, Buffer.from("x")],
  publicUrl: [
    "",
    ...words("/webhooks/push hooks.example.test/push //hooks.example.test/push https: https://"),
    ...words("ftp://hooks.example.test/push https:///push https://hooks.example.test:99999/push"),
    " https://hooks.example.test/push",
    "https://hooks.example.test/push ",
    "https://hooks.example.test/pu sh",
    "https://hooks.example.test/\uD800",
    "http://[hooks",
    new URL(PUBLIC_URL),
    undefined,
    5,
    [],
    ["/push"],
    [PUBLIC_URL, ""],
    Array<string>(21).fill(PUBLIC_URL),
  ],
  signatureHeader: ["", "X Signature", "X-Sig:", "é", 5],
  urlMatching: ["any", "", true],
  limitBytes: NO_NUMBERS,
  handlerTimeoutMs: [...NO_NUMBERS, 2 ** 31],
  deadlineMs: [99, 1.5, "14s"],
  allowedAccountSids: [
    "",
    ACCOUNT_SID,
    [SERVICE_SID],
    [],
    [ACCOUNT_SID, "x"],
    [[ACCOUNT_SID]],
    /^AC/,
  ],
  allowedServiceSids: ["", SERVICE_SID, [ACCOUNT_SID], [], 5],
  acknowledge: ["never", true],
  confirm: [true],
  dedupe: [true, null, {}, { claim() {}, complete() {} }],
  queue: [null, {}, { store() {} }],
  forwardErrors: ["yes", 1],
  logger: [console.log, {}, true, { ...silent, warn: 1 }],
  name: ["", "a b", 5, "x".repeat(101)],
  handlers: [{ on() {} }],
  extraParameters: [
    ...["", "x".repeat(101), "type", "AccountSid", "date_entity_identity", 5].map((name) => [name]),
    "event_id",
  ],
};

/** Options that do not go together, and names that there are not. */
const MISTAKES: [message: string, options: object][] = [
  ["dedupe", { queue: eventQueue, dedupe: false }],
  ["acknowledge", { queue: eventQueue, acknowledge: "before" }],
  ["confirmTypes", { confirm: () => true, confirmTypes: [] }],
  ["confirmTypes", { confirm: () => true, confirmTypes: ["challenge.expired"] }],
  ["confirmTypes", { confirmTypes: ["challenge.approved"] }],
  ["handlerTimeoutMs", { deadlineMs: 5_000, handlerTimeoutMs: 5_001 }],
  ["a function", { authToken: ["one", "two"], allowedAccountSids: TWO_ACCOUNTS }],
  ...["accountSid", "account_sid", "accounts"].map((name): [string, object] => [
    `there is no option "${name}". Did you mean "allowedAccountSids"?`,
    { [name]: ACCOUNT_SID },
  ]),
  ['Did you mean "allowedServiceSids"?', { serviceSid: SERVICE_SID }],
  ...["publicURL", "webhook_url", "webhookUrl"].map((name): [string, object] => [
    'Did you mean "publicUrl"?',
    { [name]: PUBLIC_URL },
  ]),
  ["token", { token: AUTH_TOKEN }],
];

describe("pushWebhooks", () => {
  it.each([
    ...Object.entries(BAD).flatMap(([name, values]) =>
      values.map((value) => [name, { ...good, [name]: value }] as const),
    ),
    ...MISTAKES.map(([message, options]) => [message, { ...good, ...options }] as const),
    ...[undefined, null, AUTH_TOKEN, [], () => {}].map((options) => ["options", options] as const),
  ])("rejects with %j in the message: %p", (message, options) => {
    const make = () => pushWebhooks(options as never);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
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
    [{ signatureHeader: "X-Twilio-Signature", urlMatching: "exact", limitBytes: 1 }],
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

describe("close", () => {
  it.each([{ deadlineMs: -1 }, { deadlineMs: 1.5 }, { deadlineMs: "1s" }, { timeoutMs: 1 }, 5])(
    "rejects the options %j",
    async (options) => {
      const push = pushWebhooks(good);
      expect(() => push.close(options as never)).toThrow(TypeError);
      await push.close({ deadlineMs: 0 });
    },
  );
});

describe("verifyPushRequest", () => {
  it.each([
    ["deadlineMs", 5],
    ["acknowledge", "after"],
    ["publicUrl", "x"],
    ["accountSid", ACCOUNT_SID],
  ])("rejects the option %s", async (name, value) => {
    const request = { method: "POST", url: "/", headers: {}, body: "" };
    const verified = verifyPushRequest(request, { ...good, [name]: value });
    await expect(verified).rejects.toThrow(TypeError);
  });
});
