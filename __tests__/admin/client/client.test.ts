import { expectTypeOf } from "expect-type";
import type * as undici from "undici-types";
import { collect, until } from "../../support/waiting";
import {
  ApiError,
  createAdminClient,
  type AdminClientOptions,
  type Key,
  type Webhook,
  type WebhookInput,
} from "express-push-verification/admin";
import errors from "../../fixtures/errors.json";
import { ACCOUNT_SID, SERVICE_SID } from "../../support/webhook-requests";
import {
  clientOptions,
  startUpstream,
  stopUpstreams,
  WEBHOOK,
  type Upstream,
} from "../../support/upstream";

let upstream: Upstream;
let client: ReturnType<typeof createAdminClient>;
const KEY_SID = `SK${"a".repeat(32)}`;
const WEBHOOK_SID = `YW${"a".repeat(32)}`;

beforeEach(async () => {
  upstream = await startUpstream();
  client = createAdminClient({ ...clientOptions(upstream.url), timeoutMs: 2_000 });
});
afterEach(stopUpstreams);

// admin/router/router.test.ts has their results.
it("the requests are those of the specification", async () => {
  const { sid: key } = await client.keys.create({ friendly_name: "billing-worker" });
  await client.keys.fetch(key);
  await client.keys.update(key, { friendly_name: "billing-worker (blue)" });
  await expect(client.keys.delete(key)).resolves.toBeUndefined();
  const event_types = ["factor.verified", "challenge.approved"] as const;
  const input = { ...WEBHOOK, event_types: [...event_types] };
  const { sid: webhook } = await client.webhooks.create(input);
  await client.webhooks.fetch(webhook);
  await client.webhooks.update(webhook, { status: "disabled", event_types: ["*"] });
  await expect(client.webhooks.delete(webhook)).resolves.toBeUndefined();
  const keys = `/2010-04-01/Accounts/${ACCOUNT_SID}/Keys`;
  const webhooks = `/v2/Services/${SERVICE_SID}/Webhooks`;
  const types = "EventTypes=factor.verified&EventTypes=challenge.approved";
  const url = encodeURIComponent(WEBHOOK.webhook_url);
  const requests = upstream.seen.map(({ method, path, form }) => {
    return `${method} ${path} ${new URLSearchParams(form).toString()}`.trim();
  });
  expect(requests).toEqual([
    `POST ${keys}.json FriendlyName=billing-worker`,
    `GET ${keys}/${key}.json`,
    `POST ${keys}/${key}.json FriendlyName=billing-worker+%28blue%29`,
    `DELETE ${keys}/${key}.json`,
    `POST ${webhooks} FriendlyName=login+events&${types}&WebhookUrl=${url}`,
    `GET ${webhooks}/${webhook}`,
    `POST ${webhooks}/${webhook} EventTypes=*&Status=disabled`,
    `DELETE ${webhooks}/${webhook}`,
  ]);
  expect(upstream.seen[0]).toHaveProperty("contentType", "application/x-www-form-urlencoded");
});

describe("keys", () => {
  it("are listed over three pages, forwards and backwards", async () => {
    for (const name of ["a", "b", "c"]) upstream.createKey(name);
    const keys = await collect(client.keys.list({ pageSize: 2 }));
    const names = ["c", "b", "a", "main", "standard"];
    expect(keys.map(({ friendly_name }) => friendly_name)).toEqual(names);
    expect(upstream.seen.map(({ query }) => query.toString())).toEqual([
      "PageSize=2",
      expect.stringMatching(/^PageSize=2&Page=1&PageToken=[\w-]+$/),
      expect.stringMatching(/^PageSize=2&Page=2&PageToken=[\w-]+$/),
    ]);
    const pages = await collect(client.keys.pages({ pageSize: 2 }));
    expect(pages.map(({ items }) => items.length)).toEqual([2, 2, 1]);
    expect([pages[0]?.previous, pages[2]?.next]).toEqual([undefined, undefined]);
    const middle = await client.keys.page(pages[2]?.previous);
    expect(middle.items).toEqual(pages[1]?.items);
  });

  it("may be none, and have nulls and unknown members", async () => {
    const odd = {
      sid: KEY_SID,
      friendly_name: null,
      date_created: null,
      date_updated: null,
      x: [1],
    };
    upstream.script.push(
      { status: 200, body: { keys: [] } },
      { status: 200, body: { keys: [odd] } },
    );
    expect(await collect(client.keys.list())).toEqual([]);
    expect(await collect(client.keys.list())).toEqual([odd]);
  });
});

