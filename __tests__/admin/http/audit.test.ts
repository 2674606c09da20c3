import { once } from "node:events";
import { connect } from "node:net";
import express, { type RequestHandler } from "express";
import supertest from "supertest";
import { adminRouter } from "express-push-verification/admin";
import { createReceiver } from "../../support/receivers";
import { until } from "../../support/waiting";
import { startServer } from "../../support/servers";
import { useUpstream } from "../../support/upstream";
import { inspectReceiver } from "../../../lib/core/receiver/inspection";
import { createMemoryQueue } from "../console/memory-queue";
import { APPS, makeStaffApp, type StaffAppOptions } from "../staff-app";

const KEY_SID = `SK${"a".repeat(32)}`;
const WEBHOOK_SID = `YW${"B".repeat(32)}`;

const upstream = useUpstream();

const WRITES: (readonly [line: string, action?: string | undefined, sid?: string])[] = [
  ["post /keys", "key.create"],
  [`post /keys/${KEY_SID}`, "key.update", KEY_SID],
  [`patch /KEYS/${KEY_SID}`, "key.update", KEY_SID],
  [`delete /keys/${KEY_SID}?force=true`, "key.delete", KEY_SID],
  ["post /webhooks", "webhook.create"],
  [`patch /webhooks/${WEBHOOK_SID}/`, "webhook.update", WEBHOOK_SID],
  [`delete /webhooks/${WEBHOOK_SID}`, "webhook.delete", WEBHOOK_SID],
  [`put /webhooks/${WEBHOOK_SID}`, undefined, WEBHOOK_SID],
  ["delete /keys"],
  ["post /nowhere"],
  ["delete /keys/%zz", "key.delete"],
  ["post /console/dead-letters/retry", "dead-letter.retry"],
  ["post /console/dead-letters/discard", "dead-letter.discard"],
  ["post /console/resend", "request.resend"],
  ["post /rehearsal", "rehearsal.run"],
  ["post /user-data/erase", "user-data.erase"],
  // The SID of a path that encodes it.
  [`delete /keys/%53K${"a".repeat(32)}`, "key.delete", KEY_SID],
  // No SIDs.
  ...[
    `${KEY_SID}%0A`,
    "%1B%5B31m",
    `${KEY_SID}0`,
    `AC${"a".repeat(32)}`,
    KEY_SID.toLowerCase(),
    `..%2F${KEY_SID}`,
    "__proto__",
  ].map((sid) => [`delete /keys/${sid}`, "key.delete"] as const),
];

const REJECTIONS: [options: StaffAppOptions, headers: Record<string, string>, code: unknown][] = [
  [{ authorize: () => false }, {}, "FORBIDDEN"],
  [{}, { Origin: "https://evil.example" }, "CROSS_SITE"],
  [{}, { Host: "evil.example" }, "HOST_NOT_ALLOWED"],
  [{ readOnly: true }, {}, expect.stringMatching(/^(NOT_FOUND|METHOD_NOT_ALLOWED)$/)],
];

describe.each(APPS)("an audit on %s", (_name, makeApp) => {
  it.each(REJECTIONS)("has each write that is rejected: %j %j", async (options, headers, code) => {
    const receiver = createReceiver().push;
    const shown = { console: true, queue: createMemoryQueue([]), receiver };
    const actor = () => "mallory";
    const { call, audits } = makeStaffApp(upstream, { makeApp, actor, ...shown, ...options });
    for (const [line, action, sid] of WRITES) {
      const { status, body } = await call(line, {}, headers);
      expect([403, 404, 405]).toContain(status);
      expect(audits.splice(0)).toEqual([{ action, actor: "mallory", sid, status, code }]);
      expect(body).toMatchObject({ status, code });
    }
    const history = await inspectReceiver(receiver)?.openJournal().read();
    const changes = history?.entries.filter(({ kind }) => kind === "change");
    expect(changes).toHaveLength(options.readOnly === true ? WRITES.length : 0);
  });

  it("has a write whose client disconnected, once", async () => {
    const arrived = jest.fn<void, []>();
    const before: RequestHandler[] = [(_req, _res, next) => (arrived(), next())];
    const { app, audits } = makeStaffApp(upstream, { makeApp, before });
    const socket = connect(await startServer(app), "127.0.0.1");
    await once(socket, "connect");
    const headers = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 9";
    socket.write(`POST /admin/keys HTTP/1.1\r\n${headers}\r\n\r\n{`);
    await until(() => arrived.mock.calls.length > 0);
    socket.destroy();
    await until(() => audits.length > 0);
    expect(audits).toMatchObject([{ action: "key.create", status: 400 }]);
  });

  it("has a write that another middleware responded to meanwhile, once", async () => {
    const hurried: RequestHandler = (_req, res, next) => {
      setImmediate(() => res.status(503).end());
      next();
    };
    const { call, audits } = makeStaffApp(upstream, { makeApp, before: [hurried] });
    const [key, nothing] = await Promise.all([call("post /keys", {}), call("post /nowhere", {})]);
    expect(key.status).toBe(503);
    expect([404, 503]).toContain(nothing.status);
    await until(() => audits.length === 2);
    expect(audits.map(({ action }) => action).toSorted()).toEqual(["key.create", undefined]);
  });
});

it("calls actor and onAudit as methods of the options", async () => {
  const called: unknown[] = [];
  function record(this: unknown) {
    called.push(this);
    return "carol";
  }
  const { client } = upstream;
  const options = { client, authorize: () => false, actor: record, onAudit: record };
  await supertest(express().use(adminRouter(options))).delete(`/keys/${KEY_SID}`);
  expect(called.map((self) => self === options)).toEqual([true, true]);
});
