import { execFile } from "node:child_process";
import { Console } from "node:console";
import { PassThrough } from "node:stream";
import { inspect, promisify } from "node:util";
import express from "express";
import type { Logger } from "express-push-verification";
import { adminRouter } from "express-push-verification/admin";
import { createReceiver } from "../../support/receivers";
import { ACCOUNT_SID, SERVICE_SID } from "../../support/webhook-requests";
import { WRAPPERS } from "../../support/response-wrappers";
import { MAIN_KEY, SECRETS, useUpstream, WEBHOOK } from "../../support/upstream";
import { createMemoryQueue, USER_DATA } from "../console/memory-queue";
import { APPS, makeStaffApp, type StaffAppOptions } from "../staff-app";

const KEY_SID = `SK${"a".repeat(32)}`;
const WEBHOOK_SID = `YW${"a".repeat(32)}`;

/** Texts in which no secret may appear: log lines, audits, responses. */
const seen: string[] = [];
const record = (...logged: unknown[]) => void seen.push(inspect(logged, { depth: 9 }));
const logger: Logger = { debug: record, info: record, warn: record, error: record };

const upstream = useUpstream();
afterAll(() => {
  expect(seen.length).toBeGreaterThan(100);
  for (const secret of SECRETS) expect(seen.filter((line) => line.includes(secret))).toEqual([]);
});

/** The address that a link leads to in a response of this address. */
function follow(from: string, link: unknown): string {
  const { pathname, search } = new URL(String(link), `https://staff.example.test${from}`);
  return pathname + search;
}

function start(options: StaffAppOptions = {}) {
  const { call: send, audits } = makeStaffApp(upstream, { logger, ...options });
  async function call(...request: Parameters<typeof send>) {
    const response = await send(...request);
    seen.push(response.text, JSON.stringify([response.headers, audits]));
    return response;
  }
  return { call, audits };
}

const fail = (): never => {
  throw new TypeError("req.user is undefined");
};

