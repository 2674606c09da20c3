/**
 * The specification, sections 2 to 8, row by row: each line names a row and proves that the
 * emulator does it. "not shown" rows are proved as decided.
 */
import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { PUSH_EVENT_TYPES } from "express-push-verification";
import type { WebhookDelivery, Emulator } from "express-push-verification/emulator";
import {
  callApi,
  keysPath,
  startEmulator,
  startTarget,
  stopEmulators,
  webhooksPath,
  type ApiResult,
  type Form,
} from "./support/emulators";

const RFC_2822 = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000$/;
const ISO_8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const FORM: Form = [
  ["FriendlyName", "logins"],
  ["EventTypes", "challenge.approved"],
  ["EventTypes", "challenge.denied"],
  ["WebhookUrl", "https://app.example.com/webhooks/push"],
];

let emulator: Emulator;
/** What the receiver got: method, target, headers and body of each call. */
let calls: { method: string; url: string; contentType: string; signature: string; body: string }[];
let receiverUrl: string;
let status = 200;
let seconds = 0;

beforeEach(async () => {
  calls = [];
  status = 200;
  // One second passes with each look at the clock, so that every date is its own.
  emulator = await startEmulator({ now: () => Date.UTC(2024, 2, 5) + 1000 * seconds++ });
  receiverUrl = `${await startTarget((req, res) => void receive(req, res))}/push`;
});
afterEach(stopEmulators);

async function receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { method = "", url = "", headers } = req;
  const contentType = headers["content-type"] ?? "";
  const signature = String(headers["x-service-signature"]);
  calls.push({ method, url, contentType, signature, body: await text(req) });
  res.writeHead(status, { location: `${receiverUrl}/elsewhere` }).end();
}

const api = (method: string, path: string, options: Parameters<typeof callApi>[3] = {}) =>
  callApi(emulator, method, path, options);
const keys = (rest = "", on = emulator) => `${keysPath(on)}${rest}.json`;
const webhooks = (rest = "") => `${webhooksPath(emulator)}${rest}`;
const createKey = (form: Form = { FriendlyName: "ci" }) => api("POST", keys(), { form });
const createWebhook = (form: Form = FORM) => api("POST", webhooks(), { form });
const without = (name: string): Form =>
  (FORM as [string, string][]).filter(([one]) => one !== name);
const change = async (form: Form) => {
  const { body } = await createWebhook();
  return api("POST", webhooks(`/${body.sid}`), { form });
};
async function keyField(name: string): Promise<string> {
  const { body } = await createKey();
  return (await api("GET", keys(`/${body.sid}`))).body[name];
}
async function webhookField(name: string): Promise<string> {
  const { body } = await createWebhook();
  return (await api("GET", webhooks(`/${body.sid}`))).body[name];
}
/** The middle one of three pages. */
async function middlePage(path: string, count = 3): Promise<ApiResult> {
  for (let made = 0; made < count; made++) await (path === keys() ? createKey() : createWebhook());
  const { body } = await api("GET", `${path}?PageSize=1`);
  return api("GET", body.next_page_uri ?? body.meta.next_page_url);
}
/** Deletes what a path leads to: the status, and that it is gone. */
async function deletion(path: string): Promise<[number, unknown, number]> {
  const { status: done, body } = await api("DELETE", path);
  return [done, body, (await api("GET", path)).status];
}

/** Makes an event happen for a webhook. */
async function makeEvent(
  type: string,
  webhook: { version?: "v1" | "v2"; event_types?: never[]; status?: "disabled" } = {},
  given: Record<string, object> = {},
): Promise<Record<string, string>> {
  emulator.createWebhook({ webhook_url: receiverUrl, event_types: [type as never], ...webhook });
  runStory(given);
  await emulator.settled();
  return Object.fromEntries(new URLSearchParams(calls[0]?.body));
}
/** A user's life: all five events happen once. */
function runStory({ factor = {}, challenge = {}, answer = {} }: Record<string, object> = {}): void {
  const { sid: factor_sid } = emulator.createFactor(factor);
  emulator.verifyFactor(factor_sid);
  const ask = () => emulator.createChallenge({ factor_sid, ...challenge }).sid;
  emulator.approveChallenge(ask(), answer);
  emulator.denyChallenge(ask(), answer);
  emulator.deleteFactor(factor_sid);
}

