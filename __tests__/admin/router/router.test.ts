import { execFile } from "node:child_process";
import { Console } from "node:console";
import { PassThrough } from "node:stream";
import { promisify } from "node:util";
import express from "express";
import supertest from "supertest";
import type { Logger } from "express-push-verification";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import type { AuditEntry } from "express-push-verification/admin";
import { ACCOUNT_SID, SERVICE_SID } from "../../support/webhook-requests";
import {
  clientOptions,
  MAIN_KEY,
  SECRETS,
  startUpstream,
  stopUpstreams,
  WEBHOOK,
  type Upstream,
} from "../../support/upstream";
import { APPS, makeStaffApp, type App, type StaffAppOptions } from "../staff-app";

const KEY_SID = `SK${"a".repeat(32)}`;
const WEBHOOK_SID = `YW${"a".repeat(32)}`;
const webhookInput = {
  friendly_name: "login events",
  event_types: ["challenge.approved"],
  webhook_url: "https://hooks.example.test/push/events",
};

/** Texts in which no secret may appear: log lines, audits, responses. */
const seen: string[] = [];
const record = (fields: object, message: string) =>
  void seen.push(
    message,
    JSON.stringify(fields, (_key, value: unknown) =>
      value instanceof Error ? { ...value, message: value.message, stack: value.stack } : value,
    ),
  );
const logger: Logger = { debug: record, info: record, warn: record, error: record };

let upstream: Upstream;
let audits: AuditEntry[];

beforeEach(async () => {
  upstream = await startUpstream();
  audits = [];
});
afterEach(stopUpstreams);

afterAll(() => {
  expect(seen.length).toBeGreaterThan(100);
  for (const secret of SECRETS) expect(seen.filter((line) => line.includes(secret))).toEqual([]);
});

/** The address that a link leads to in a response of this address. */
function follow(from: string, link: string): string {
  const { pathname, search } = new URL(link, `https://staff.example.test${from}`);
  return pathname + search;
}

/** Calls the app through a proxy that removes the prefix /ops. */
const callBehind = (app: App, path: string) => call(app, "get", path.replace(/^\/ops/, ""));

/** An app at `/admin/push`, whose log lines and audits are searched for secrets. */
function appOf(options: StaffAppOptions = {}): App {
  const onAudit = (entry: AuditEntry) => {
    audits.push(entry);
    seen.push(JSON.stringify(entry));
  };
  return makeStaffApp(upstream, { mount: "/admin/push", logger, onAudit, ...options }).app;
}

/** Sends a request, and keeps the response for the search for secrets. */
async function call(
  app: App,
  method: "get" | "post" | "patch" | "delete" | "put",
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const sent = supertest(app)[method](path).set(headers);
  const response = await (body === undefined ? sent : sent.send(body as object));
  seen.push(response.text, JSON.stringify(response.headers));
  return response;
}

