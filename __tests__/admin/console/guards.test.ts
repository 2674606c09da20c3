/** Guards of the console, without a browser. */
import { once } from "node:events";
import fs from "node:fs";
import { request as sendHttp, type IncomingMessage } from "node:http";
import { finished } from "node:stream/promises";
import supertest from "supertest";
import { pushWebhooks } from "express-push-verification";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import { AUTH_TOKEN, PUBLIC_URL } from "../../support/webhook-requests";
import { clientOptions, SECRETS } from "../../support/upstream";
import { APPS, makeStaffApp, type App, type StaffAppOptions } from "../staff-app";
import { readRequests, startConsole, useConsoles } from "./console-app";
import { createMemoryQueue } from "./memory-queue";

useConsoles();

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const TYPES: Record<string, string> = {
  "/": "text/html; charset=utf-8",
  "/page.js": "text/javascript; charset=utf-8",
  "/page.css": "text/css; charset=utf-8",
  "/icon.svg": "image/svg+xml",
};
const ASSETS = Object.keys(TYPES);
const READS = [
  "/console",
  "/console/live",
  "/console/requests/1",
  "/console/requests/1/explanation",
  "/console/statistics",
  "/console/waits",
  "/console/findings",
  "/console/queue",
];
const WRITES = [
  "/console/dead-letters/retry",
  "/console/dead-letters/discard",
  "/console/requests/1/resend",
  "/console/test-event",
];
const client = createAdminClient(clientOptions("http://127.0.0.1:9"));

function makeApp(options: StaffAppOptions, makeConsole: () => App) {
  const receiver = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
  const shown = { console: true, receiver, queue: createMemoryQueue([]) };
  const upstream = { url: "http://127.0.0.1:9" };
  const actor = () => "alice";
  return makeStaffApp(upstream, { makeApp: makeConsole, actor, ...shown, ...options });
}

describe.each(APPS)("the console on %s", (_name, create) => {
  it("rejects each GET that is not authorized, under its Content-Security-Policy", async () => {
    const { app } = makeApp({ authorize: () => false }, create);
    for (const path of [...ASSETS, ...READS]) {
      const { status, type, body, headers } = await supertest(app).get(`/admin${path}`);
      const shown = path === "/" ? type : body.code;
      const expected = path === "/" ? "text/html" : "FORBIDDEN";
      expect([path, status, shown]).toEqual([path, 403, expected]);
      expect(headers["content-security-policy"]).toBe(CSP);
    }
  });

  it("rejects each GET of another site but that of the page, and audits each POST", async () => {
    const { app, audits } = makeApp({}, create);
    for (const path of [...ASSETS.slice(1), ...READS]) {
      const sent = supertest(app).get(`/admin${path}`).set("Sec-Fetch-Site", "cross-site");
      const { status, body } = await sent;
      expect([path, status, body.code]).toEqual([path, 403, "CROSS_SITE"]);
    }
    for (const path of WRITES) {
      const sent = supertest(app).post(`/admin${path}`).set("Origin", "https://evil.example");
      expect((await sent.send({})).status).toBe(403);
      const [audit] = audits.splice(0);
      expect(audit).toMatchObject({ actor: "alice", status: 403, code: "CROSS_SITE" });
      expect(audit?.action).toMatch(/^(dead-letter|request|test-event)\./);
    }
    const linked = supertest(app).get("/admin/").set("Sec-Fetch-Site", "cross-site");
    expect((await linked).status).toBe(200);
  });

  it("rejects each POST to a read-only router with 405, and audits it", async () => {
    const { app, audits } = makeApp({ readOnly: true }, create);
    for (const path of WRITES) {
      const { status, body } = await supertest(app).post(`/admin${path}`).send({});
      expect([path, status, body.code]).toEqual([path, 405, "METHOD_NOT_ALLOWED"]);
      expect(audits.splice(0)).toMatchObject([{ status: 405, code: "METHOD_NOT_ALLOWED" }]);
    }
  });

  it("sends its files under its Content-Security-Policy, not stored", async () => {
    const { app } = makeApp({}, create);
    for (const path of ASSETS) {
      const response = await supertest(app).get(`/admin${path}`);
      expect(response.status).toBe(200);
      expect(response.headers).toMatchObject({
        "content-type": TYPES[path],
        "content-security-policy": CSP,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
      });
    }
  });

  it("redirects to a relative address where the slash at the end is missing", async () => {
    const { app } = makeApp({}, create);
    const response = await supertest(app).get("/admin?a=b");
    expect([response.status, response.headers.location]).toEqual([307, "./admin/"]);
  });

  it("has no console unless it is asked for", async () => {
    const { app } = makeApp({ console: false, receiver: undefined, queue: undefined }, create);
    for (const path of [...ASSETS, ...READS]) {
      const response = await supertest(app).get(`/admin${path}`);
      expect([path, response.status]).toEqual([path, 404]);
      expect(response.headers["content-security-policy"]).toBeUndefined();
    }
  });

  it("audits a test event and a retried dead letter with their uuids", async () => {
    const { app, audits } = makeApp({ queue: createMemoryQueue(["boom"]) }, create);
    const sent = await supertest(app)
      .post("/admin/console/test-event")
      .send({ type: "factor.created" });
    expect([sent.status, sent.body.status]).toEqual([200, 200]);
    const choice = { deadLetters: [{ uuid: "uuid-0", accountSid: "AC1" }] };
    const retried = await supertest(app).post("/admin/console/dead-letters/retry").send(choice);
    expect(retried.body).toEqual({ count: 1 });
    expect(audits).toEqual([
      expect.objectContaining({ action: "test-event.send", status: 200, uuid: sent.body.uuid }),
      expect.objectContaining({ action: "dead-letter.retry", status: 200, uuid: "uuid-0" }),
    ]);
  });
});