const every = { os: "Android" };
const METADATA = { factor: { metadata: every }, answer: { metadata: every } };

type Row = [section: string, row: string, proof: () => Promise<unknown>];
const sid = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}[0-9a-fA-F]{32}$`));
const is = async (actual: unknown, expected: unknown) => expect(await actual).toEqual(expected);
const matches = async (actual: unknown, expected: object) =>
  expect(await actual).toMatchObject(expected);

const KEY_FIELDS: Row[] = [
  ["2.1", "Key sid", () => is(keyField("sid"), sid("SK"))],
  ["2.1", "Key friendly_name", () => is(keyField("friendly_name"), "ci")],
  ["2.1", "Key date_created", () => is(keyField("date_created"), expect.stringMatching(RFC_2822))],
  [
    "2.1",
    "Key date_updated",
    async () => {
      const { body } = await createKey();
      const { body: renamed } = await api("POST", keys(`/${body.sid}`), {
        form: { FriendlyName: "b" },
      });
      expect(renamed.date_updated).toMatch(RFC_2822);
      expect(Date.parse(renamed.date_updated)).toBeGreaterThan(Date.parse(body.date_updated));
      expect(renamed.date_created).toBe(body.date_created);
    },
  ],
  [
    "2.1",
    "secret only at creation",
    async () => {
      const { body } = await createKey();
      expect(body.secret).toMatch(/^[A-Za-z0-9]{32}$/);
      const four = ["date_created", "date_updated", "friendly_name", "sid"];
      const path = keys(`/${body.sid}`);
      for (const answer of [
        (await api("GET", path)).body,
        (await api("GET", keys())).body.keys[0],
        (await api("POST", path, { form: { FriendlyName: "c" } })).body,
      ]) {
        expect(Object.keys(answer as object).toSorted()).toEqual(four);
      }
    },
  ],
];

const KEY_LIST: Row[] = (
  [
    ["keys", [expect.objectContaining({ sid: sid("SK") })]],
    ["uri", expect.stringMatching(/^\/2010-04-01\/.*\/Keys\.json\?PageSize=1&Page=1&PageToken=/)],
    ["first_page_uri", expect.stringMatching(/\/Keys\.json\?PageSize=1&Page=0$/)],
    ["next_page_uri", expect.stringMatching(/\/Keys\.json\?PageSize=1&Page=2&PageToken=/)],
    ["previous_page_uri", expect.stringMatching(/\/Keys\.json\?PageSize=1&Page=0&PageToken=/)],
    ["page", 1],
    ["page_size", 1],
    ["start", 1],
    ["end", 1],
  ] as const
).map(([name, expected]) => [
  "2.2",
  `Key list ${name}`,
  async () => is((await middlePage(keys())).body[name], expected),
]);

const WEBHOOK_FIELDS: Row[] = (
  [
    ["sid", () => sid("YW")],
    ["service_sid", () => emulator.serviceSid],
    ["account_sid", () => emulator.accountSid],
    ["friendly_name", () => "logins"],
    ["event_types", () => ["challenge.approved", "challenge.denied"]],
    ["status", () => "enabled"],
    ["version", () => "v2"],
    ["webhook_url", () => "https://app.example.com/webhooks/push"],
    ["webhook_method", () => "POST"],
    ["date_created", () => expect.stringMatching(ISO_8601)],
    ["date_updated", () => expect.stringMatching(ISO_8601)],
    ["url", () => expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v2\/Services\/VA.*\/YW\w+$/)],
  ] as const
).map(([name, expected]) => ["2.3", `Webhook ${name}`, () => is(webhookField(name), expected())]);

const WEBHOOK_LIST: Row[] = [
  [
    "2.4",
    "Webhook list webhooks",
    async () =>
      is((await middlePage(webhooks())).body.webhooks, [
        expect.objectContaining({ sid: sid("YW") }),
      ]),
  ],
  ...(
    [
      ["page", () => 1],
      ["page_size", () => 1],
      ["first_page_url", () => `${emulator.url}${webhooks()}?PageSize=1&Page=0`],
      ["previous_page_url", () => expect.stringContaining(`${webhooks()}?PageSize=1&Page=0&Page`)],
      ["url", () => expect.stringContaining(`${emulator.url}${webhooks()}?PageSize=1&Page=1&`)],
      ["next_page_url", () => expect.stringContaining(`${webhooks()}?PageSize=1&Page=2&PageTo`)],
      ["key", () => "webhooks"],
    ] as const
  ).map(([name, expected]): Row => [
    "2.4",
    `Webhook list meta.${name}`,
    async () => is((await middlePage(webhooks())).body.meta[name], expected()),
  ]),
];

const IDENTIFIERS: Row[] = [
  [
    "2.5",
    "prefixes AC, SK, VA, YW, YF, YC",
    async () => {
      await matches(makeEvent("challenge.denied"), {
        account_sid: sid("AC"),
        service_sid: sid("VA"),
        factor_sid: sid("YF"),
        challenge_sid: sid("YC"),
      });
    },
  ],
];

const STATES: Row[] = [
  [
    "3.1",
    "a deleted Key authenticates no more",
    async () => {
      const { sid: key, secret } = emulator.createKey({ type: "main" });
      const as: [string, string] = [key, secret];
      expect((await api("GET", keys(), { as })).status).toBe(200);
      expect((await api("DELETE", keys(`/${key}`))).status).toBe(204);
      expect((await api("GET", keys(), { as })).status).toBe(401);
      expect((await api("GET", webhooks(), { as })).status).toBe(401);
    },
  ],
  ["3.2", "create, Status omitted", async () => is((await createWebhook()).body.status, "enabled")],
  [
    "3.2",
    "create, Status given",
    async () => {
      for (const Status of ["enabled", "disabled"]) {
        const { body } = await createWebhook([...(FORM as []), ["Status", Status]]);
        expect(body.status).toBe(Status);
      }
    },
  ],
  [
    "3.2",
    "update, Status given",
    async () => {
      const { body } = await createWebhook();
      for (const Status of ["disabled", "enabled"]) {
        const updated = await api("POST", webhooks(`/${body.sid}`), { form: { Status } });
        expect(updated.body).toEqual({
          ...body,
          status: Status,
          date_updated: expect.stringMatching(ISO_8601),
        });
        expect(updated.body.date_updated > body.date_updated).toBe(true);
      }
    },
  ],
  [
    "3.2",
    "delete",
    async () => {
      const { body } = await createWebhook();
      expect(await deletion(webhooks(`/${body.sid}`))).toEqual([204, undefined, 404]);
    },
  ],
  [
    "3.3",
    "created, verified, deleted; approved or denied once",
    async () => {
      const { sid: factor_sid } = emulator.createFactor();
      const refused = { serviceCode: 20409, status: 409 };
      const refuses = (act: () => unknown, why: object = refused) =>
        expect(act).toThrow(expect.objectContaining(why));
      refuses(() => emulator.createChallenge({ factor_sid }), { serviceCode: 60318, status: 403 });
      emulator.verifyFactor(factor_sid);
      refuses(() => emulator.verifyFactor(factor_sid));
      const challenge = emulator.createChallenge({ factor_sid }).sid;
      emulator.denyChallenge(challenge);
      refuses(() => emulator.approveChallenge(challenge));
      refuses(() => emulator.denyChallenge(challenge));
      emulator.deleteFactor(factor_sid);
      refuses(() => emulator.createChallenge({ factor_sid }), { serviceCode: 20404 });
      refuses(() => emulator.deleteFactor(factor_sid), { serviceCode: 20404 });
    },
  ],
];

/** Every path with a SID that does not have its form, or another's. */
const PATHS: Row[] = (
  [
    ["AccountSid", () => `/2010-04-01/Accounts/nobody/Keys.json`, 404],
    [
      "AccountSid, of another account",
      () => keys("", { accountSid: `AC${"0".repeat(32)}` } as Emulator),
      401,
    ],
    ["Sid (Key)", () => keys(`/SK${"0".repeat(31)}`), 404],
    ["ServiceSid", () => `/v2/Services/VA1/Webhooks`, 404],
    ["Sid (Webhook)", () => webhooks(`/YW${"0".repeat(33)}`), 404],
  ] as const
).map(([name, path, expected]) => [
  "4",
  `path parameter ${name}`,
  async () => is((await api("GET", path())).status, expected),
]);

const KEY_OPERATIONS: Row[] = [
  [
    "4.1",
    "Fetch a Key",
    async () => {
      const { body } = await createKey();
      const { secret: _secret, ...fetched } = body;
      await matches(api("GET", keys(`/${body.sid}`)), { status: 200, body: fetched });
    },
  ],
  [
    "4.1",
    "Read Keys: all of them, sorted by date updated",
    async () => {
      const made = [];
      for (let count = 0; count < 3; count++) made.push((await createKey()).body.sid);
      await api("POST", keys(`/${made[0]}`), { form: { FriendlyName: "newest" } });
      const { body } = await api("GET", keys());
      expect(body.keys.map((key: { sid: string }) => key.sid)).toEqual([made[0], made[2], made[1]]);
    },
  ],
  [
    "4.1",
    "Update a Key",
    async () => {
      const { body } = await createKey();
      const path = keys(`/${body.sid}`);
      const renamed = await api("POST", path, { form: { FriendlyName: "é".repeat(64) } });
      expect(renamed).toMatchObject({ status: 200, body: { friendly_name: "é".repeat(64) } });
      expect((await api("GET", path)).body).toEqual(renamed.body);
      await matches(api("POST", path), { status: 200, body: renamed.body });
    },
  ],
  [
    "4.1",
    "Delete a Key",
    async () => is(deletion(keys(`/${(await createKey()).body.sid}`)), [204, undefined, 404]),
  ],
  [
    "4.1",
    "Creation of a Key (decided)",
    async () => {
      await matches(createKey({}), {
        status: 201,
        body: { sid: sid("SK"), friendly_name: "", secret: expect.any(String) },
      });
      const { body } = await createKey();
      const as: [string, string] = [body.sid, body.secret];
      expect((await api("GET", keys(), { as })).status).toBe(401);
      expect((await api("GET", webhooks(), { as })).status).toBe(200);
    },
  ],
];

const invalid = (code: number) => ({ status: 400, body: { code, status: 400 } });

const WEBHOOK_OPERATIONS: Row[] = [
  [
    "4.2",
    "Create",
    async () => {
      const form: Form = [...(FORM as []), ["Status", "disabled"], ["Version", "v1"]];
      await matches(createWebhook(form), {
        status: 201,
        body: { friendly_name: "logins", status: "disabled", version: "v1" },
      });
      for (const [name, code] of Object.entries({
        FriendlyName: 60200,
        EventTypes: 60200,
        WebhookUrl: 60200,
      })) {
        await matches(createWebhook(without(name)), invalid(code));
      }
    },
  ],
  [
    "4.2",
    "Fetch",
    async () => {
      const { body } = await createWebhook();
      await matches(api("GET", webhooks(`/${body.sid}`)), { status: 200, body });
    },
  ],
  [
    "4.2",
    "Read, oldest first (decided)",
    async () => {
      const made = [];
      for (let count = 0; count < 3; count++) made.push((await createWebhook()).body);
      await api("POST", webhooks(`/${made[0].sid}`), { form: { Version: "v1" } });
      const { status: read, body } = await api("GET", webhooks());
      expect([read, body.webhooks.map((one: { sid: string }) => one.sid)]).toEqual([
        200,
        made.map((one) => one.sid),
      ]);
    },
  ],
  ...(
    [
      ["FriendlyName", "x", { friendly_name: "x" }],
      ["EventTypes", "*", { event_types: ["*"] }],
      ["WebhookUrl", "http://a.example/?b=c#d", { webhook_url: "http://a.example/?b=c#d" }],
      ["Status", "disabled", { status: "disabled" }],
      ["Version", "v1", { version: "v1" }],
    ] as const
  ).map(([name, value, body]): Row => [
    "4.2",
    `Update ${name}`,
    () => matches(change({ [name]: value }), { status: 200, body }),
  ]),
  ["4.2", "Update nothing", () => matches(change({}), { status: 200 })],
  [
    "4.2",
    "Delete",
    async () =>
      is(deletion(webhooks(`/${(await createWebhook()).body.sid}`)), [204, undefined, 404]),
  ],
  [
    "4.2",
    "EventTypes allowed values",
    async () => {
      for (const type of ["*", ...PUSH_EVENT_TYPES]) {
        await matches(change({ EventTypes: type }), { body: { event_types: [type] } });
      }
      await matches(change({ EventTypes: "challenge.expired" }), invalid(60306));
    },
  ],
  ["4.2", "Status allowed values", () => matches(change({ Status: "off" }), invalid(60200))],
  ["4.2", "Version allowed values", () => matches(change({ Version: "v3" }), invalid(60200))],
  ["4.2", "WebhookUrl is a URL", () => matches(change({ WebhookUrl: "here" }), invalid(60200))],
];

async function statusesAs(as: [string, string] | null): Promise<number[]> {
  const { body } = await createKey();
  const statuses = [];
  for (const [method, path] of [
    ["GET", webhooks()],
    ["GET", keys()],
    ["DELETE", keys(`/${body.sid}`)],
  ] as const) {
    statuses.push((await api(method, path, { as })).status);
  }
  return statuses;
}
const keyAs = (type: "main" | "standard"): [string, string] => {
  const key = emulator.createKey({ type });
  return [key.sid, key.secret];
};

const AUTHENTICATION: Row[] = [
  [
    "5.1",
    "the account's SID and auth token",
    () => is(statusesAs([emulator.accountSid, emulator.authToken]), [200, 200, 204]),
  ],
  [
    "5.1, 5.2, 5.3",
    "a Main key reaches and deletes Keys",
    () => is(statusesAs(keyAs("main")), [200, 200, 204]),
  ],
  [
    "5.2, 5.3, 7",
    "a Standard key does not",
    () => is(statusesAs(keyAs("standard")), [200, 401, 401]),
  ],
  [
    "5.4",
    "a key's secret is shown only at creation",
    async () => {
      const { body } = await createKey();
      for (const path of [keys(), keys(`/${body.sid}`)]) {
        expect(JSON.stringify((await api("GET", path)).body)).not.toContain(body.secret);
      }
    },
  ],
  ["5.5, 5.6", "HTTP Basic on both (decided)", () => is(statusesAs(null), [401, 401, 401])],
  ["5", "a wrong secret", () => is(statusesAs([emulator.accountSid, "guessed"]), [401, 401, 401])],
  [
    "5",
    "Content-Type and X-Service-Signature",
    async () => {
      await makeEvent("factor.created");
      expect(calls[0]).toMatchObject({
        contentType: "application/x-www-urlencoded",
        signature: expect.stringMatching(/^[A-Za-z0-9+/]{27}=$/),
      });
    },
  ],
  [
    "5",
    "HMAC-SHA1 with the auth token, over the exact URL and all parameters",
    async () => {
      receiverUrl += "?b=%7e&a='";
      const params = await makeEvent("challenge.approved", {}, METADATA);
      const names = Object.keys(params).toSorted();
      const signed = receiverUrl + names.map((name) => name + params[name]).join("");
      const hmac = createHmac("sha1", emulator.authToken).update(signed).digest("base64");
      expect(calls[0]?.signature).toBe(hmac);
      expect(names).toHaveLength(12);
    },
  ],
];

const EVENTS: Row[] = [
  [
    "6.1",
    "*",
    async () => {
      await makeEvent("*");
      const types = calls.map(({ body }) => new URLSearchParams(body).get("type"));
      expect(types.toSorted()).toEqual(PUSH_EVENT_TYPES.toSorted());
    },
  ],
  ...PUSH_EVENT_TYPES.map((type): Row => [
    "6.1",
    type,
    async () => {
      await matches(makeEvent(type), { type });
      expect(calls).toHaveLength(1);
    },
  ]),
];

const FACTOR_PARAMETERS = {
  uuid: expect.stringMatching(/^[\da-f-]{36}$/),
  account_sid: sid("AC"),
  service_sid: sid("VA"),
  entity_identity: "user-1",
  factor_sid: sid("YF"),
};
const V2_PARAMETERS = {
  ...FACTOR_PARAMETERS,
  factor_type: "push",
  factor_friendly_name: "Zoë's phone",
};
const DETAILS = {
  message: "Sign in?",
  date: "2024-03-05T10:20:30Z",
  fields: [{ label: "City", value: "Köln" }],
};
const FACTOR = { entity_identity: "user-1", friendly_name: "Zoë's phone" };
const CHALLENGE_PARAMETERS = {
  challenge_sid: sid("YC"),
  challenge_details: JSON.stringify(DETAILS),
};
const EVERYTHING = {
  factor: { ...FACTOR, metadata: every },
  challenge: { details: DETAILS, hidden_details: { ip: "::1" } },
  answer: { metadata: every },
};
const LITTLE = { factor: FACTOR, challenge: { details: DETAILS } };
const EVERY_JSON = JSON.stringify(every);

const PARAMETERS: Row[] = [
  ...PUSH_EVENT_TYPES.map((type): Row => {
    const isChallenge = type.startsWith("challenge.");
    return [
      "6.2",
      `v2 ${type}: every parameter that may be there`,
      () =>
        is(makeEvent(type, { version: "v2" }, EVERYTHING), {
          ...V2_PARAMETERS,
          type,
          factor_metadata: EVERY_JSON,
          ...(isChallenge && {
            ...CHALLENGE_PARAMETERS,
            challenge_hidden_details: '{"ip":"::1"}',
            challenge_metadata: EVERY_JSON,
          }),
        }),
    ];
  }),
  ...PUSH_EVENT_TYPES.map((type): Row => [
    "6.2",
    `v2 ${type}: what was not given is omitted`,
    () =>
      is(makeEvent(type, { version: "v2" }, LITTLE), {
        ...V2_PARAMETERS,
        type,
        ...(type.startsWith("challenge.") && CHALLENGE_PARAMETERS),
      }),
  ]),
  ...PUSH_EVENT_TYPES.map((type): Row => [
    "6.3",
    `v1 ${type}`,
    () =>
      is(makeEvent(type, { version: "v1" }, EVERYTHING), {
        ...FACTOR_PARAMETERS,
        type,
        ...(type.startsWith("challenge.") && { challenge_sid: sid("YC") }),
      }),
  ]),
  [
    "6.2",
    "uuid is unique for each call",
    async () => {
      emulator.createWebhook({ webhook_url: receiverUrl });
      await makeEvent("*");
      const uuids = calls.map(({ body }) => new URLSearchParams(body).get("uuid"));
      expect(new Set(uuids).size).toBe(10);
    },
  ],
];

const lastDelivery = async (): Promise<WebhookDelivery | undefined> => {
  await emulator.settled();
  return emulator.deliveries.at(-1);
};

const SENDING: Row[] = [
  [
    "6.4",
    "a disabled webhook receives nothing",
    async () => is(makeEvent("*", { status: "disabled" }), {}),
  ],
  [
    "6.4",
    "another event's webhook receives nothing",
    async () => {
      emulator.createWebhook({ webhook_url: receiverUrl, event_types: ["factor.deleted"] });
      emulator.createFactor();
      expect(await lastDelivery()).toBeUndefined();
    },
  ],
  [
    "6.4",
    "webhook_method: POST, or GET with the parameters in the query",
    async () => {
      for (const webhook_method of ["POST", "GET"] as const) {
        emulator.createWebhook({
          webhook_url: receiverUrl,
          webhook_method,
          event_types: ["factor.created"],
        });
      }
      emulator.createFactor();
      await emulator.settled();
      expect(calls.map(({ method }) => method).toSorted()).toEqual(["GET", "POST"]);
      const get = calls.find(({ method }) => method === "GET");
      expect([get?.body, get?.url]).toEqual(["", expect.stringContaining("/push?uuid=")]);
    },
  ],
  ...[200, 201, 204, 301, 404, 500].map((responded): Row => [
    "6.4",
    `${responded} is ${responded === 200 ? "success" : "failure"}, and final (decided)`,
    async () => {
      status = responded;
      await makeEvent("factor.created");
      await matches(lastDelivery(), {
        status: responded === 200 ? "succeeded" : "failed",
        attempts: 1,
        response: { status: responded },
      });
      expect(calls).toHaveLength(1);
    },
  ]),
];

const ERRORS: Row[] = [
  [
    "7",
    "errors are code, message, more_info, status (decided)",
    async () =>
      matches(api("GET", keys(`/SK${"0".repeat(32)}`)), {
        status: 404,
        body: {
          code: 20404,
          message: expect.any(String),
          more_info: expect.stringMatching(/20404$/),
          status: 404,
        },
      }),
  ],
  [
    "7",
    "no authentication is 401, 20003 (decided)",
    async () => {
      await matches(api("GET", keys(), { as: null }), { status: 401, body: { code: 20003 } });
    },
  ],
];

const LIMITS: Row[] = [
  ...["keys", "webhooks"].flatMap((list): Row[] => {
    const at = (query: string) => api("GET", `${list === "keys" ? keys() : webhooks()}${query}`);
    const size = ({ body }: ApiResult) => body.page_size ?? body.meta.page_size;
    const code = (ofKeys: number) => (list === "keys" ? ofKeys : 60306);
    return [
      ["8", `PageSize of ${list}: 50 by default`, async () => is(size(await at("")), 50)],
      [
        "8",
        `PageSize of ${list}: 1 to 1000`,
        async () => {
          for (const least of [1, 1000]) expect(size(await at(`?PageSize=${least}`))).toBe(least);
          for (const wrong of ["0", "1001", "-1", "x", "1.5"]) {
            await matches(at(`?PageSize=${wrong}`), invalid(code(20007)));
          }
        },
      ],
      [
        "8",
        `Page of ${list}: 0 or more, a client's own count`,
        async () => {
          await (list === "keys" ? createKey() : createWebhook());
          const [first, other] = [await at("?Page=0"), await at("?Page=7")];
          expect(other.body[list]).toEqual(first.body[list]);
          expect(other.body.page ?? other.body.meta.page).toBe(7);
          await matches(at("?Page=-1"), { status: 400 });
        },
      ],
      [
        "8",
        `PageToken of ${list}: as supplied, or rejected`,
        () => matches(at("?PageToken=made-up"), invalid(code(21481))),
      ],
    ];
  }),
  [
    "8",
    "Key FriendlyName up to 64 characters",
    async () => {
      await matches(createKey({ FriendlyName: "x".repeat(64) }), { status: 201 });
      await matches(createKey({ FriendlyName: "x".repeat(65) }), invalid(20002));
    },
  ],
  ...(["factor_metadata", "challenge_metadata"] as const).map((name): Row => [
    "8",
    `${name} up to 1024 characters, string values only`,
    async () => {
      const give = (metadata: object) =>
        makeEvent(
          "challenge.approved",
          {},
          name.startsWith("factor") ? { factor: { metadata } } : { answer: { metadata } },
        );
      const longest = { k: "x".repeat(1024 - '{"k":""}'.length) };
      expect((await give(longest))[name]).toHaveLength(1024);
      await expect(give({ k: `${longest.k}x` })).rejects.toMatchObject({ serviceCode: 60200 });
      await expect(give({ k: 1 })).rejects.toMatchObject({ serviceCode: 60200 });
    },
  ]),
];

describe.each<[string, Row[]]>([
  ["2.1 Key", KEY_FIELDS],
  ["2.2 Key list", KEY_LIST],
  ["2.3 Webhook", WEBHOOK_FIELDS],
  ["2.4 Webhook list", WEBHOOK_LIST],
  ["2.5 identifiers", IDENTIFIERS],
  ["3 states", STATES],
  ["4 path parameters", PATHS],
  ["4.1 Keys", KEY_OPERATIONS],
  ["4.2 Webhooks", WEBHOOK_OPERATIONS],
  ["5 authentication and signature", AUTHENTICATION],
  ["6.1 event types", EVENTS],
  ["6.2, 6.3 parameters", PARAMETERS],
  ["6.4 which events are sent", SENDING],
  ["7 errors", ERRORS],
  ["8 limits", LIMITS],
])("specification, section %s", (_title, rows) => {
  it.each(rows)("%s %s", (_section, _row, proof) => proof());
});
