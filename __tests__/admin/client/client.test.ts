import timers from "node:timers/promises";
import { expectTypeOf } from "expect-type";
import type * as undici from "undici-types";
import { collect } from "../../support/waiting";
import {
  createAdminClient,
  type AdminClientOptions,
  type ApiError,
} from "express-push-verification/admin";
import errors from "../../fixtures/errors.json";
import {
  ACCOUNT_SID,
  CHALLENGE_SID,
  FACTOR_SID,
  SERVICE_SID,
} from "../../support/webhook-requests";
import { HOSTILE_VALUES } from "../../support/thrown-values";
import { clientAt, clientOptions, CREDENTIALS, useUpstream, WEBHOOK } from "../../support/upstream";

const KEYS = `/2010-04-01/Accounts/${ACCOUNT_SID}/Keys`;
const KEY_SID = `SK${"a".repeat(32)}`;
const WEBHOOK_SID = `YW${"a".repeat(32)}`;

const upstream = useUpstream();

// admin/router/router.test.ts has their results.
it("the requests are those of the specification", async () => {
  const { keys, webhooks } = upstream.client;
  const friendly_name = "b".repeat(64);
  const { sid: key } = await keys.create({ friendly_name });
  await keys.fetch(key);
  await keys.update(key, { friendly_name: "billing-worker (blue)" });
  await expect(keys.delete(key)).resolves.toBeUndefined();
  const { sid: webhook } = await webhooks.create(WEBHOOK);
  await webhooks.fetch(webhook);
  await webhooks.update(webhook, { status: "disabled", event_types: ["*"] });
  await expect(webhooks.delete(webhook)).resolves.toBeUndefined();
  const path = `/v2/Services/${SERVICE_SID}/Webhooks`;
  const types = "EventTypes=challenge.approved&EventTypes=challenge.denied";
  const url = encodeURIComponent(WEBHOOK.webhook_url);
  expect(upstream.seen).toEqual([
    `POST ${KEYS}.json FriendlyName=${friendly_name}`,
    `GET ${KEYS}/${key}.json`,
    `POST ${KEYS}/${key}.json FriendlyName=billing-worker+%28blue%29`,
    `DELETE ${KEYS}/${key}.json`,
    `POST ${path} FriendlyName=login+events&${types}&WebhookUrl=${url}`,
    `GET ${path}/${webhook}`,
    `POST ${path}/${webhook} EventTypes=*&Status=disabled`,
    `DELETE ${path}/${webhook}`,
  ]);
});

it("lists have three pages, forwards and backwards", async () => {
  const { keys } = upstream.client;
  for (const name of ["a", "b", "c"]) upstream.createKey(name);
  const names = (await collect(keys.list({ pageSize: 2 }))).map((key) => key.friendly_name);
  expect(names).toEqual(["c", "b", "a", "main", "standard"]);
  expect(upstream.seen).toEqual([
    `GET ${KEYS}.json?PageSize=2`,
    expect.stringMatching(/\.json\?PageSize=2&Page=1&PageToken=[\w-]+$/),
    expect.stringMatching(/\.json\?PageSize=2&Page=2&PageToken=[\w-]+$/),
  ]);
  const pages = await collect(keys.pages({ pageSize: 2 }));
  expect(pages.map(({ items }) => items.length)).toEqual([2, 2, 1]);
  expect({ previous: pages[0]?.previous, next: pages[2]?.next }).toEqual({
    previous: undefined,
    next: undefined,
  });
  expect((await keys.page(pages[2]?.previous)).items).toEqual(pages[1]?.items);
});

it("members that a resource lacks are null", async () => {
  const { keys, webhooks } = upstream.client;
  const dates = { friendly_name: null, date_created: null, date_updated: null };
  const owner = { account_sid: null, service_sid: null, status: null, version: null };
  const target = { event_types: null, webhook_url: null, webhook_method: null, url: null };
  for (const [list, sid, body, item] of [
    [keys.list, KEY_SID, {}, dates],
    [webhooks.list, WEBHOOK_SID, { meta: {} }, { ...dates, ...owner, ...target }],
  ] as const) {
    const one = { sid, x: [1] };
    const items = [one];
    upstream.script.push({ status: 200, body: { ...body, keys: items, webhooks: items } });
    expect(await collect<object>(list())).toEqual([{ ...one, ...item }]);
  }
});

