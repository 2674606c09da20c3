/**
 * The specification, sections 2 to 8, row by row: each test names its rows and proves that the
 * emulator does them. "not shown" rows are proved as decided. Elsewhere: the Content-Type in
 * deliveries.test.ts, the errors in server.test.ts, the tokens of pages in lists.test.ts.
 */
import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { PUSH_EVENT_TYPES } from "express-push-verification";
import type { Emulator } from "express-push-verification/emulator";
import {
  callApi,
  keysPath,
  startEmulator,
  startTarget,
  stopEmulators,
  webhooksPath,
  type ApiResult,
  type Form,
} from "../support/emulators";

const RFC_2822: unknown = expect.stringMatching(
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000$/,
);
const ISO_8601: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
const FORM: [string, string][] = [
  ["FriendlyName", "logins"],
  ["EventTypes", "challenge.approved"],
  ["EventTypes", "challenge.denied"],
  ["WebhookUrl", "https://app.example.com/webhooks/push"],
];

let emulator: Emulator;
let requests: Record<"method" | "url" | "signature" | "body", string>[];
let receiverUrl: string;
let status = 200;
let seconds = 0;

beforeEach(async () => {
  requests = [];
  status = 200;
  // One second passes with each look at the clock, so that every date is its own.
  emulator = await startEmulator({ now: () => Date.UTC(2024, 2, 5) + 1000 * seconds++ });
  receiverUrl = `${await startTarget((req, res) => void receive(req, res))}/push`;
});
afterEach(stopEmulators);

async function receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { method = "", url = "", headers } = req;
  const signature = String(headers["x-service-signature"]);
  requests.push({ method, url, signature, body: await text(req) });
  res.writeHead(status, { location: `${receiverUrl}/elsewhere` }).end();
}

const api = (method: string, path: string, options: Parameters<typeof callApi>[3] = {}) =>
  callApi(emulator, method, path, options);
const keys = (rest = "") => `${keysPath(emulator)}${rest}.json`;
const webhooks = (rest = "") => `${webhooksPath(emulator)}${rest}`;
const createKey = (form: Form = { FriendlyName: "ci" }) => api("POST", keys(), { form });
const createWebhook = (form: Form = FORM) => api("POST", webhooks(), { form });
const change = async (form: Form) => {
  const { body } = await createWebhook();
  return api("POST", webhooks(`/${body.sid}`), { form });
};
async function expectDeletion(path: string): Promise<void> {
  expect(await api("DELETE", path)).toMatchObject({ status: 204, body: undefined });
  expect(await api("GET", path)).toHaveProperty("status", 404);
}

async function makeEvent(
  type: string,
  webhook: { version?: "v1" | "v2" } = {},
  given: Record<string, object> = {},
): Promise<Record<string, string>> {
  emulator.createWebhook({ webhook_url: receiverUrl, event_types: [type as never], ...webhook });
  runStory(given);
  await emulator.settled();
  return Object.fromEntries(new URLSearchParams(requests[0]?.body));
}
function runStory({ factor = {}, challenge = {}, answer = {} }: Record<string, object> = {}): void {
  const { sid: factor_sid } = emulator.createFactor(factor);
  emulator.verifyFactor(factor_sid);
  const ask = () => emulator.createChallenge({ factor_sid, ...challenge }).sid;
  emulator.approveChallenge(ask(), answer);
  emulator.denyChallenge(ask(), answer);
  emulator.deleteFactor(factor_sid);
}

const every = { os: "Android" };

const sid = (prefix: string): unknown =>
  expect.stringMatching(new RegExp(`^${prefix}[0-9a-fA-F]{32}$`));
const containing = (part: string): unknown => expect.stringContaining(part);
const invalid = (code: number) => ({ status: 400, body: { code, status: 400 } });

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

