import fs from "node:fs";
import { pushWebhooks } from "express-push-verification";
import { AUTH_TOKEN, PUBLIC_URL } from "../../support/webhook-requests";
import { SECRETS } from "../../support/upstream";
import { APPS, makeStaffApp, type StaffAppOptions } from "../staff-app";
import { readView, startConsole, useConsoles } from "./console-app";
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
const READS = ["/console", "/console/webhooks", "/console/queue"];
const NOWHERE = { url: "http://127.0.0.1:9" };
const receiver = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });

describe.each(APPS)("the console on %s", (_name, makeApp) => {
  const make = (options: StaffAppOptions = {}) => {
    const shown = { console: true, receiver, queue: createMemoryQueue([]) };
    return makeStaffApp(NOWHERE, { makeApp, actor: () => "alice", ...shown, ...options });
  };

  it.each<[code: string, options: StaffAppOptions, sent: Record<string, string>]>([
    ["FORBIDDEN", { authorize: () => false }, {}],
    ["HOST_NOT_ALLOWED", {}, { Host: "evil.example" }],
    ["CROSS_SITE", {}, { "Sec-Fetch-Site": "cross-site" }],
  ])("rejects each GET except a link to the page: %s", async (code, options, sent) => {
    const { call } = make(options);
    for (const path of [...ASSETS, ...READS]) {
      const { status, type, body, headers } = await call(`get ${path}`, undefined, sent);
      const isLinked = path === "/" && code === "CROSS_SITE";
      const isPage = path === "/" && code !== "HOST_NOT_ALLOWED";
      expect({ path, status, found: isPage ? type : body.code }).toEqual({
        path,
        status: isLinked ? 200 : 403,
        found: isPage ? "text/html" : code,
      });
      expect(headers["content-security-policy"]).toBe(CSP);
    }
  });

  it("sends its files with security headers", async () => {
    const { call } = make();
    for (const path of ASSETS) {
      const { status, headers } = await call(`get ${path}`);
      expect({ path, status, headers }).toMatchObject({
        path,
        status: 200,
        headers: {
          "content-type": TYPES[path],
          "content-security-policy": CSP,
          "cache-control": "no-store",
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
        },
      });
    }
  });

  it("sends 58 kB at most", async () => {
    const { call } = make();
    let bytes = 0;
    for (const path of ASSETS) {
      bytes += Number((await call(`get ${path}`)).headers["content-length"]);
    }
    expect(bytes).toBeLessThanOrEqual(58_000);
  });

  it("adds a slash to its address", async () => {
    const { status, headers } = await make().call("get ?a=b");
    expect({ status, location: headers.location }).toEqual({ status: 307, location: "./admin/" });
  });

  it("has no console unless it is asked for", async () => {
    const { call } = make({ console: false, receiver: undefined, queue: undefined });
    for (const path of [...ASSETS, ...READS]) {
      const { status, headers } = await call(`get ${path}`);
      expect({ path, status }).toEqual({ path, status: 404 });
      expect(headers["content-security-policy"]).toBeUndefined();
    }
  });
});

it("never responds with a token, a signature or an unmasked identity", async () => {
  const app = await startConsole({ router: { queue: createMemoryQueue(["boom"]) } });
  await app.deliver("challenge.approved", { entity_identity: "jane.doe@example.com" });
  await app.deliver("challenge.approved", {}, { authToken: "another-token-of-somewhere" });
  const seen = [JSON.stringify(await readView(app))];
  seen.push(JSON.stringify((await app.call("/search", { text: "jane.doe@example.com" })).body));
  const [unknown] = SECRETS;
  const webhooks = [{ sid: `YW${"7".repeat(32)}`, unknown }];
  app.upstream.script.push({ status: 200, body: { webhooks, meta: {} } });
  for (const path of READS) {
    seen.push(await (await fetch(`${app.url}${path.slice(1)}`)).text());
  }
  const publicUrl = "https://svc:hunter2@hooks.example.test/push";
  const other = await startConsole({ receiver: { publicUrl } });
  seen.push(JSON.stringify((await other.call("")).body));
  const text = seen.join("");
  expect(text).toContain("TOKEN_WRONG");
  expect(text).toContain("jan…com");
  expect(text).toContain("//***@hooks");
  expect(text).toContain("YW777");
  for (const secret of [...SECRETS, AUTH_TOKEN, "jane.doe", "another-token", "hunter2"]) {
    expect(text).not.toContain(secret);
  }
  // Base64 of 20 bytes.
  expect(text).not.toMatch(/[A-Za-z0-9+/]{27}=/);
});

it("a missing page is named with its fix", () => {
  const read = jest.spyOn(fs, "readFileSync").mockImplementation(() => {
    throw new Error("no such file");
  });
  const make = () => makeStaffApp(NOWHERE, { console: true });
  expect(make).toThrow(/page is missing, .*page\.html"\. .*build:page/);
  read.mockRestore();
});