it.each(["Page", "PageToken"])("lists may link by %s alone", async (name) => {
  const pages = [1, 2].map((page) => ({ keys: [], next_page_uri: `?${name}=${page}` }));
  for (const body of [...pages, { keys: [] }]) upstream.script.push({ status: 200, body });
  await collect(upstream.client.keys.list());
  expect(upstream.seen).toHaveLength(3);
});

it.each([
  ["https://evil.example/x?Page=1", "FOREIGN_PAGE", 1],
  ["//evil.example/?Page=1", "FOREIGN_PAGE", 1],
  ["https://HOST/", "FOREIGN_PAGE", 1],
  ["http://[bad", "FOREIGN_PAGE", 1],
  // A circle.
  [`${KEYS}.json?Page=1&PageToken=a`, "BAD_RESPONSE", 2],
])("lists that link to %s end with %s after %i requests", async (link, code, count) => {
  const next_page_uri = link.replace("HOST", new URL(upstream.url).host);
  const linked = { status: 200, body: { keys: [], next_page_uri } };
  upstream.script.push(linked, linked, linked);
  await expect(collect(upstream.client.keys.list())).rejects.toHaveProperty("code", code);
  expect(upstream.seen).toHaveLength(count);
});

const { note: _note, ...fixtures } = errors;
const failed = (status: number) => ({ status, code: "SERVICE_ERROR", serviceCode: undefined });
const bad = { status: 200, code: "BAD_RESPONSE" };
const late = { "retry-after": "60" };
const NOW_MS = Date.UTC(2026, 2, 5, 9);
const inSeconds = (seconds: number) => new Date(NOW_MS + seconds * 1_000).toUTCString();
type ErrorBody = Partial<Record<"message" | "detail" | "more_info", string>> & { code?: number };

it.each<[string, { status: number; body?: unknown; headers?: typeof late }, object]>([
  ...Object.entries(fixtures).map(([name, response]): [string, typeof response, object] => {
    const { code: serviceCode, message, detail, more_info } = response.body as ErrorBody;
    const read = { serviceCode, message: message ?? detail, more_info };
    return [name, response, { ...failed(response.status), ...read }];
  }),
  ["nothing", { status: 400 }, failed(400)],
  ["truncated JSON", { status: 200, body: '{"sid":"SK' }, bad],
  ["JSON null", { status: 404, body: "null" }, failed(404)],
  ["a resource without a sid", { status: 200, body: { friendly_name: "x" } }, bad],
  [
    "members of other types",
    { status: 400, body: { code: "x", message: 5, more_info: 5, title: "No" } },
    { ...failed(400), more_info: undefined, message: "No" },
  ],
  ["a redirect", { status: 308 }, { status: 308, code: "REDIRECTED" }],
  ["almost 8 MiB", { status: 400, body: "x".repeat(8_000_000) }, failed(400)],
  ["more than 8 MiB", { status: 200, body: "x".repeat(9_000_000) }, bad],
  ...[
    ["60", 60],
    [inSeconds(60), 60],
    [inSeconds(-60), 0],
    ["soon", undefined],
  ].map(
    ([after, retryAfterSeconds]): [string, { status: number; headers: typeof late }, object] => [
      `a Retry-After of ${after}`,
      { status: 429, headers: { "retry-after": String(after) } },
      { ...failed(429), retryAfterSeconds },
    ],
  ),
])("failures of %s", async (_what, scripted, expected) => {
  upstream.script.push(scripted);
  const clock = jest.spyOn(Date, "now").mockReturnValue(NOW_MS + 500);
  const fetched = clientAt(upstream.url, { maxRetries: 0 }).keys.fetch(KEY_SID);
  const error = await fetched.catch((thrown: unknown) => thrown as ApiError);
  clock.mockRestore();
  const request = { method: "GET", path: `${KEYS}/${KEY_SID}.json` };
  expect(error).toMatchObject({ name: "ApiError", ...request, ...expected });
  const { name, code, serviceCode, status: shown, message } = error as ApiError;
  const json = { name, code, serviceCode, status: shown, message };
  expect(JSON.stringify(error)).toBe(JSON.stringify(json));
});

it("waits 10 s and tries a request three times, unless it is told otherwise", async () => {
  const timeout = jest.spyOn(AbortSignal, "timeout");
  const failing = { status: 503, headers: { "retry-after": "0" } };
  upstream.script.push(...Array<typeof failing>(9).fill(failing));
  const { keys } = createAdminClient(clientOptions(upstream.url));
  await expect(keys.fetch(KEY_SID)).rejects.toHaveProperty("status", 503);
  expect(upstream.seen).toHaveLength(3);
  expect(timeout).toHaveBeenCalledWith(10_000);
  timeout.mockRestore();
  upstream.script.splice(1);
  await expect(keys.fetch(KEY_SID)).rejects.toHaveProperty("status", 404);
});