describe("2 resources", () => {
  it("2.1, 4.1, 5.4 Key: four fields beside the secret at creation", async () => {
    const { secret, ...key } = (await createKey()).body;
    expect(secret).toMatch(/^[A-Za-z0-9]{32}$/);
    const dates = { date_created: RFC_2822, date_updated: RFC_2822 };
    expect(key).toEqual({ sid: sid("SK"), friendly_name: "ci", ...dates });
    const path = keys(`/${key.sid}`);
    expect(await api("GET", path)).toMatchObject({ status: 200, body: key });
    expect((await api("GET", keys())).body.keys).toEqual([key]);
    const { body: renamed } = await api("POST", path, { form: { FriendlyName: "c" } });
    expect(renamed).toEqual({ ...key, friendly_name: "c", date_updated: RFC_2822 });
    expect(Date.parse(renamed.date_updated)).toBeGreaterThan(Date.parse(key.date_updated));
    expect(await api("POST", path)).toMatchObject({ status: 200, body: renamed });
    expect((await api("GET", path)).body).toEqual(renamed);
  });

  it("2.2 Key list: every member of the middle page of three", async () => {
    for (let made = 0; made < 3; made++) await createKey();
    const { body: first } = await api("GET", `${keys()}?PageSize=1`);
    const pageAt = (page: number) => containing(`${keys()}?PageSize=1&Page=${page}&PageToken=`);
    expect((await api("GET", first.next_page_uri)).body).toEqual({
      keys: [expect.objectContaining({ sid: sid("SK") })],
      uri: pageAt(1),
      first_page_uri: `${keys()}?PageSize=1&Page=0`,
      next_page_uri: pageAt(2),
      previous_page_uri: pageAt(0),
      page: 1,
      page_size: 1,
      start: 1,
      end: 1,
    });
  });

  it("2.3, 4.2 Webhook: every field", async () => {
    const { body: created } = await createWebhook();
    const path = webhooks(`/${created.sid}`);
    expect(created).toEqual({
      sid: sid("YW"),
      service_sid: emulator.serviceSid,
      account_sid: emulator.accountSid,
      friendly_name: "logins",
      event_types: ["challenge.approved", "challenge.denied"],
      status: "enabled",
      version: "v2",
      webhook_url: "https://app.example.com/webhooks/push",
      webhook_method: "POST",
      date_created: ISO_8601,
      date_updated: ISO_8601,
      url: emulator.url + path,
    });
    expect(await api("GET", path)).toMatchObject({ status: 200, body: created });
  });

  it("2.4 Webhook list: every member of the middle page of three", async () => {
    for (let made = 0; made < 3; made++) await createWebhook();
    const { body: first } = await api("GET", `${webhooks()}?PageSize=1`);
    const url = emulator.url + webhooks();
    const pageAt = (page: number) => containing(`${url}?PageSize=1&Page=${page}&PageToken=`);
    expect((await api("GET", first.meta.next_page_url)).body).toEqual({
      webhooks: [expect.objectContaining({ sid: sid("YW") })],
      meta: {
        page: 1,
        page_size: 1,
        first_page_url: `${url}?PageSize=1&Page=0`,
        previous_page_url: pageAt(0),
        url: pageAt(1),
        next_page_url: pageAt(2),
        key: "webhooks",
      },
    });
  });
});

describe("3 states", () => {
  it("3.1, 4.1 a deleted Key authenticates no more", async () => {
    const { sid: key, secret } = emulator.createKey({ type: "main" });
    const as: [string, string] = [key, secret];
    expect((await api("GET", keys(), { as })).status).toBe(200);
    await expectDeletion(keys(`/${key}`));
    expect((await api("GET", keys(), { as })).status).toBe(401);
    expect((await api("GET", webhooks(), { as })).status).toBe(401);
  });

  it.each([
    ["enabled", "disabled"],
    ["disabled", "enabled"],
  ])("3.2, 4.2 create with Status %s, update to %s, delete", async (Status, other) => {
    const { body } = await createWebhook([...FORM, ["Status", Status]]);
    expect(body.status).toBe(Status);
    const path = webhooks(`/${body.sid}`);
    const { body: updated } = await api("POST", path, { form: { Status: other } });
    expect(updated).toEqual({ ...body, status: other, date_updated: ISO_8601 });
    expect(updated.date_updated > body.date_updated).toBe(true);
    await expectDeletion(path);
  });

  it("3.3 a state changes once while there is its factor", async () => {
    const { sid: factor_sid } = emulator.createFactor();
    const expectRejection = (act: () => unknown, serviceCode = 20409, code = 409) =>
      expect(act).toThrow(expect.objectContaining({ serviceCode, status: code }));
    const create = () => emulator.createChallenge({ factor_sid }).sid;
    expectRejection(create, 60318, 403);
    emulator.verifyFactor(factor_sid);
    expectRejection(() => emulator.verifyFactor(factor_sid));
    const [challenge, pending] = [create(), create()];
    emulator.denyChallenge(challenge);
    expectRejection(() => emulator.approveChallenge(challenge));
    expectRejection(() => emulator.denyChallenge(challenge));
    emulator.deleteFactor(factor_sid);
    expectRejection(() => emulator.approveChallenge(pending));
    expectRejection(() => emulator.approveChallenge("YCx"), 20404, 404);
    for (const act of [create, () => emulator.fetchFactor(factor_sid)])
      expectRejection(act, 20404, 404);
    expectRejection(() => emulator.deleteFactor(factor_sid), 20404, 404);
    expect(emulator.fetchChallenge(challenge).status).toBe("denied");
  });
});

