import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { pushWebhooks, verifyPushRequest } from "express-push-verification";
import { createReceiver, silent } from "../../support/receivers";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventRequest,
  PUBLIC_URL,
  SERVICE_SID,
} from "../../support/webhook-requests";

const good = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };
const TWO_ACCOUNTS = [ACCOUNT_SID, ACCOUNT_SID.replace("AC3", "AC4")];
const eventQueue = { store() {}, outcomes: {} };
const store = { claim: () => "new", complete() {}, release() {} };

/** Beside the values that each rule rejects, which the tests of kit have. */
const BAD: Record<string, unknown[]> = {
  authToken: [undefined, [], [AUTH_TOKEN, ""], {}, Buffer.from("x")],
  publicUrl: ["/push", [PUBLIC_URL, ""], undefined, [], Array<string>(21).fill(PUBLIC_URL)],
  signatureHeader: ["X Signature", [], ["X-A", ""], [["X-A"]]],
  urlMatching: ["any", true],
  limitBytes: [0, 1.5, "64kb", Number.NaN, null, 2 ** 30 + 1],
  methods: ["POST", [], ["PUT"]],
  handlerTimeoutMs: [0],
  deadlineMs: [99, 2 ** 31],
  allowedAccountSids: [ACCOUNT_SID, [SERVICE_SID], [], [ACCOUNT_SID, "x"]],
  allowedServiceSids: [[ACCOUNT_SID]],
  acknowledge: ["never"],
  confirm: [true],
  dedupe: [true, null, { claim() {}, complete() {} }, { claim() {}, release() {} }],
  queue: [null, { store() {} }, { outcomes: {} }],
  forwardErrors: ["yes"],
  logger: [console.log, { ...silent, warn: 1 }],
  name: ["", "a b", 5, "x".repeat(101)],
  handlers: [{ on() {} }],
  extraParameters: [
    ...["", "x".repeat(101), "type", "AccountSid", "xbodySHA256", "date_entity_identity", 5].map(
      (name) => [name],
    ),
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
  ["handlerTimeoutMs", { handlerTimeoutMs: 14_001 }],
  ["a function", { authToken: ["one", "two"], allowedAccountSids: TWO_ACCOUNTS }],
  ['"tz" together with "webhook_uuid"', { extraParameters: ["tz", "webhook_uuid"] }],
  ['no option "account_sid". Did you mean "allowedAccountSids"?', { account_sid: ACCOUNT_SID }],
  ['Did you mean "publicUrl"?', { webhookUrl: PUBLIC_URL }],
  ["token", { token: AUTH_TOKEN }],
];

describe("pushWebhooks", () => {
  it.each([
    ...Object.entries(BAD).flatMap(([name, values]) =>
      values.map((value) => [name, { ...good, [name]: value }] as const),
    ),
    ...MISTAKES.map(([message, options]) => [message, { ...good, ...options }] as const),
    ...[null, AUTH_TOKEN, () => {}].map((options) => ["options", options] as const),
  ])("rejects with %j in the message: %p", (message, options) => {
    const make = () => pushWebhooks(options as never);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
    expect(make).not.toThrow(AUTH_TOKEN);
  });

  it("explains the mistake of app.use(pushWebhooks)", () => {
    const req = new IncomingMessage(new Socket());
    expect(() => pushWebhooks(req as never)).toThrow("app.use(path, pushWebhooks({");
  });

  it.each<object>([
    { publicUrl: "HTTPS://bücher.example/push?a='&b#rc=2" },
    { publicUrl: "https://bot:pw@[::1]:8443/push" },
    { signatureHeader: "X-Twilio-Signature", urlMatching: "exact", limitBytes: 1 },
    { acknowledge: "before", handlerTimeoutMs: 2 ** 31 - 1, dedupe: false, forwardErrors: true },
    { dedupe: store, logger: console },
    { authToken: () => AUTH_TOKEN, allowedAccountSids: TWO_ACCOUNTS },
    { authToken: [AUTH_TOKEN], allowedAccountSids: TWO_ACCOUNTS },
    { authToken: [AUTH_TOKEN, "next"], allowedAccountSids: [ACCOUNT_SID] },
    { name: `a_B.-${"1".repeat(95)}` },
    { handlerTimeoutMs: 14_000 },
    { publicUrl: Array<string>(20).fill(PUBLIC_URL) },
    { extraParameters: ["x".repeat(100), "entity_identity_type"] },
    { extraParameters: ["event_id", "tz", "device_uuid", "uuid_version"] },
    { extraParameters: ["event_id", "webhook_uuid", "z"] },
  ])("accepts %p", (options) => {
    expect(() => pushWebhooks({ ...good, ...options })).not.toThrow();
  });
});

it("copies the lists of its options", async () => {
  const [authToken, extraParameters] = [["next", AUTH_TOKEN], ["event_id"]];
  const { receive } = createReceiver({ authToken, extraParameters });
  authToken.length = 1;
  extraParameters.length = 0;
  expect(await receive(eventRequest("factor.created", { event_id: "1" }))).toBe(200);
});

it.each([{ deadlineMs: -1 }, { timeoutMs: 1 }])("close rejects %j", async (options) => {
  const push = pushWebhooks(good);
  expect(() => push.close(options as never)).toThrow(TypeError);
  await push.close({ deadlineMs: 0 });
});

const REFUSED = [{ deadlineMs: 5 }, { acknowledge: "after" }, { publicUrl: "x" }];
it.each(REFUSED)("verifyPushRequest rejects %j", async (options) => {
  const request = { method: "POST", url: "/", headers: {}, body: "" };
  await expect(verifyPushRequest(request, { ...good, ...options })).rejects.toThrow(TypeError);
});