describe("webhooks.ensure", () => {
  const input: WebhookInput = {
    friendly_name: "login events",
    event_types: ["challenge.approved", "challenge.denied"],
    webhook_url: "https://hooks.example.test/push/events",
  };
  const writes = () => upstream.seen.filter(({ method }) => method !== "GET");

  it("creates a missing webhook once", async () => {
    const first = await client.webhooks.ensure(input);
    const second = await client.webhooks.ensure(input);
    expect([first.result, second.result]).toEqual(["created", "unchanged"]);
    expect(second.webhook).toEqual(first.webhook);
    expect(await upstream.listWebhooks()).toHaveLength(1);
    expect(writes()).toHaveLength(1);
  });

  it("finds it on a later page, by its whole URL", async () => {
    for (let index = 0; index < 3; index++) {
      upstream.createWebhook({ ...WEBHOOK, webhook_url: `${input.webhook_url}/${index}` });
    }
    const { sid } = upstream.createWebhook(WEBHOOK);
    const found = { result: "unchanged", webhook: { sid } };
    expect(await client.webhooks.ensure(input)).toMatchObject(found);
  });

  it("changes only the members that differ", async () => {
    upstream.createWebhook({ ...WEBHOOK, status: "disabled", version: "v1" });
    const { result, webhook } = await client.webhooks.ensure({ ...input, status: "enabled" });
    expect([result, webhook.status, webhook.version]).toEqual(["updated", "enabled", "v1"]);
    expect(writes().map(({ form }) => form)).toEqual([[["Status", "enabled"]]]);
  });

  it("compares event types as a set", async () => {
    upstream.createWebhook(WEBHOOK);
    const event_types: WebhookInput["event_types"] = ["challenge.denied", "challenge.approved"];
    const equal = await client.webhooks.ensure({ ...input, event_types });
    const other = await client.webhooks.ensure({ ...input, event_types: ["*"] });
    expect([equal.result, other.result]).toEqual(["unchanged", "updated"]);
  });

  it("leaves one, when several deploys run it at the same time", async () => {
    const ensured = await Promise.all(
      Array.from({ length: 6 }, () => client.webhooks.ensure(input)),
    );
    expect(await upstream.listWebhooks()).toHaveLength(1);
    const [left] = await upstream.listWebhooks();
    expect(new Set(ensured.map(({ webhook }) => webhook.sid))).toEqual(new Set([left?.sid]));
    expect(ensured.filter(({ result }) => result === "created")).toHaveLength(1);
  });

  it("finds a method that receivers reject, which it cannot change", async () => {
    expect(await client.webhooks.ensure(input)).toHaveProperty("findings", []);
    const [created] = await upstream.listWebhooks();
    const webhook_url = `${input.webhook_url}/2`;
    const { sid } = upstream.createWebhook({ ...WEBHOOK, webhook_url, webhook_method: "GET" });
    const { findings } = await client.webhooks.ensure({ ...input, webhook_url });
    expect(findings.map(({ code }) => code)).toEqual(["METHOD_DIFFERS"]);
    expect(await client.webhooks.ensure(input)).toMatchObject({
      webhook: { sid: created?.sid },
      findings: [{ code: "URL_EXTENDS", sid }],
    });
  });

  it("uses the oldest and deletes no existing Webhook", async () => {
    const { sid } = upstream.createWebhook(WEBHOOK);
    upstream.createWebhook(WEBHOOK);
    const found = { result: "unchanged", webhook: { sid } };
    expect(await client.webhooks.ensure(input)).toMatchObject(found);
    expect(await upstream.listWebhooks()).toHaveLength(2);
  });
});

describe("paging", () => {
  it.each([null, 5, "2", { pageSize: 0 }, { size: 2 }])("rejects the query %j", async (query) => {
    await expect(client.keys.page(query as never)).rejects.toHaveProperty("name", "InputError");
    expect(upstream.seen).toHaveLength(0);
  });

  const linkTo = (next_page_uri: string) => ({ status: 200, body: { keys: [], next_page_uri } });

  it.each([
    "https://evil.example/x?Page=1",
    "//evil.example/?Page=1",
    "ftp://127.0.0.1/",
    "http://[bad",
  ])("never goes to %s", async (link) => {
    upstream.script.push(linkTo(link));
    await expect(collect(client.keys.list())).rejects.toMatchObject({ code: "FOREIGN_PAGE" });
    expect(upstream.seen).toHaveLength(1);
  });

  it("ends when the service links in a circle", async () => {
    const circle = linkTo(`/2010-04-01/Accounts/${ACCOUNT_SID}/Keys.json?Page=1&PageToken=a`);
    upstream.script.push(circle, circle, circle);
    await expect(collect(client.keys.list())).rejects.toMatchObject({ code: "BAD_RESPONSE" });
  });
});

it("reads options that are inherited, such as those of a class with getters", async () => {
  const options = Object.create(clientOptions(upstream.url)) as ReturnType<typeof clientOptions>;
  expect(await createAdminClient(options).keys.page()).toHaveProperty("items");
});