describe("4 endpoints", () => {
  it.each<[what: string, path: () => string, status: number]>([
    ["AccountSid", () => "/2010-04-01/Accounts/nobody/Keys.json", 404],
    ["AccountSid of another", () => `/2010-04-01/Accounts/AC${"0".repeat(32)}/Keys.json`, 401],
    ["Sid (Key)", () => keys(`/SK${"0".repeat(31)}`), 404],
    ["ServiceSid", () => "/v2/Services/VA1/Webhooks", 404],
    ["Sid (Webhook)", () => webhooks(`/YW${"0".repeat(33)}`), 404],
  ])("path parameter %s", async (_what, path, expected) => {
    expect(await api("GET", path())).toHaveProperty("status", expected);
  });

  it.each([
    ["4.1 Read Keys, sorted by date updated", "keys", [0, 2, 1]],
    ["4.2 Read Webhooks, oldest first (decided)", "webhooks", [0, 1, 2]],
  ])("%s: all of them", async (_row, list, order) => {
    const made: { sid: string }[] = [];
    const [create, pathOf] = list === "keys" ? [createKey, keys] : [createWebhook, webhooks];
    for (let count = 0; count < 3; count++) made.push((await create()).body);
    await api("POST", pathOf(`/${made[0]?.sid}`), { form: { FriendlyName: "newest" } });
    const { body } = await api("GET", pathOf());
    const sids = body[list].map((one: { sid: string }) => one.sid);
    expect(sids).toEqual(order.map((index) => made[index]?.sid));
  });

  it("4.1 Creation of a Key (decided)", async () => {
    const { status: created, body } = await createKey({});
    expect({ created, friendly_name: body.friendly_name }).toEqual({
      created: 201,
      friendly_name: "",
    });
    const as: [string, string] = [body.sid, body.secret];
    expect((await api("GET", keys(), { as })).status).toBe(401);
    expect((await api("GET", webhooks(), { as })).status).toBe(200);
  });

  it("4.2 Create", async () => {
    const [, first = ["", ""]] = FORM;
    const more: Form = [...FORM, first, ["Status", "disabled"], ["Version", "v1"]];
    const event_types = ["challenge.approved", "challenge.denied"];
    const body = { friendly_name: "logins", event_types, status: "disabled", version: "v1" };
    expect(await createWebhook(more)).toMatchObject({ status: 201, body });
    for (const name of ["FriendlyName", "EventTypes", "WebhookUrl"]) {
      const without = FORM.filter(([one]) => one !== name);
      expect(await createWebhook(without)).toMatchObject(invalid(60200));
    }
  });

  it.each<readonly [form: Form, body: object]>([
    [{ FriendlyName: "x" }, { friendly_name: "x" }],
    [{ WebhookUrl: "http://a.example/?b=c#d" }, { webhook_url: "http://a.example/?b=c#d" }],
    [{ Version: "v1" }, { version: "v1" }],
    [{}, {}],
    ...["*", ...PUSH_EVENT_TYPES].map(
      (type) => [{ EventTypes: type }, { event_types: [type] }] as const,
    ),
  ])("4.2 Update %j", async (form, body) => {
    const changed = await change(form);
    expect(changed).toMatchObject({ status: 200, body });
    const { date_created, date_updated } = changed.body;
    expect(date_updated === date_created).toBe(Object.keys(form).length === 0);
  });

  it.each<[form: Form, code: number]>([
    [{ EventTypes: "challenge.expired" }, 60306],
    [{ Status: "off" }, 60200],
    [{ Version: "v3" }, 60200],
    [{ WebhookUrl: "here" }, 60200],
  ])("4.2 allowed values: not %j", async (form, code) => {
    expect(await change(form)).toMatchObject(invalid(code));
  });
});