it("waits for the Retry-After before a retry, else longer each time, up to 2 s", async () => {
  const random = jest.spyOn(Math, "random").mockReturnValue(0.5);
  const sleep = jest.spyOn(timers, "setTimeout").mockResolvedValue(undefined);
  const failing = { status: 503 };
  upstream.script.push({ ...failing, headers: { "retry-after": "7" } });
  upstream.script.push(...Array<typeof failing>(5).fill(failing));
  await clientAt(upstream.url, { maxRetries: 6 }).keys.page();
  expect(sleep.mock.calls.map(([ms]) => ms)).toEqual([7_000, 300, 600, 1_200, 1_500, 1_500]);
  for (const mock of [random, sleep]) mock.mockRestore();
});

const headers = { "retry-after": "0" };
it.each<[string, "GET" | "POST" | "DELETE", object, tries: number, times?: number, max?: number]>([
  ["429", "GET", { status: 429, headers }, 2],
  ["429", "POST", { status: 429, headers }, 2],
  ["503", "GET", { status: 503, headers }, 2],
  ["503", "POST", { status: 503, headers }, 1],
  ["500 before a 404, which means deleted", "DELETE", { status: 500 }, 2],
  ["a dropped connection", "GET", { drops: true }, 2],
  ["a dropped connection", "POST", { drops: true }, 1],
  ["404", "DELETE", { status: 404 }, 1],
  ["429 with a Retry-After over timeoutMs", "GET", { status: 429, headers: late }, 1],
  ["503, maxRetries times", "GET", { status: 503, headers }, 5, 9],
  ["503, which does not mean deleted", "DELETE", { status: 503, headers }, 5, 9],
  ["429, until timeoutMs", "GET", { status: 429, headers }, 7, 6],
  ["429, unless maxRetries is 0", "GET", { status: 429, headers }, 1, 1, 0],
])("tries again after %s, a %s: %o", async (_what, method, scripted, tries, ...row) => {
  const [times = 1, maxRetries = 4] = row;
  const { sid } = upstream.createKey("x");
  upstream.script.push(...Array<never>(times).fill(scripted as never));
  const { keys } = clientAt(upstream.url, { maxRetries });
  const calls = {
    GET: () => keys.fetch(sid),
    POST: () => keys.update(sid, {}),
    DELETE: () => keys.delete(KEY_SID),
  };
  const [{ status }] = await Promise.allSettled([calls[method]()]);
  const expected = tries > times ? "fulfilled" : "rejected";
  expect({ status, length: upstream.seen.length }).toEqual({ status: expected, length: tries });
});

it("only a rejected password is followed by the next one of the list", async () => {
  const { main, standard, account } = CREDENTIALS;
  const sent: string[] = [];
  const recording: AdminClientOptions["fetch"] = (url, init) => {
    const { accept, authorization = "" } = init.headers;
    expect(accept).toBe("application/json");
    sent.push(atob(authorization.slice("Basic ".length)).replace(/.*:/, ""));
    return fetch(url, init);
  };
  const passwords = ["old", account.password, "older"];
  const client = clientAt(upstream.url, { password: passwords, fetch: recording });
  await client.keys.create({});
  await client.keys.page();
  expect(sent).toEqual(["old", account.password, account.password]);
  // A failure is none of the password, and neither is a Key that may not manage Keys.
  upstream.script.push({ status: 502 }, { status: 403 });
  await expect(client.keys.page()).rejects.toHaveProperty("status", 403);
  expect(sent.splice(3)).toEqual([account.password, account.password]);
  upstream.script.push({ status: 401 }, { status: 401 });
  await expect(client.keys.page()).rejects.toHaveProperty("status", 401);
  expect(sent.splice(3)).toEqual([account.password, "older", "old"]);
  expect(client).toMatchObject({ usesKey: false, keySid: undefined });
  const standardClient = clientAt(upstream.url, {
    ...standard,
    password: ["old", standard.password],
  });
  expect(standardClient).toMatchObject({ usesKey: true, keySid: standard.username });
  const failure = { code: "MAIN_KEY_REQUIRED", status: 401, cause: { serviceCode: 20003 } };
  await expect(standardClient.keys.page()).rejects.toMatchObject(failure);
  const rejected = clientAt(upstream.url, { ...main, password: ["old", "older"] });
  await expect(rejected.webhooks.page()).rejects.toHaveProperty("status", 401);
});