describe.each(APPS)("on %s", (_name, makeApp) => {
  const parsers: [string, express.RequestHandler[]][] = [
    ["before express.json()", []],
    ["after express.json()", [express.json()]],
  ];
  describe.each(parsers)("%s", (_order, before) => {
    it.each(["/", "/admin/push", "/a/:tenant/b"])(
      "does everything, mounted at %s",
      async (mount) => {
        const at = mount.replace(":tenant", "blue").replace(/\/$/, "");
        const app = appOf({ makeApp, mount, before });

        const created = await call(app, "post", `${at}/keys`, { friendly_name: "blue" });
        expect([created.status, created.body.secret]).toEqual([
          201,
          expect.stringMatching(/^[A-Za-z0-9]{32}$/),
        ]);
        expect(created.headers["cache-control"]).toBe("no-store");
        const key = `${at}/keys/${created.body.sid}`;
        expect((await call(app, "get", key)).body).toEqual({ ...created.body, secret: undefined });
        for (const method of ["post", "patch"] as const) {
          const renamed = await call(app, method, key, { friendly_name: method });
          expect([renamed.status, renamed.body.friendly_name]).toEqual([200, method]);
        }
        expect(await call(app, "delete", key)).toMatchObject({ status: 204, text: "" });
        expect(await call(app, "get", key)).toMatchObject({
          status: 404,
          body: { code: 20404, status: 404 },
        });

        const webhook = await call(app, "post", `${at}/webhooks`, webhookInput);
        expect(webhook).toMatchObject({
          status: 201,
          body: { ...webhookInput, account_sid: ACCOUNT_SID, service_sid: SERVICE_SID },
        });
        const url = `${at}/webhooks/${webhook.body.sid}`;
        expect(follow(`${at}/webhooks`, webhook.body.url as string)).toBe(url);
        const fetched = await call(app, "get", url);
        expect(follow(url, fetched.body.url as string)).toBe(url);
        expect({ ...fetched.body, url: webhook.body.url }).toEqual(webhook.body);
        for (const method of ["post", "patch"] as const) {
          expect((await call(app, method, url, { status: "disabled" })).body.status).toBe(
            "disabled",
          );
        }
        expect((await call(app, "delete", url)).status).toBe(204);
        expect((await call(app, "delete", url)).status).toBe(404);
      },
    );

    it.each(["keys", "webhooks", "webhooks/"])(
      "pages %s behind a prefix that a proxy removes, forwards and backwards",
      async (list) => {
        for (let count = 0; count < 5; count++) {
          if (count < 3) upstream.createKey(`key ${count}`);
          upstream.createWebhook(WEBHOOK);
        }
        const app = appOf({ makeApp, before });
        const name = list.replace("/", "");
        const sizes: number[] = [];
        let last;
        let next: string | null = `/ops/admin/push/${list}?page_size=2`;
        while (next !== null) {
          last = await callBehind(app, next);
          expect(last.text).not.toContain(upstream.url);
          sizes.push((last.body[name] as unknown[]).length);
          const link = last.body.meta.next_page_url as string | null;
          next = link && follow(next, link);
          if (next !== null)
            expect(next).toMatch(
              new RegExp(`^/ops/admin/push/${name}\\?page_size=2&page=\\d&page_token=[\\w-]+$`),
            );
        }
        expect(sizes).toEqual([2, 2, 1]);
        const at = `/ops/admin/push/${name}`;
        const back = await callBehind(app, follow(at, last?.body.meta.previous_page_url as string));
        expect(back.body.meta).toMatchObject({ page: 1, page_size: 2, key: name });
        expect(follow(at, back.body.meta.first_page_url as string)).toBe(
          `${at}?page_size=2&page=0`,
        );
        for (const { url } of (back.body.webhooks ?? []) as { url: string }[]) {
          const { body } = await callBehind(app, follow(at, url));
          expect(follow(`${at}/x`, body.url as string)).toBe(follow(at, url));
        }
      },
    );
  });

  it("hides the user info of a webhook_url, and does not store the placeholder", async () => {
    const app = appOf({ makeApp });
    const url = "https://svc:hush-hush@a.test/p@q";
    const created = await call(app, "post", "/admin/push/webhooks", {
      ...webhookInput,
      webhook_url: url,
    });
    const path = follow("/admin/push/webhooks", created.body.url as string);
    const shown = "https://***@a.test/p@q";
    const changed = await call(app, "patch", path, { status: "disabled" });
    const { body: list } = await call(app, "get", "/admin/push/webhooks");
    const { body: fetched } = await call(app, "get", path);
    for (const webhook of [created.body, changed.body, fetched, list.webhooks[0]]) {
      expect(webhook).toHaveProperty("webhook_url", shown);
    }
    const stored = await call(app, "patch", path, { webhook_url: shown });
    expect(stored).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/\*\*\*/) },
    });
    expect(await upstream.listWebhooks()).toMatchObject([{ webhook_url: url }]);
    expect(seen.join("")).not.toContain("hush-hush");
  });

  it("rejects a consumed body with 500", async () => {
    const consume: express.RequestHandler = (req, _res, next) =>
      void req.resume().once("end", next);
    const app = appOf({ makeApp, before: [consume] });
    const { status, body } = await call(app, "post", "/admin/push/keys", {});
    expect([status, body.code]).toEqual([500, "BODY_CONSUMED"]);
  });

  it("responds to a malformed path as to an unknown one", async () => {
    for (const path of ["/admin/push/keys/%zz", "/admin/push/keys/%FF"]) {
      const rejected = await call(appOf({ makeApp }), "get", path);
      expect(rejected).toMatchObject({ status: 404, body: { code: "NOT_FOUND", status: 404 } });
    }
  });

  it("has no actor when the option throws, nor when the logger throws, too", async () => {
    const actor = () => {
      throw new TypeError("req.user is undefined");
    };
    const throwing = { debug: actor, info: actor, warn: actor, error: actor };
    const app = appOf({ makeApp, actor, logger: throwing });
    expect(await call(app, "post", "/admin/push/keys", {})).toHaveProperty("status", 201);
    expect(audits).toMatchObject([{ action: "key.create", actor: undefined, status: 201 }]);
  });
});