describe.each(APPS)("on %s", (_name, makeApp) => {
  it.each<[mount: string, order: string, before: express.RequestHandler[]]>([
    ["/", "before express.json()", []],
    ["/admin/push", "after express.json()", [express.json()]],
    ["/a/:tenant/b", "before express.json()", []],
  ])("does everything, mounted at %s %s", async (mount, _order, before) => {
    const { call } = start({ makeApp, mount, before });
    const created = await call("post /keys", { friendly_name: "blue" });
    const secret = expect.stringMatching(/^[A-Za-z0-9]{32}$/);
    expect(created).toMatchObject({ status: 201, body: { secret } });
    expect(created.headers["cache-control"]).toBe("no-store");
    const key = `/keys/${created.body.sid}`;
    expect((await call(`get ${key}`)).body).toEqual({ ...created.body, secret: undefined });
    for (const method of ["post", "patch"]) {
      const renamed = await call(`${method} ${key}`, { friendly_name: method });
      expect(renamed).toMatchObject({ status: 200, body: { friendly_name: method } });
    }
    expect(await call(`delete ${key}`)).toMatchObject({ status: 204, text: "" });
    const gone = { status: 404, body: { code: 20404, status: 404 } };
    expect(await call(`get ${key}`)).toMatchObject(gone);

    const { status, body } = await call("post /webhooks", WEBHOOK);
    const account = { account_sid: ACCOUNT_SID, service_sid: SERVICE_SID };
    expect({ status, body }).toMatchObject({ status: 201, body: { ...WEBHOOK, ...account } });
    const path = `/webhooks/${body.sid}`;
    expect(follow("/x/webhooks", body.url)).toBe(`/x${path}`);
    const fetched = await call(`get ${path}`);
    expect(follow(`/x${path}`, fetched.body.url)).toBe(`/x${path}`);
    expect({ ...fetched.body, url: body.url }).toEqual(body);
    for (const method of ["post", "patch"]) {
      const disabled = await call(`${method} ${path}`, { status: "disabled" });
      expect(disabled.body).toHaveProperty("status", "disabled");
    }
    expect(await call(`delete ${path}`)).toHaveProperty("status", 204);
    expect(await call(`delete ${path}`)).toHaveProperty("status", 404);
  });

  const lists = ["keys", "webhooks", "webhooks/"];
  it.each(lists)("pages %s both ways, behind a prefix that a proxy removes", async (list) => {
    for (const name of ["a", "b", "c"]) upstream.createKey(name);
    for (let count = 0; count < 5; count++) upstream.createWebhook(WEBHOOK);
    const { call } = start({ makeApp });
    const name = list.replace("/", "");
    const at = `/ops/admin/${name}`;
    const get = async (path: string) => {
      const { text, body } = await call(`get ${path.replace("/ops/admin", "")}`);
      expect(text).not.toContain(upstream.url);
      return body as Record<string, never[]> & { meta: Record<string, unknown>; url: string };
    };
    let address = `/ops/admin/${list}?page_size=2`;
    let page = await get(address);
    expect(page.meta.previous_page_url).toBeNull();
    const sizes = [page[name]?.length];
    while (page.meta.next_page_url !== null) {
      address = follow(address, page.meta.next_page_url);
      expect(address.replace(/page_token=[\w-]+$/, "")).toBe(
        `${at}?page_size=2&page=${sizes.length}&`,
      );
      page = await get(address);
      expect(follow(address, page.meta.url)).toBe(address);
      sizes.push(page[name]?.length);
    }
    expect(sizes).toEqual([2, 2, 1]);
    const back = await get(follow(at, page.meta.previous_page_url));
    expect(back.meta).toMatchObject({ page: 1, page_size: 2, key: name });
    expect(follow(at, back.meta.first_page_url)).toBe(`${at}?page_size=2&page=0`);
  });

  const url = "https://svc:hush-hush@a.test/p@q";
  const shown = { webhook_url: "https://***@a.test/p@q" };

  it("hides the user info of a webhook_url", async () => {
    const { call } = start({ makeApp });
    const created = await call("post /webhooks", { ...WEBHOOK, webhook_url: url });
    const path = `/webhooks/${created.body.sid}`;
    const changed = await call(`patch ${path}`, { status: "disabled" });
    const { body: list } = await call("get /webhooks");
    const { body: fetched } = await call(`get ${path}`);
    for (const webhook of [created.body, changed.body, fetched, list.webhooks[0]]) {
      expect(webhook).toMatchObject(shown);
    }
    expect(seen.join("")).not.toContain("hush-hush");
  });

  it("does not store the placeholder of user info", async () => {
    const { call } = start({ makeApp });
    const { body } = await call("post /webhooks", { ...WEBHOOK, webhook_url: url });
    const stored = await call(`patch /webhooks/${body.sid}`, shown);
    const message = expect.stringMatching(/\*\*\*/);
    expect(stored).toMatchObject({ status: 400, body: { message } });
    expect(await upstream.listWebhooks()).toMatchObject([{ webhook_url: url }]);
    expect(seen.join("")).not.toContain("hush-hush");
  });

  it.each<[what: string, body: unknown, event: string]>([
    ["whole", {}, "end"],
    ["whole, and empty", "", "end"],
    ["begun", { friendly_name: "x" }, "data"],
  ])("rejects a body that is %s with 500", async (_what, body, event) => {
    const consume: express.RequestHandler = (req, _res, next) => {
      if (event === "end") req.resume();
      req.once(event, () => (req.pause(), next()));
    };
    const { call } = start({ makeApp, before: [consume] });
    const rejected = await call("post /keys", body, { "content-type": JSON_TYPE });
    expect(rejected).toMatchObject({ status: 500, body: { code: "BODY_CONSUMED" } });
  });

  it.each(WRAPPERS.filter(([, , throws]) => throws !== true))(
    "responds behind a middleware: %s",
    async (_wrapper, middleware) => {
      const { call } = start({ makeApp, before: [middleware as express.RequestHandler] });
      for (const [line, status] of Object.entries({ "get /keys": 200, "get /nowhere": 404 }))
        expect(await call(line)).toHaveProperty("status", status);
    },
  );

  it.each(["setHeader", "status", "json", "send", "end"])(
    "audits a write that is reset because a middleware breaks res.%s",
    async (method) => {
      const breakMethod: express.RequestHandler = (_req, res, next) => {
        res[method as "end"] = fail;
        next();
      };
      const { call, audits } = start({ makeApp, before: [breakMethod], as: "account" });
      for (const line of ["get /keys", "get /nowhere", "put /keys"])
        await expect(call(line)).rejects.toHaveProperty("code", "ECONNRESET");
      await expect(call("post /keys", {})).rejects.toHaveProperty("code", "ECONNRESET");
      expect(audits.map(({ action }) => action)).toContain("key.create");
    },
  );

  it("audits a write without an actor when all options throw", async () => {
    const throwing = { debug: fail, info: fail, warn: fail, error: fail };
    const audits: unknown[] = [];
    const onAudit = async (entry: object) => (audits.push(entry), fail());
    const { call } = start({ makeApp, actor: fail, onAudit, logger: throwing });
    expect(await call("post /keys", {})).toHaveProperty("status", 201);
    expect(audits).toMatchObject([{ action: "key.create", actor: undefined, status: 201 }]);
  });
});