describe("failures", () => {
  const { note: _note, ...fixtures } = errors;
  const responses = Object.entries(fixtures).filter(([, error]) => "body" in error) as [
    name: string,
    response: { status: number; body: { code?: number; message?: string; more_info?: string } },
  ][];

  it.each(responses)("%s", async (_name, { status, body }) => {
    upstream.script.push({ status, body });
    const once = createAdminClient({ ...clientOptions(upstream.url), maxRetries: 0 });
    const { code: serviceCode, message, more_info } = body;
    await expect(once.keys.update(KEY_SID, {})).rejects.toMatchObject({
      ...(message !== undefined && { message }),
      ...(more_info !== undefined && { more_info }),
      name: "ApiError",
      status,
      code: "SERVICE_ERROR",
      serviceCode,
      method: "POST",
      path: `/2010-04-01/Accounts/${ACCOUNT_SID}/Keys/${KEY_SID}.json`,
    });
  });

  const failed = (status: number) => ({ status, code: "SERVICE_ERROR", serviceCode: undefined });
  const bad = { status: 200, code: "BAD_RESPONSE" };
  it.each<[string, object, object]>([
    ["nothing", { status: 400 }, failed(400)],
    ["nothing with 200", { status: 200 }, bad],
    ["truncated JSON", { status: 200, body: '{"sid":"SK' }, bad],
    ["JSON null", { status: 404, body: "null" }, failed(404)],
    ["a resource without a sid", { status: 200, body: { friendly_name: "x" } }, bad],
    ["members of other types", { status: 400, body: { code: "x", message: 5 } }, failed(400)],
  ])("survives %s", async (_what, scripted, expected) => {
    upstream.script.push(...Array(3).fill(scripted));
    const rejected = { name: "ApiError", ...expected };
    await expect(client.keys.fetch(KEY_SID)).rejects.toMatchObject(rejected);
  });

  it("rejects a response over 8 MiB", async () => {
    upstream.script.push(...Array(3).fill({ status: 200, body: "x".repeat(9_000_000) }));
    await expect(client.keys.fetch(KEY_SID)).rejects.toHaveProperty("code", "BAD_RESPONSE");
  });

  it.each([
    ["before the request", undefined],
    ["while it waits", { status: 0, hangs: true }],
    ["in a pause", { status: 429, headers: { "retry-after": "20" } }],
  ])("ends with the reason of its signal %s", async (_when, scripted) => {
    const patient = createAdminClient({ ...clientOptions(upstream.url), timeoutMs: 60_000 });
    const reason = new Error("changed my mind");
    const stop = new AbortController();
    if (scripted === undefined) stop.abort(reason);
    else upstream.script.push(scripted);
    const fetched = expect(patient.keys.fetch(KEY_SID, { signal: stop.signal })).rejects.toBe(
      reason,
    );
    const sent = scripted === undefined ? 0 : 1;
    await until(() => upstream.seen.length === sent);
    stop.abort(reason);
    await fetched;
    expect(upstream.seen).toHaveLength(sent);
  });
});

describe("tries again", () => {
  const soon = { "retry-after": "0" };
  const rows: [string, "GET" | "POST" | "DELETE", object, number][] = [
    ["429", "GET", { status: 429, headers: soon }, 2],
    ["429", "POST", { status: 429, headers: soon }, 2],
    ["429", "DELETE", { status: 429, headers: soon }, 2],
    ["503", "GET", { status: 503, headers: soon }, 2],
    ["503", "POST", { status: 503, headers: soon }, 1],
    ["503", "DELETE", { status: 503 }, 2],
    ["500", "GET", { status: 500 }, 2],
    ["500", "POST", { status: 500 }, 1],
    ["500", "DELETE", { status: 500 }, 2],
    ["a dropped connection", "GET", { drops: true }, 2],
    ["a dropped connection", "POST", { drops: true }, 1],
    ["400", "GET", { status: 400 }, 1],
    ["404", "DELETE", { status: 404 }, 1],
  ];
  it.each(rows)("after %s, a %s: %o", async (_what, method, scripted, tries) => {
    const { sid } = upstream.createKey("x");
    upstream.script.push(scripted as never);
    const calls = {
      GET: () => client.keys.fetch(sid),
      POST: () => client.keys.update(sid, {}),
      DELETE: () => client.keys.delete(sid),
    };
    const [{ status }] = await Promise.allSettled([calls[method]()]);
    expect([status, upstream.seen.length]).toEqual([tries > 1 ? "fulfilled" : "rejected", tries]);
  });

  it("at most maxRetries times", async () => {
    upstream.script.push(...Array(9).fill({ status: 503, headers: soon }));
    const stubborn = createAdminClient({ ...clientOptions(upstream.url), maxRetries: 4 });
    await expect(stubborn.keys.fetch(KEY_SID)).rejects.toHaveProperty("status", 503);
    expect(upstream.seen).toHaveLength(5);
  });

  it("more often than maxRetries after 429, until timeoutMs", async () => {
    const { sid } = upstream.createKey("x");
    upstream.script.push(...Array(5).fill({ status: 429, headers: soon }));
    await expect(client.keys.fetch(sid)).resolves.toHaveProperty("sid", sid);
  });

  it("not when Retry-After is later than timeoutMs", async () => {
    upstream.script.push({ status: 429, headers: { "retry-after": "60" } });
    const rejected = client.keys.fetch(KEY_SID);
    await expect(rejected).rejects.toMatchObject({ status: 429, retryAfterSeconds: 60 });
    expect(upstream.seen).toHaveLength(1);
  });

  it("and treats a 404 to a repeated deletion as deleted", async () => {
    upstream.script.push({ status: 500 });
    await expect(client.keys.delete(KEY_SID)).resolves.toBeUndefined();
  });
});