it("never responds with a token, a signature or an unmasked identity", async () => {
  const app = await startConsole({ router: { queue: createMemoryQueue(["boom"]) } });
  await app.deliver("challenge.approved", { entity_identity: "jane.doe@example.com" });
  await app.deliver("challenge.approved", {}, { authToken: "another-token-of-somewhere" });
  const seen = [JSON.stringify(await readRequests(app))];
  for (const path of READS.filter((read) => read !== "/console/live")) {
    seen.push(await (await fetch(`${app.url}${path.slice(1)}`)).text());
  }
  const text = seen.join("");
  expect(text).toContain("TOKEN_WRONG");
  expect(text).toContain("jan…com");
  for (const secret of [...SECRETS, AUTH_TOKEN, "jane.doe", "another-token"]) {
    expect(text).not.toContain(secret);
  }
  // Base64 of 20 bytes.
  expect(text).not.toMatch(/[A-Za-z0-9+/]{27}=/);
});

it("responds 503 when too many pages are open, and ends its streams with the server", async () => {
  const app = await startConsole();
  const open = () => {
    const sent = sendHttp(`${app.url}console/live`, { agent: false }).end();
    sent.on("error", () => {});
    return once(sent, "response") as Promise<[IncomingMessage]>;
  };
  const responses = (await Promise.all(Array.from({ length: 51 }, open))).flat();
  const rejected = responses.filter(({ statusCode }) => statusCode === 503);
  expect(rejected.map(({ headers }) => headers["retry-after"])).toEqual(["5"]);
  responses.find(({ statusCode }) => statusCode === 200)?.destroy();
  // The server sees a closed connection a moment later.
  let next = await open();
  while (next[0].statusCode !== 200) next = await open();
  const ended = [...responses, ...next].map((response) => finished(response.resume()));
  await app.close();
  await Promise.allSettled(ended);
}, 10_000);

describe("the options of the console", () => {
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      "a receiver without the console",
      { receiver: push },
      /option receiver .* set console to true/,
    ],
    ["a queue without the console", { queue: createMemoryQueue([]) }, /option queue .* console/],
    ["a copy of a receiver", { console: true, receiver: { ...push } }, /option receiver must be/],
    ["an unknown option", { console: { reveals: true } }, /Did you mean "reveal"/],
    ["a value that is no option", { console: 1 }, /option console must be/],
    ["a queue that is none", { console: true, queue: {} }, /option queue must be/],
  ])("reject %s", (_name, options, message) => {
    const make = () => adminRouter({ client, authorize: () => true, ...options });
    expect(make).toThrow(message);
  });

  it("name the fix when the files of the page are missing", () => {
    jest.spyOn(fs, "readFileSync").mockImplementation(() => {
      throw new Error("no such file");
    });
    const make = () => adminRouter({ client, authorize: () => true, console: true });
    expect(make).toThrow(
      /^adminRouter: the console's page is missing, no file ".*page\.html"\. .*build:page/,
    );
    jest.restoreAllMocks();
  });
});