describe("authorize", () => {
  const lines = "get /keys,post /keys,get /webhooks,get /openapi.json,get /nowhere".split(",");
  const rejections: [string, unknown][] = [
    ["a promise of false", async () => false],
    ["an object", () => ({ user: 1 })],
    ["a rejection", async () => fail()],
  ];
  it.each(rejections)("rejects each request when it returns %s", async (_what, authorize) => {
    const { call } = start({ authorize: authorize as () => boolean });
    for (const line of [...lines, `delete /keys/${KEY_SID}`]) {
      expect(await call(line)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    }
    expect(upstream.seen).toEqual([]);
  });

  it("is required, as is a client", () => {
    const { client } = upstream;
    const authorize = () => true;
    for (const options of [{ authorize }, { client: { keys: {} }, authorize }, { client }]) {
      expect(() => adminRouter(options as never)).toThrow(TypeError);
    }
    for (const [name, value] of Object.entries({
      authorize: true,
      console: 1,
      receiver: { ...createReceiver().push },
      queue: { ...createMemoryQueue([]), eraseUserData: undefined },
      readOnly: 1,
      onAudit: {},
      actor: "ada",
      logger: {},
    })) {
      const make = () => adminRouter({ client, authorize, [name]: value });
      expect(make).toThrow(`option ${name} must be`);
    }
    for (const wrong of [{ revea: true }, { reveal: 1 }] as object[])
      expect(() => adminRouter({ client, authorize, console: wrong })).toThrow("reveal");
    expect(() => adminRouter({ client, authorise: authorize } as never)).toThrow('"authorize"?');
  });

  it("logs to a console the message of an error first, as a receiver does", async () => {
    const stream = new PassThrough().setEncoding("utf8");
    const { call } = start({ authorize: fail, logger: new Console(stream) });
    expect(await call("get /keys")).toHaveProperty("status", 403);
    expect(stream.read()).toMatch(/^authorize failed \{\n +err: TypeError: req\.user is undefined/);
  });
});

it("rejects every write of readOnly with 405, with the other methods in Allow", async () => {
  const { call } = start({ readOnly: true });
  const { status, headers } = await call("post /keys", {});
  expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: "GET" });
});

it("onAudit receives only writes, without a secret", async () => {
  const { call, audits } = start({ actor: (req) => req.get("x-user") });
  const user = { "x-user": "alice" };
  const { body } = await call("post /keys", { friendly_name: "x" }, user);
  for (const method of ["get", "options"]) await call(`${method} /keys`, undefined, user);
  await call(`patch /webhooks/${WEBHOOK_SID}`, { status: "disabled" }, user);
  await call("post /webhooks", {}, user);
  expect(audits).toEqual([
    { action: "key.create", actor: "alice", sid: body.sid, status: 201 },
    { action: "webhook.update", actor: "alice", sid: WEBHOOK_SID, status: 404, code: 20404 },
    { action: "webhook.create", actor: "alice", status: 400, code: "INVALID_INPUT" },
  ]);
  expect(JSON.stringify(audits)).not.toContain(body.secret);
});

it("onAudit receives the earlier values of what an update of a Webhook changed, without user info", async () => {
  const { call, audits } = start();
  const webhook_url = "https://ada:hush@example.com/a";
  const { sid } = upstream.createWebhook({ ...WEBHOOK, webhook_url });
  const { friendly_name, event_types } = WEBHOOK;
  const same = { friendly_name, event_types };
  const change = { ...same, webhook_url: "https://example.com/b", status: "disabled" };
  await call(`patch /webhooks/${sid}`, change);
  const before = { webhook_url: "https://***@example.com/a", status: "enabled" };
  expect(audits).toMatchObject([{ action: "webhook.update", sid, status: 200, before }]);
  expect(audits[0]?.before).toEqual(before);
  // The default of the option actor.
  expect(audits[0]?.actor).toMatch(/^(::ffff:)?127\.0\.0\.1$/);
});