describe("arguments", () => {
  // router.test.ts tests the schemas of these methods.
  it.each<[string, () => Promise<unknown>]>([
    ["the SID of a webhook", () => client.keys.fetch(WEBHOOK_SID)],
    ["a SID with a path", () => client.keys.delete(`../${KEY_SID}`)],
    ["a SID with a newline", () => client.webhooks.fetch(`${WEBHOOK_SID}\n`)],
    ["no SID", () => client.webhooks.delete(undefined as never)],
    ["a SID to update", () => client.webhooks.update("YW1", {})],
    ["an unknown member", () => client.keys.create({ name: "x" } as never)],
    ["null", () => client.keys.create(null as never)],
    ["no URL", () => client.webhooks.ensure({ friendly_name: "x", event_types: ["*"] } as never)],
    ["a page of 1,001 items", () => client.webhooks.page({ pageSize: 1001 })],
  ])("are validated before a request is sent: %s", async (_what, call) => {
    await expect(call()).rejects.toMatchObject({ name: "InputError", issues: expect.any(Array) });
    await expect(call()).rejects.toThrow(TypeError);
    expect(upstream.seen).toHaveLength(0);
  });
});

describe("createAdminClient", () => {
  const good = clientOptions("https://api.example.com");
  it.each<[string, object]>([
    ["accountUrl", { accountUrl: undefined }],
    ["accountUrl", { accountUrl: "api.example.com" }],
    ["accountUrl", { accountUrl: "https://me:hush@api.example.com" }],
    ["verifyUrl", { verifyUrl: "https://api.example.com/?x=1" }],
    ["accountSid", { accountSid: "AC1" }],
    ["serviceSid", { serviceSid: undefined }],
    ["username", { username: "me" }],
    ["password", { password: "" }],
    ["password", { password: 5 }],
    ["timeoutMs", { timeoutMs: 0 }],
    ["maxRetries", { maxRetries: -1 }],
    ["fetch", { fetch: {} }],
    ['Did you mean "password"', { pasword: "hush" }],
  ])("rejects %s in %j", (word, change) => {
    const make = () => createAdminClient({ ...good, ...change });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(word);
    expect(make).toThrow(expect.objectContaining({ message: expect.not.stringContaining("hush") }));
  });

  it("has an option fetch that undici's fits, also with a dispatcher", () => {
    type Option = NonNullable<AdminClientOptions["fetch"]>;
    expectTypeOf<typeof undici.fetch>().toExtend<Option>();
    expectTypeOf<typeof fetch>().toExtend<Option>();
    const addDispatcher =
      (send: typeof undici.fetch, dispatcher: undici.Dispatcher): Option =>
      (url, init) =>
        send(url, { ...init, dispatcher });
    expectTypeOf(addDispatcher).returns.toEqualTypeOf<Option>();
  });

  it("keeps the path of its base URLs", async () => {
    upstream.script.push({ status: 404 });
    const behind = createAdminClient(clientOptions(`${upstream.url}/gateway/`));
    await expect(behind.keys.fetch(KEY_SID)).rejects.toThrow(ApiError);
    expect(upstream.seen[0]?.path).toBe(
      `/gateway/2010-04-01/Accounts/${ACCOUNT_SID}/Keys/${KEY_SID}.json`,
    );
  });

  it("is typed", () => {
    expectTypeOf(client.keys.list).returns.toExtend<AsyncIterable<Key>>();
    expectTypeOf<Webhook["event_types"]>().toEqualTypeOf<readonly string[] | null>();
    expectTypeOf(client.keys.create).returns.resolves.toHaveProperty("secret");
    // @ts-expect-error: fetched Keys have no secret
    expectTypeOf<Key>().toHaveProperty("secret").toEqualTypeOf<string>();
  });
});