describe("5 authentication and signature", () => {
  const keyAs = (type: "main" | "standard"): [string, string] => {
    const key = emulator.createKey({ type });
    return [key.sid, key.secret];
  };

  it.each<[row: string, as: () => [string, string] | null, statuses: number[]]>([
    ["5.1 the account", () => [emulator.accountSid, emulator.authToken], [200, 200, 204]],
    ["5.1, 5.2, 5.3 a Main key reaches and deletes Keys", () => keyAs("main"), [200, 200, 204]],
    ["5.2, 5.3, 7 a Standard key does not", () => keyAs("standard"), [200, 401, 401]],
    ["5.5, 5.6, 7 no credentials (decided)", () => null, [401, 401, 401]],
  ])("%s", async (_row, credentials, statuses) => {
    const { body } = await createKey();
    const as = credentials();
    const found = [
      await api("GET", webhooks(), { as }),
      await api("GET", keys(), { as }),
      await api("DELETE", keys(`/${body.sid}`), { as }),
    ];
    expect(found.map((response) => response.status)).toEqual(statuses);
    for (const rejected of found.filter((response) => response.status === 401)) {
      expect(rejected.body).toHaveProperty("code", 20003);
    }
  });

  it("5 HMAC-SHA1 with the auth token over the exact URL and all parameters", async () => {
    receiverUrl += "?b=%7e&a='";
    const params = await makeEvent("challenge.approved", {}, EVERYTHING);
    const names = Object.keys(params).toSorted();
    const signed = receiverUrl + names.map((name) => name + params[name]).join("");
    const hmac = createHmac("sha1", emulator.authToken).update(signed).digest("base64");
    expect(requests).toMatchObject([{ signature: hmac }]);
    expect(names).toHaveLength(13);
  });
});

describe("6 events", () => {
  it("6.1 *: all types, each with its own uuid for each webhook (6.2)", async () => {
    emulator.createWebhook({ webhook_url: receiverUrl });
    await makeEvent("*");
    const received = requests.map((request) => new URLSearchParams(request.body));
    const types = received.map((params) => params.get("type"));
    expect(types.toSorted()).toEqual([...PUSH_EVENT_TYPES, ...PUSH_EVENT_TYPES].toSorted());
    expect(new Set(received.map((params) => params.get("uuid"))).size).toBe(10);
  });

  describe.each(PUSH_EVENT_TYPES)("6.1 and 2.5 %s: prefixes of SIDs", (type) => {
    const ofChallenge = (more: object) => (type.startsWith("challenge.") ? more : {});
    const little = { ...V2_PARAMETERS, ...ofChallenge(CHALLENGE_PARAMETERS) };
    const challengeJson = {
      challenge_hidden_details: '{"ip":"::1"}',
      challenge_metadata: EVERY_JSON,
    };
    const all = { ...little, factor_metadata: EVERY_JSON, ...ofChallenge(challengeJson) };
    const v1 = { ...FACTOR_PARAMETERS, ...ofChallenge({ challenge_sid: sid("YC") }) };
    it.each<[row: string, version: "v1" | "v2", given: Record<string, object>, expected: object]>([
      ["6.2 v2: every parameter that may be there", "v2", EVERYTHING, all],
      ["6.2 v2: none that was not given", "v2", LITTLE, little],
      ["6.3 v1", "v1", EVERYTHING, v1],
    ])("%s", async (_row, version, given, expected) => {
      expect(await makeEvent(type, { version }, given)).toEqual({ ...expected, type });
      expect(requests).toHaveLength(1);
    });
  });

  it("6.4 an event is sent once to each enabled webhook of its type", async () => {
    emulator.createWebhook({ webhook_url: receiverUrl, event_types: ["factor.created", "*"] });
    emulator.createWebhook({ webhook_url: receiverUrl, event_types: ["factor.verified"] });
    emulator.createWebhook({ webhook_url: receiverUrl, status: "disabled" });
    emulator.createFactor();
    await emulator.settled();
    expect(requests).toHaveLength(1);
    expect(emulator.deliveries).toHaveLength(1);
  });

  it("6.4 webhook_method: POST, or GET with the parameters in the query", async () => {
    emulator.createWebhook({ webhook_url: receiverUrl, webhook_method: "POST" });
    for (const webhook_url of [receiverUrl, `${receiverUrl}?`])
      emulator.createWebhook({ webhook_url, webhook_method: "GET" });
    emulator.createFactor();
    await emulator.settled();
    expect(requests.map(({ method }) => method).toSorted()).toEqual(["GET", "GET", "POST"]);
    for (const { body, url } of requests.filter(({ method }) => method === "GET")) {
      expect({ body, url }).toEqual({ body: "", url: containing("/push?uuid=") });
    }
  });

  it.each([200, 201, 204, 301, 404, 500])(
    "6.4 a delivery is final with the status %i, a success if it is 200 (decided)",
    async (responded) => {
      status = responded;
      await makeEvent("factor.created");
      const result = responded === 200 ? "succeeded" : "failed";
      const delivery = { status: result, attempts: 1, response: { status: responded } };
      expect(emulator.deliveries).toMatchObject([delivery]);
      expect(requests).toHaveLength(1);
    },
  );
});