it("onAudit receives what a write that failed was about", async () => {
  const queue = { ...createMemoryQueue(["down"]), retry: fail };
  const { call, audits } = start({ console: true, queue });
  const choice = { uuid: "uuid-0", accountSid: ACCOUNT_SID };
  const { body, text } = await call("post /console/dead-letters/retry", choice);
  expect(text).not.toContain("req.user");
  const failed = { status: 500, code: "INTERNAL" };
  expect(body).toMatchObject(failed);
  const about = { action: "dead-letter.retry", uuid: "uuid-0", count: 0 };
  expect(audits).toMatchObject([{ ...about, ...failed }]);
});

it("logs at error only what fails in it", async () => {
  const error = jest.fn();
  const { call } = start({ onAudit: fail, logger: { ...logger, error } });
  upstream.script.push({ status: 503 });
  for (const line of ["post /keys", "put /keys"]) await call(line, {});
  const err = expect.any(Error);
  expect(error.mock.calls).toMatchObject([
    [{ err, code: "UPSTREAM_FAILED", method: "POST" }, expect.any(String)],
    [{ err, action: "key.create", status: 502 }, "onAudit failed"],
    [{ err, status: 405 }, "onAudit failed"],
  ]);
});

describe("the client's own credentials", () => {
  it("are not deleted unless forced", async () => {
    const { call } = start({ as: "main" });
    for (const query of ["", "?force=false", "?force"]) {
      const own = await call(`delete /keys/${MAIN_KEY}${query}`);
      expect(own).toMatchObject({ status: 409, body: { code: "OWN_KEY" } });
    }
    expect(upstream.seen).toEqual([]);
    expect(await call(`delete /keys/${MAIN_KEY}?force=true`)).toHaveProperty("status", 204);
  });

  it("of a Standard Key are distinguished from wrong ones", async () => {
    const { call } = start({ as: "standard" });
    const rejected = { status: 403, body: { code: "MAIN_KEY_REQUIRED" } };
    expect(await call("get /keys")).toMatchObject(rejected);
    upstream.script.push({ status: 403, body: { code: 70051, status: 403 } });
    expect(await call("post /keys", {})).toMatchObject(rejected);
    upstream.script.push({ status: 401 }, { status: 401 });
    expect((await call("get /keys")).body).toHaveProperty("code", "UPSTREAM_UNAUTHORIZED");
  });
});

const HIDDEN = /AC[0-9a-f]{32}|2010-04-01|Services|docs\.example|Basic/;
describe("failures of the service", () => {
  const retry = { "retry-after": "7" };
  it.each<[object, number, number | string]>([
    [{ status: 400, body: { code: 20002, message: "Invalid FriendlyName" } }, 400, 20002],
    [{ status: 404, body: { message: "Gone" } }, 404, "UPSTREAM_404"],
    [{ status: 409, body: { code: 70001 } }, 409, 70001],
    [{ status: 429, body: { code: 20429 }, headers: retry }, 429, 20429],
    [{ status: 401, body: { code: 20003 } }, 502, "UPSTREAM_UNAUTHORIZED"],
    [{ status: 403, body: { code: 70051 } }, 502, "UPSTREAM_UNAUTHORIZED"],
    [{ status: 503, body: "<html>" }, 502, "UPSTREAM_FAILED"],
    [{ status: 301, headers: { location: "/" } }, 502, "UPSTREAM_REDIRECTED"],
    [{ status: 0, drops: true }, 502, "UPSTREAM_UNREACHABLE"],
    [{ status: 0, hangs: true }, 504, "UPSTREAM_TIMEOUT"],
  ])("responds to %j with %i %s", async (scripted, status, code) => {
    upstream.script.push(scripted as never);
    const timeoutMs = "hangs" in scripted ? 150 : 60_000;
    const response = await start({ timeoutMs }).call("get /keys");
    const body = { code, status, message: expect.any(String) };
    expect({ status: response.status, body: response.body }).toEqual({ status, body });
    expect(response.headers["retry-after"]).toBe(status === 429 ? "7" : undefined);
    expect(response.headers["www-authenticate"]).toBeUndefined();
    expect(response.text).not.toContain(new URL(upstream.url).host);
  });

  it("hide the address of the service, the account and credentials", async () => {
    const { call } = start();
    for (const line of [`get /keys/${KEY_SID}`, `get /webhooks/${WEBHOOK_SID}`]) {
      const { status, text, body } = await call(line);
      expect({ status, code: body.code }).toEqual({ status: 404, code: 20404 });
      expect(text).not.toMatch(HIDDEN);
    }
    const paths = `/v2/Services/a, https://a.test/Services/b ${ACCOUNT_SID} or _${ACCOUNT_SID}x`;
    const message = `No ${paths} with Basic ${btoa(`${ACCOUNT_SID}:hush`)}`;
    upstream.script.push({ status: 400, body: { code: 20001, message, status: 400 } });
    expect((await call("get /keys")).text).not.toMatch(HIDDEN);
    for (const [list, sid] of [
      ["keys", KEY_SID],
      ["webhooks", WEBHOOK_SID],
    ]) {
      upstream.script.push({ status: 200, body: { sid, links: { all: "/v2/Services" } } });
      const { status, text } = await call(`get /${list}/${sid}`);
      expect(status).toBe(200);
      expect(text).not.toMatch(HIDDEN);
    }
  });
});