describe("authorize", () => {
  const paths: [string, "get" | "post" | "delete"][] = [
    ["/keys", "get"],
    ["/keys", "post"],
    [`/keys/${KEY_SID}`, "delete"],
    ["/webhooks", "get"],
    ["/openapi.json", "get"],
    ["/nowhere", "get"],
  ];
  const rejections: [string, unknown][] = [
    ["false", () => false],
    ["a promise of false", async () => false],
    ["nothing", () => {}],
    ["an object", () => ({ user: 1 })],
    [
      "an error",
      () => {
        throw new Error("session store is down");
      },
    ],
    ["a rejection", () => Promise.reject(new Error("session store is down"))],
  ];
  it.each(rejections)("rejects each request when it returns %s", async (_what, authorize) => {
    const app = appOf({ authorize: authorize as () => boolean });
    for (const [path, method] of paths) {
      const { status, body } = await call(app, method, `/admin/push${path}`);
      expect([status, body.code]).toEqual([403, "FORBIDDEN"]);
    }
    expect(upstream.seen).toHaveLength(0);
  });

  it("is required, as is a client", () => {
    const client = createAdminClient(clientOptions(upstream.url));
    for (const options of [
      { client },
      { authorize: () => true },
      { client: {}, authorize: () => true },
      { client, authorize: true },
    ]) {
      expect(() => adminRouter(options as never)).toThrow(TypeError);
    }
    expect(() => adminRouter({ client, authorise: () => true } as never)).toThrow('"authorize"?');
  });
});

describe("readOnly", () => {
  it("rejects every write with 405, with the other methods in Allow", async () => {
    const app = appOf({ readOnly: true });
    const { status, headers } = await call(app, "post", "/admin/push/keys", {});
    expect([status, headers.allow]).toEqual([405, "GET"]);
    expect((await call(app, "get", "/admin/push/webhooks")).status).toBe(200);
    expect(upstream.seen.map(({ method }) => method)).toEqual(["GET"]);
  });
});