describe("8 limits", () => {
  describe.each(["keys", "webhooks"] as const)("of the list of %s", (list) => {
    const at = (query: string) => api("GET", `${list === "keys" ? keys() : webhooks()}${query}`);
    const size = ({ body }: ApiResult) => body.page_size ?? body.meta.page_size;
    const code = (ofKeys: number) => (list === "keys" ? ofKeys : 60306);

    it("PageSize: 1 to 1000, 50 by default", async () => {
      for (const none of ["", "?PageSize="]) expect(size(await at(none))).toBe(50);
      for (const least of [1, 1000]) expect(size(await at(`?PageSize=${least}`))).toBe(least);
      for (const wrong of ["0", "1001", "-1", "x", "1.5"]) {
        expect(await at(`?PageSize=${wrong}`)).toMatchObject(invalid(code(20007)));
      }
    });

    it("Page: 0 or more, a client's own count", async () => {
      await (list === "keys" ? createKey() : createWebhook());
      const [first, other] = [await at("?Page=0"), await at("?Page=7")];
      expect(other.body[list]).toEqual(first.body[list]);
      expect(other.body.page ?? other.body.meta.page).toBe(7);
      expect(await at("?Page=-1")).toHaveProperty("status", 400);
    });
  });

  it("Key FriendlyName up to 64 characters", async () => {
    expect(await createKey({ FriendlyName: "x".repeat(64) })).toHaveProperty("status", 201);
    const { sid: key } = emulator.createKey({ friendly_name: "\u{1F600}".repeat(64) });
    const long = { form: { FriendlyName: "x".repeat(65) } };
    for (const path of [keys(), keys(`/${key}`)])
      expect(await api("POST", path, long)).toMatchObject(invalid(20002));
    const inUse = expect.objectContaining({ serviceCode: 60200 });
    expect(() => emulator.createKey({ sid: key })).toThrow(inUse);
  });

  it.each([
    ["factor_metadata", (metadata: object) => ({ factor: { metadata } })],
    ["challenge_metadata", (metadata: object) => ({ answer: { metadata } })],
  ])("%s up to 1024 characters, string values only", async (name, given) => {
    const give = (metadata: object) => makeEvent("challenge.approved", {}, given(metadata));
    const longest = { k: "x".repeat(1024 - '{"k":""}'.length) };
    expect((await give(longest))[name]).toHaveLength(1024);
    await expect(give({ k: `${longest.k}x` })).rejects.toMatchObject({ serviceCode: 60200 });
    await expect(give({ k: 1 })).rejects.toMatchObject({ serviceCode: 60200 });
  });
});