const JSON_TYPE = "application/json";
const AT_KEY = `/keys/${KEY_SID}`;
const AT_WEBHOOK = `/webhooks/${WEBHOOK_SID}`;
const FORM = "application/x-www-form-urlencoded";

const INVALID = "400 INVALID_INPUT";
const UNSUPPORTED = "415 CONTENT_TYPE_UNSUPPORTED";
it.each<[outcome: string, line: string, body?: unknown, type?: string]>([
  ...[
    `/keys/${WEBHOOK_SID}`,
    `${AT_KEY}%0A`,
    `/keys/..%2F..%2F${KEY_SID}`,
    "/keys?page_size=1001",
    "/keys?page_size=1.5",
    "/keys?page_size=1&page_size=2",
    `/keys?page_size=${"9".repeat(400)}`,
    "/webhooks?page_token=",
    "/webhooks?page=",
    "/webhooks?PageSize=5",
  ].map((path): [string, string] => [INVALID, `get ${path}`]),
  ...[
    { friendly_name: "x".repeat(65) },
    { friendly_name: "x".repeat(65_000) },
    '{"constructor":{"prototype":{"x":1}}}',
    '{"__proto__":{"x":1}}',
    "null",
  ].map((body): [string, string, unknown] => [INVALID, "post /keys", body]),
  ...[
    { friendly_name: "" },
    { event_types: [] },
    { event_types: ["challenge.expired"] },
    { webhook_url: undefined },
    { webhook_url: "/push" },
    { webhook_url: WEBHOOK.webhook_url.padEnd(2049, "x") },
    { webhook_url: "javascript:alert(1)" },
    { webhook_url: "https://a.example/ b" },
  ].map((body): [string, string, unknown] => [INVALID, "post /webhooks", { ...WEBHOOK, ...body }]),
  ["400 INVALID_JSON", "post /keys", "{friendly_name:"],
  [INVALID, "post /webhooks", ""],
  [INVALID, `patch ${AT_WEBHOOK}`, { status: "on" }],
  [INVALID, `patch ${AT_WEBHOOK}`, { version: "v3" }],
  [INVALID, `patch ${AT_WEBHOOK}`, { webhook_method: "GET" }],
  [UNSUPPORTED, "post /keys", "{}", `${JSON_TYPE}; charset=iso-8859-1`],
  [UNSUPPORTED, "post /keys", "friendly_name=x", FORM],
  [UNSUPPORTED, "post /keys", "{}", "text/plain"],
  [UNSUPPORTED, "post /keys", "{}", "application/vnd.api+json"],
  ["413 BODY_TOO_LARGE", "post /keys", { friendly_name: "x".repeat(66_000) }],
  ["405 METHOD_NOT_ALLOWED", "put /keys", {}],
  ["404 NOT_FOUND", "get /factors"],
])("responds %s to the bad input %s %j", async (outcome, line, ...[body, type = JSON_TYPE]) => {
  const sent = typeof body === "object" ? JSON.stringify(body) : body;
  const headers: Record<string, string> = body === undefined ? {} : { "content-type": type };
  const response = await start().call(line, sent, headers);
  const { status, body: rejection } = response;
  expect(`${status} ${rejection.code}`).toBe(outcome);
  const { code } = rejection;
  expect(rejection).toEqual({ status, code, message: expect.any(String) });
  expect(upstream.seen).toEqual([]);
  expect(({} as { x?: unknown }).x).toBeUndefined();
});