describe("onAudit", () => {
  it("passes on neither credentials nor the account of an upstream message", async () => {
    const message = `No _${ACCOUNT_SID}x with Basic ${btoa(`${ACCOUNT_SID}:hush`)}`;
    upstream.script.push({ status: 400, body: { code: 20001, message, status: 400 } });
    const { text } = await call(appOf(), "get", "/admin/push/keys");
    expect(text).not.toContain(ACCOUNT_SID);
    expect(text).not.toContain("Basic");
  });

  it("logs to a console the message first, as a receiver does", async () => {
    const stream = new PassThrough().setEncoding("utf8");
    const authorize = () => {
      throw new TypeError("req.user is undefined");
    };
    const app = appOf({ authorize, logger: new Console(stream) });
    expect(await call(app, "get", "/admin/push/keys")).toHaveProperty("status", 403);
    expect(stream.read()).toMatch(/^authorize failed \{\n +err: TypeError: req\.user is undefined/);
  });

  it("receives each write, successful or rejected, without a secret", async () => {
    const app = appOf({ actor: (req) => req.get("x-user") });
    const user = { "x-user": "alice" };
    const { body } = await call(app, "post", "/admin/push/keys", { friendly_name: "x" }, user);
    await call(app, "get", `/admin/push/keys/${body.sid}`, undefined, user);
    await call(app, "patch", `/admin/push/webhooks/${WEBHOOK_SID}`, { status: "disabled" }, user);
    await call(app, "post", "/admin/push/webhooks", {}, user);
    expect(audits).toEqual([
      { action: "key.create", actor: "alice", sid: body.sid, status: 201 },
      { action: "webhook.update", actor: "alice", sid: WEBHOOK_SID, status: 404, code: 20404 },
      { action: "webhook.create", actor: "alice", status: 400, code: "INVALID_INPUT" },
    ]);
    expect(JSON.stringify(audits)).not.toContain(body.secret);
  });

  it("does not change the response when it fails", async () => {
    const app = appOf({ onAudit: () => Promise.reject(new Error("disk full")) });
    expect((await call(app, "post", "/admin/push/keys", {})).status).toBe(201);
  });
});

describe("the client's own credentials", () => {
  it("are not deleted unless forced", async () => {
    const app = appOf({ as: "main" });
    const own = await call(app, "delete", `/admin/push/keys/${MAIN_KEY}`);
    expect([own.status, own.body.code]).toEqual([409, "OWN_KEY"]);
    expect(upstream.seen).toHaveLength(0);
    expect((await call(app, "delete", `/admin/push/keys/${MAIN_KEY}?force=true`)).status).toBe(204);
  });

  it("of a Standard Key are distinguished from wrong ones and may manage Webhooks", async () => {
    const standard = appOf({ as: "standard" });
    const { status, body } = await call(standard, "get", "/admin/push/keys");
    expect([status, body.code]).toEqual([403, "MAIN_KEY_REQUIRED"]);
    expect((await call(standard, "get", "/admin/push/webhooks")).status).toBe(200);
    upstream.script.push({ status: 403, body: { code: 70051, status: 403 } });
    expect((await call(standard, "post", "/admin/push/keys", {})).body.code).toBe(
      "MAIN_KEY_REQUIRED",
    );
    upstream.script.push({ status: 401 }, { status: 401 });
    expect((await call(standard, "get", "/admin/push/keys")).body.code).toBe(
      "UPSTREAM_UNAUTHORIZED",
    );
  });
});

describe("failures of the service", () => {
  const retry = { "retry-after": "7" };
  it.each<[object, number, number | string]>([
    [{ status: 400, body: { code: 20002, message: "Invalid FriendlyName" } }, 400, 20002],
    [{ status: 404, body: { message: "Gone" } }, 404, "UPSTREAM_404"],
    [{ status: 409, body: { code: 70001 } }, 409, 70001],
    [{ status: 429, body: { code: 20429 }, headers: retry }, 429, 20429],
    [{ status: 401, body: { code: 20003 } }, 502, "UPSTREAM_UNAUTHORIZED"],
    [{ status: 403, body: { code: 70051 } }, 502, "UPSTREAM_UNAUTHORIZED"],
    [{ status: 500, body: { code: 20500 } }, 502, "UPSTREAM_FAILED"],
    [{ status: 503, body: "<html>" }, 502, "UPSTREAM_FAILED"],
    [{ status: 418 }, 502, "UPSTREAM_FAILED"],
    [{ status: 200, body: "<html>" }, 502, "UPSTREAM_BAD_RESPONSE"],
    [{ status: 301, headers: { location: "/" } }, 502, "UPSTREAM_REDIRECTED"],
    [{ status: 0, drops: true }, 502, "UPSTREAM_UNREACHABLE"],
    [{ status: 0, hangs: true }, 504, "UPSTREAM_TIMEOUT"],
    [
      { status: 200, body: { keys: [], next_page_uri: "https://evil.example/" } },
      502,
      "UPSTREAM_FOREIGN_PAGE",
    ],
  ])("responds to %j with %i %s", async (scripted, status, code) => {
    upstream.script.push(scripted as never);
    const response = await call(appOf({ timeoutMs: 150 }), "get", "/admin/push/keys");
    expect([response.status, response.body]).toEqual([
      status,
      { code, status, message: expect.any(String) },
    ]);
    expect(response.headers["retry-after"]).toBe(status === 429 ? "7" : undefined);
    expect(response.headers["www-authenticate"]).toBeUndefined();
  });

  it("hide the address of the service and the account", async () => {
    for (const path of [`/admin/push/keys/${KEY_SID}`, `/admin/push/webhooks/${WEBHOOK_SID}`]) {
      const { status, text, body } = await call(appOf(), "get", path);
      expect([status, body.code]).toEqual([404, 20404]);
      expect(text).not.toMatch(/AC[0-9a-f]{32}|2010-04-01|Services|docs\.example/);
    }
  });
});

describe("bad input", () => {
  type Method = "get" | "post" | "patch" | "put" | "delete";
  const JSON_TYPE = "application/json";
  const AT_KEY = `/keys/${KEY_SID}`;
  const AT_WEBHOOK = `/webhooks/${WEBHOOK_SID}`;

  async function expectRejection(line: string, body: unknown, status: number, type = JSON_TYPE) {
    const [method = "", path = ""] = line.split(" ");
    const sent = typeof body === "object" ? JSON.stringify(body) : body;
    const headers = body === undefined ? {} : { "content-type": type };
    const response = await call(appOf(), method as Method, `/admin/push${path}`, sent, headers);
    const rejection = { status, code: expect.any(String), message: expect.any(String) };
    expect([response.status, response.body]).toEqual([status, rejection]);
    expect(upstream.seen).toHaveLength(0);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  }

  it.each([
    "get /keys/SK1",
    `get ${AT_KEY}0`,
    `get /keys/${WEBHOOK_SID}`,
    `get ${AT_WEBHOOK.toLowerCase()}`,
    `get ${AT_KEY}%0A`,
    `get /keys/..%2F..%2F${KEY_SID}`,
    "delete /keys/__proto__",
    "get /keys?page_size=0",
    "get /keys?page_size=1001",
    "get /keys?page_size=abc",
    "get /keys?page_size=1.5",
    "get /keys?page_size=",
    "get /keys?page_size=1&page_size=2",
    `get /keys?page_size=${"9".repeat(400)}`,
    "get /webhooks?page=-1",
    "get /webhooks?page[a]=1",
    "get /webhooks?page_token=",
    "get /webhooks?PageSize=5",
  ])("responds 400 to %s", (line) => expectRejection(line, undefined, 400));

  it.each<[line: string, body: unknown]>([
    ["patch /keys/x", { friendly_name: "x" }],
    ["post /keys", { friendly_name: "x".repeat(65) }],
    ["post /keys", { friendly_name: 5 }],
    ["post /keys", { friendly_name: ["x"] }],
    ["post /keys", { friendly_name: null }],
    ["post /keys", { FriendlyName: "x" }],
    ["post /keys", { friendly_name: "x", sid: KEY_SID }],
    ["post /keys", '{"constructor":{"prototype":{"x":1}}}'],
    ["post /keys", []],
    ["post /keys", '"text"'],
    ["post /keys", "null"],
    ["post /keys", "{friendly_name:"],
    ["post /webhooks", ""],
    ["post /webhooks", {}],
    ["post /webhooks", { ...webhookInput, event_types: [] }],
    ["post /webhooks", { ...webhookInput, event_types: ["challenge.expired"] }],
    ["post /webhooks", { ...webhookInput, event_types: "*" }],
    ["post /webhooks", { ...webhookInput, event_types: [{}] }],
    ["post /webhooks", { ...webhookInput, webhook_url: "/push" }],
    ["post /webhooks", { ...webhookInput, webhook_url: "javascript:alert(1)" }],
    ["post /webhooks", { ...webhookInput, webhook_url: "https://a.example/ b" }],
    ["post /webhooks", { ...webhookInput, friendly_name: "" }],
    [`patch ${AT_WEBHOOK}`, { status: "on" }],
    [`patch ${AT_WEBHOOK}`, { version: "v3" }],
    [`patch ${AT_WEBHOOK}`, { webhook_method: "GET" }],
  ])("responds 400 to %s %j", (line, body) => expectRejection(line, body, 400));

  it.each([
    ["application/json; charset=iso-8859-1", "{}"],
    ["application/x-www-form-urlencoded", "friendly_name=x"],
    ["application/x-www-form-urlencoded", ""],
    ["text/plain", "{}"],
    ["multipart/form-data; boundary=x", "{}"],
  ])("responds 415 to %s %j", async (type, body) => {
    await expectRejection("post /keys", body, 415, type);
    await expectRejection(`patch ${AT_KEY}`, body, 415, type);
  });

  it.each<[number, string, unknown]>([
    [413, "post /keys", { friendly_name: "x".repeat(1_000_000) }],
    [405, "put /keys", {}],
    [405, "delete /webhooks", undefined],
    [404, "get /factors", undefined],
  ])("responds %i to %s", (status, line, body) => expectRejection(line, body, status));

  it("named __proto__ does not pollute the prototype", async () => {
    const body = '{"__proto__":{"friendly_name":"x"}}';
    const headers = { "content-type": "application/json" };
    const response = await call(appOf(), "post", "/admin/push/keys", body, headers);
    expect([201, 400]).toContain(response.status);
    expect(({} as { friendly_name?: unknown }).friendly_name).toBeUndefined();
    for (const { form } of upstream.seen) expect(form).toEqual([]);
  });
});

describe("GET /openapi.json", () => {
  it("is a valid OpenAPI 3.1 document of the existing routes, also of a read-only router", async () => {
    const documents = [];
    for (const readOnly of [false, true]) {
      const { body } = await call(appOf({ readOnly }), "get", "/admin/push/openapi.json");
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
    const script = `import { Validator } from "@seriousme/openapi-schema-validator";
      for (const one of JSON.parse(process.argv[1]))
        console.log(JSON.stringify(await new Validator().validate(one)));`;
    const args = ["--input-type=module", "-e", script, JSON.stringify(documents)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: __dirname });
    expect(stdout).toBe('{"valid":true}\n{"valid":true}\n');
  });
});