it("the global fetch of the time of the request is called", async () => {
  const { url } = upstream;
  const client = clientAt(url);
  const stub = jest.spyOn(globalThis, "fetch").mockResolvedValue(Response.json({ keys: [] }));
  await expect(client.keys.page()).resolves.toHaveProperty("items", []);
  stub.mockRestore();
  expect(upstream.seen).toEqual([]);
});

// router.test.ts tests the schemas of these methods.
type Call = [what: string, call: (client: typeof upstream.client) => Promise<unknown>];
it.each<Call>([
  ["the SID of a webhook", ({ keys }) => keys.fetch(WEBHOOK_SID)],
  ["a SID with a path", ({ keys }) => keys.delete(`../${KEY_SID}`)],
  ["a SID with a newline", ({ webhooks }) => webhooks.fetch(`${WEBHOOK_SID}\n`)],
  ["a SID to update", ({ webhooks }) => webhooks.update("YW1", {})],
  ["an unknown member", ({ keys }) => keys.create({ name: "x" } as never)],
  ["null", ({ keys }) => keys.create(null as never)],
  ["null to update", ({ keys }) => keys.update(KEY_SID, null as never)],
  ["a webhook of null", ({ webhooks }) => webhooks.create(null as never)],
  ["a webhook of null to update", ({ webhooks }) => webhooks.update(WEBHOOK_SID, null as never)],
  ["no URL", ({ webhooks }) => webhooks.ensure({ ...WEBHOOK, webhook_url: undefined } as never)],
  ...["", ".", "..", "\ud800"].flatMap((entityIdentity): Call[] => [
    [
      "a user of a challenge",
      ({ challenges }) => challenges.fetch({ entityIdentity, challengeSid: CHALLENGE_SID }),
    ],
    [
      "a user of a factor",
      ({ factors }) => factors.fetch({ entityIdentity, factorSid: FACTOR_SID }),
    ],
    ["a user of factors", ({ factors }) => collect(factors.list({ entityIdentity }))],
    ["a user to compare", ({ factors }) => factors.compare({ entityIdentity, known: [] })],
  ]),
  [
    "the SID of a factor",
    ({ challenges }) => challenges.fetch({ entityIdentity: "ada", challengeSid: FACTOR_SID }),
  ],
  [
    "the SID of a challenge",
    ({ factors }) => factors.fetch({ entityIdentity: "ada", factorSid: CHALLENGE_SID }),
  ],
  ...[
    { factorSid: "YF1", status: "verified" },
    { factorSid: FACTOR_SID, status: "new" },
  ].map((one): Call => [
    "a factor",
    ({ factors }) => factors.compare({ entityIdentity: "ada", known: [one as never] }),
  ]),
  ...[null, 5, "2", { pageSize: 0 }, { pageSize: 1001 }, { page: -1 }, { size: 2 }].map(
    (query): Call => [
      `the query ${JSON.stringify(query)}`,
      ({ webhooks }) => webhooks.page(query as never),
    ],
  ),
])("an argument is validated before a request is sent: %s", async (_what, call) => {
  const rejected = { name: "InputError", issues: expect.any(Array) };
  await expect(call(upstream.client)).rejects.toMatchObject(rejected);
  await expect(call(upstream.client)).rejects.toThrow(TypeError);
  expect(upstream.seen).toEqual([]);
});

it.each<[what: string, call: Call[1], path: string, problem: string]>([
  ["an argument", ({ keys }) => keys.fetch("SK1"), "sid", "sid: must be SK"],
  [
    "a member",
    ({ factors }) =>
      factors.compare({ entityIdentity: "a", known: [{ factorSid: "1", status: "verified" }] }),
    "known.0.factorSid",
    "input: known.0.factorSid: must be YF",
  ],
])("an InputError names %s", async (_what, call, path, problem) => {
  const error = await call(upstream.client).catch((thrown: unknown) => thrown as Error);
  const digits = " and 32 hexadecimal digits";
  expect(error).toHaveProperty("issues", [{ path, message: problem.replace(/.*: /, "") + digits }]);
  const message = problem + digits;
  expect(JSON.stringify(error)).toBe(
    JSON.stringify({ name: "InputError", code: "INVALID_INPUT", message }),
  );
});