it("audits a rehearsal that failed", async () => {
  const { call, audits } = start({ receiver: createReceiver().push });
  const { body } = await call("post /rehearsal");
  const failure = { link: "webhook", reason: expect.any(String), fix: expect.any(String) };
  expect(body.rows[2]).toMatchObject({ ...failure, durationMs: expect.any(Number) });
  expect(body).toHaveProperty("isOk", false);
  const failed = { action: "rehearsal.run", status: 200, code: "REHEARSAL_FAILED" };
  expect(audits).toMatchObject([failed]);
});

describe("the data of a user", () => {
  const user = { accountSid: ACCOUNT_SID, entityIdentity: "jane.doe@example.com" };

  it("is counted without an audit entry", async () => {
    const { call, audits } = start({ queue: createMemoryQueue([]) });
    expect((await call("post /user-data/count", user)).body).toEqual(USER_DATA);
    expect(audits).toEqual([]);
  });

  it("is erased with an audit entry that has the number of all and no name", async () => {
    const queue = createMemoryQueue([]);
    const { call, audits } = start({ queue });
    expect((await call("post /user-data/erase", user)).body).toEqual(USER_DATA);
    expect(queue.changes).toEqual([`erase ${ACCOUNT_SID} ${user.entityIdentity}`]);
    expect(audits).toMatchObject([{ action: "user-data.erase", count: 21, status: 200 }]);
    expect(JSON.stringify(audits)).not.toContain("jane");
  });

  it("has no routes without a queue", async () => {
    expect(await start().call("post /user-data/erase", user)).toHaveProperty("status", 404);
  });

  it.each([
    { ...user, accountSid: user.entityIdentity },
    { ...user, entityIdentity: "" },
    { ...user, entityIdentity: "jane".repeat(251) },
    { ...user, uuid: "jane" },
  ])("rejects %j without repeating the identity", async (wrong) => {
    const queue = createMemoryQueue([]);
    const { call, audits } = start({ queue });
    const { status, body } = await call("post /user-data/erase", wrong);
    expect(status).toBe(400);
    expect(JSON.stringify([body, audits])).not.toContain("jane");
    expect(audits).toMatchObject([{ action: "user-data.erase", status: 400 }]);
    expect(queue.changes).toEqual([]);
  });
});

it("GET /openapi.json is a valid OpenAPI 3.1 document of the existing routes, also of a read-only router", async () => {
  const documents = [];
  for (const readOnly of [false, true]) {
    const { body } = await start({ readOnly, queue: createMemoryQueue([]) }).call(
      "get /openapi.json",
    );
    documents.push(body);
    const schemas = body.components.schemas as Record<string, object>;
    const text = JSON.stringify(body);
    for (const [, name = ""] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g))
      expect(schemas).toHaveProperty(name);
    expect(text).not.toContain("$defs");
    expect(body.servers).toEqual([{ url: "." }]);
    const methods = readOnly ? ["get"] : ["get", "post"];
    expect(Object.keys(body.paths["/keys"] as object)).toEqual(methods);
    const required = ["friendly_name", "event_types", "webhook_url"];
    expect(schemas.WebhookInput).toMatchObject({ required });
  }
  const refer = (name: string) => ({
    content: { [JSON_TYPE]: { schema: { $ref: `#/components/schemas/${name}` } } },
  });
  const sidOf = (prefix: string) => ({
    in: "path",
    schema: { pattern: expect.stringContaining(prefix) },
  });
  const named = (name: string) => ({ name, in: "query" });
  const force = { ...named("force"), schema: { default: false } };
  expect(documents[0].paths).toMatchObject({
    "/keys": {
      get: {
        operationId: "getKeys",
        parameters: ["page_size", "page", "page_token"].map(named),
        responses: { 200: refer("KeyPage"), default: refer("Error") },
      },
      post: {
        operationId: "postKeys",
        parameters: [],
        requestBody: { required: true, ...refer("KeyInput") },
        responses: { 201: refer("CreatedKey") },
      },
    },
    "/keys/{sid}": {
      get: { parameters: [sidOf("SK")] },
      delete: { parameters: [sidOf("SK"), force] },
    },
    "/webhooks/{sid}": { delete: { parameters: [sidOf("YW")] } },
  });
  const script = `import { Validator } from "@seriousme/openapi-schema-validator";
    for (const one of JSON.parse(process.argv[1]))
      console.log(JSON.stringify(await new Validator().validate(one)));`;
  const args = ["--input-type=module", "-e", script, JSON.stringify(documents)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: __dirname });
  expect(stdout).toBe('{"valid":true}\n{"valid":true}\n');
});
