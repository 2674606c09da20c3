import { once } from "node:events";
import { connect } from "node:net";
import express, { type RequestHandler } from "express";
import supertest from "supertest";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import type { AdminRouterOptions } from "express-push-verification/admin";
import { until } from "../../support/waiting";
import { startServer } from "../../support/servers";
import { clientOptions, startUpstream, stopUpstreams, type Upstream } from "../../support/upstream";
import { APPS, makeStaffApp, type StaffAppOptions } from "../staff-app";

const KEY_SID = `SK${"a".repeat(32)}`;
const WEBHOOK_SID = `YW${"B".repeat(32)}`;

let upstream: Upstream;
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(stopUpstreams);

type Method = "post" | "patch" | "put" | "delete";

const WRITES: (readonly [method: Method, path: string, action?: string, sid?: string])[] = [
  ["post", "/keys", "key.create"],
  ["post", "/keys/", "key.create"],
  ["post", `/keys/${KEY_SID}`, "key.update", KEY_SID],
  ["patch", `/KEYS/${KEY_SID}`, "key.update", KEY_SID],
  ["delete", `/keys/${KEY_SID}?force=true`, "key.delete", KEY_SID],
  ["post", "/webhooks", "webhook.create"],
  ["patch", `/webhooks/${WEBHOOK_SID}/`, "webhook.update", WEBHOOK_SID],
  ["delete", `/webhooks/${WEBHOOK_SID}`, "webhook.delete", WEBHOOK_SID],
  ["put", `/webhooks/${WEBHOOK_SID}`, "", WEBHOOK_SID],
  ["delete", "/keys"],
  ["post", "/nowhere"],
  ["delete", "/keys/%zz", "key.delete"],
  // The SID of a path that encodes it.
  ["delete", `/keys/%53K${"a".repeat(32)}`, "key.delete", KEY_SID],
  // No SIDs.
  ...[
    `${KEY_SID}%0A`,
    "%1B%5B31m",
    "SK1",
    `${KEY_SID}0`,
    `AC${"a".repeat(32)}`,
    KEY_SID.toLowerCase(),
    `..%2F${KEY_SID}`,
    "%FF",
    "__proto__",
  ].map((sid) => ["delete", `/keys/${sid}`, "key.delete"] as const),
];

/** Ways to reject every write, and the code of each. */
const REJECTIONS: [options: StaffAppOptions, headers: Record<string, string>, code: unknown][] = [
  [{ authorize: () => false }, {}, "FORBIDDEN"],
  [{}, { Origin: "https://evil.example" }, "CROSS_SITE"],
  [{ readOnly: true }, {}, expect.stringMatching(/^(NOT_FOUND|METHOD_NOT_ALLOWED)$/)],
];

describe.each(APPS)("an audit on %s", (_name, makeApp) => {
  it.each(REJECTIONS)("has each write that is rejected: %j %j", async (options, headers, code) => {
    const actor: AdminRouterOptions["actor"] = (req) => req.get("x-user");
    const { app, audits } = makeStaffApp(upstream, { makeApp, actor, ...options });
    for (const [method, path, action = "", sid] of WRITES) {
      const sent = supertest(app)[method](`/admin${path}`).set("x-user", "mallory");
      const { status, body } = await sent.set(headers).send({});
      expect([403, 404, 405]).toContain(status);
      const audit = { action: action || undefined, actor: "mallory", sid, status, code };
      expect(audits.splice(0)).toEqual([audit]);
      expect(body).toMatchObject({ status, code });
    }
  });

  it("has a write whose client disconnected, once", async () => {
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const before: RequestHandler[] = [(_req, _res, next) => (arrive(), next())];
    const { app, audits } = makeStaffApp(upstream, { makeApp, before });
    const socket = connect(await startServer(app), "127.0.0.1");
    await once(socket, "connect");
    socket.write(
      "POST /admin/keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    );
    await arrived;
    socket.destroy();
    await until(() => audits.length > 0);
    expect(audits).toMatchObject([{ action: "key.create", status: 400 }]);
  });

  it("has a write that another middleware responded to meanwhile, once", async () => {
    const hurried: RequestHandler = (_req, res, next) => {
      setImmediate(() => res.status(503).end());
      next();
    };
    const { app, audits } = makeStaffApp(upstream, { makeApp, before: [hurried] });
    const [key, nothing] = await Promise.all([
      supertest(app).post("/admin/keys").send({}),
      supertest(app).post("/admin/nowhere").send({}),
    ]);
    expect(key.status).toBe(503);
    expect([404, 503]).toContain(nothing.status);
    await until(() => audits.length === 2);
    expect(audits.map(({ action }) => action).toSorted()).toEqual(["key.create", undefined]);
  });

  it("has no reads", async () => {
    const { app, audits } = makeStaffApp(upstream, { makeApp });
    for (const path of ["/keys", "/nowhere", "/openapi.json"]) {
      await supertest(app).get(`/admin${path}`);
      await supertest(app).head(`/admin${path}`);
      await supertest(app).options(`/admin${path}`);
    }
    expect(audits).toEqual([]);
  });
});

it("calls actor and onAudit as methods of the options", async () => {
  const client = createAdminClient(clientOptions(upstream.url));
  const called: unknown[] = [];
  const options: AdminRouterOptions = {
    client,
    authorize: () => false,
    actor() {
      called.push(this);
      return "carol";
    },
    onAudit() {
      called.push(this);
    },
  };
  const app = express().use("/admin", adminRouter(options));
  await supertest(app).delete(`/admin/keys/${KEY_SID}`).expect(403);
  expect(called.map((self) => self === options)).toEqual([true, true]);
});