it.each<[string, object]>([
  ["accountUrl", { accountUrl: undefined }],
  ["verifyUrl", { verifyUrl: undefined }],
  ...[
    "api.example.com",
    "https://me:hush@a.test",
    "ftp://a.test",
    "https://a.test#x",
    "https://[bad",
  ].map((accountUrl): [string, object] => ["accountUrl", { accountUrl }]),
  ["verifyUrl", { verifyUrl: "https://api.example.com/?x=1" }],
  ["accountSid", { accountSid: "AC1" }],
  ["serviceSid", { serviceSid: undefined }],
  ["username", { username: "me" }],
  ["password", { password: "" }],
  ["password", { password: [] }],
  ["password", { password: ["hush", ""] }],
  ["timeoutMs", { timeoutMs: 0 }],
  ["maxRetries", { maxRetries: -1 }],
  ["maxRetries", { maxRetries: 11 }],
  ["fetch", { fetch: {} }],
  ['Did you mean "password"', { pasword: "hush" }],
])("createAdminClient rejects %s in %j", (word, change) => {
  const make = () => clientAt("https://api.example.com", change);
  expect(make).toThrow(TypeError);
  expect(make).toThrow(word);
  expect(make).toThrow(expect.objectContaining({ message: expect.not.stringContaining("hush") }));
});

const credentials = { accountSid: ACCOUNT_SID, password: "secret" };
const service = { verifyUrl: "http://127.0.0.1:9", serviceSid: SERVICE_SID };
it("the methods of an API without a URL name the option that is missing", async () => {
  const keysOnly = createAdminClient({ ...credentials, accountUrl: "http://127.0.0.1:9" });
  const others = createAdminClient({ ...credentials, ...service });
  const key = { entityIdentity: "user-7f3a-22", challengeSid: CHALLENGE_SID };
  for (const [called, option] of [
    [others.keys.create(), "accountUrl"],
    [others.keys.page(), "accountUrl"],
    [keysOnly.webhooks.page(), "verifyUrl"],
    [keysOnly.webhooks.check({ publicUrl: "http://a", handledTypes: () => [] }), "verifyUrl"],
    [keysOnly.challenges.fetch(key), "verifyUrl"],
  ] as const) {
    await expect(called).rejects.toMatchObject({ name: "InputError", issues: [{ path: option }] });
  }
  expect(keysOnly.serviceSid).toBe("");
  expect(others.serviceSid).toBe(SERVICE_SID);
});

it.each([{}, { verifyUrl: service.verifyUrl }])("createAdminClient rejects only %j", (one) => {
  expect(() => createAdminClient({ ...credentials, ...one })).toThrow(/is not set/);
});

it("createAdminClient has an option fetch that undici's fits, also with a dispatcher", () => {
  type Option = NonNullable<AdminClientOptions["fetch"]>;
  expectTypeOf<typeof undici.fetch>().toExtend<Option>();
  expectTypeOf<typeof fetch>().toExtend<Option>();
  type Init = NonNullable<Parameters<Option>[1]> & { dispatcher: undici.Dispatcher };
  expectTypeOf<[string, Init]>().toExtend<Parameters<typeof undici.fetch>>();
});

const found = { ok: true, status: 200, headers: new Headers() };
it.each<[what: string, imitation: () => unknown]>([
  ["nothing", () => undefined],
  ["no promise", () => found],
  ["an object without headers", () => ({ ok: false, status: 500 })],
  ["a body that is a text", () => ({ ...found, body: '{"keys":[]}' })],
  ["a body that cannot be iterated", () => ({ ...found, body: {} })],
  ["json() alone", () => ({ ...found, json: async () => ({ keys: [] }) })],
  ...HOSTILE_VALUES.map(([what, thrown]): [string, () => unknown] => [
    `a throw of ${what}`,
    () => {
      throw thrown;
    },
  ]),
])("an imitation of fetch that returns %s fails with an ApiError", async (_what, imitation) => {
  const client = clientAt(upstream.url, { fetch: imitation as never, maxRetries: 0 });
  await expect(client.keys.page()).rejects.toHaveProperty("name", "ApiError");
});

it("createAdminClient reads inherited options", async () => {
  const options = Object.create(clientOptions(upstream.url)) as AdminClientOptions;
  expect((await createAdminClient(options).keys.page()).items).not.toEqual([]);
});

it("createAdminClient keeps the path of its base URLs", async () => {
  const { keys, webhooks } = clientAt(`${upstream.url}/gateway//`);
  upstream.script.push({ status: 404 }, { status: 404 });
  await Promise.allSettled([keys.page(), webhooks.page()]);
  const paths = [`${KEYS}.json`, `/v2/Services/${SERVICE_SID}/Webhooks`];
  expect(upstream.seen.toSorted()).toEqual(paths.map((path) => `GET /gateway${path}`));
});
