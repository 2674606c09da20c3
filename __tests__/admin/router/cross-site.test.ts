import express, { type RequestHandler } from "express";
import { useUpstream } from "../../support/upstream";
import { APPS, makeStaffApp, type StaffAppOptions } from "../staff-app";

const HOST = "app.example.test";
const FOREIGN = "https://evil.example";

const upstream = useUpstream();

type Headers = Record<string, string>;

/** Creates a Key with these headers; resolves with the status and the code. */
async function write(headers: Headers, options: StaffAppOptions = {}): Promise<string> {
  const { call } = makeStaffApp(upstream, { allowedHosts: [HOST], ...options });
  const { status, body } = await call("post /keys", {}, { Host: HOST, ...headers });
  return status === 201 ? "created" : `${status} ${body.code}`;
}

const REJECTED = "403 CROSS_SITE";

/** Middlewares that let a form choose the method, as the package method-override does. */
const METHOD_OVERRIDE: RequestHandler[] = [
  express.urlencoded({ extended: false }),
  (req, _res, next) => {
    const { _method: method } = (req.body ?? {}) as { _method?: string };
    if (req.method === "POST" && method !== undefined) req.method = method.toUpperCase();
    next();
  },
];

describe.each(APPS)("a form of a foreign page on %s", (_name, makeApp) => {
  it.each<[string, Headers]>([
    ["of a browser with Sec-Fetch-Site", { "Sec-Fetch-Site": "cross-site", Origin: FOREIGN }],
    ["of a browser without it", { Origin: FOREIGN }],
    ["of a sandboxed frame", { Origin: "null" }],
  ])("%s deletes no Key through method-override", async (_what, headers) => {
    const { sid } = upstream.createKey("in use");
    const hosts = { allowedHosts: [HOST] };
    const { call, audits } = makeStaffApp(upstream, { makeApp, before: METHOD_OVERRIDE, ...hosts });
    const form = { Host: HOST, "Content-Type": "application/x-www-form-urlencoded" };
    const deletion = (extra: Headers) =>
      call(`post /keys/${sid}`, "_method=DELETE", { ...form, ...extra });

    const rejected = await deletion({ ...headers, "Sec-Fetch-Mode": "navigate", Cookie: "sid=1" });
    expect(rejected).toMatchObject({ status: 403, body: { code: "CROSS_SITE", status: 403 } });
    expect(upstream.seen).toEqual([]);
    expect(await deletion({ Origin: `https://${HOST}` })).toHaveProperty("status", 204);
    expect(audits).toMatchObject([
      { action: "key.delete", sid, status: 403, code: "CROSS_SITE" },
      { action: "key.delete", sid, status: 204, code: undefined },
    ]);
  });

  it("sends no GET that a middleware turned into a DELETE of lower case", async () => {
    const { sid } = upstream.createKey("in use");
    const before: RequestHandler[] = [(req, _res, next) => ((req.method = "delete"), next())];
    const { call } = makeStaffApp(upstream, { makeApp, before });
    const sent = await call(`get /keys/${sid}`, undefined, { "Sec-Fetch-Site": "cross-site" });
    expect(sent).toMatchObject({ status: 403, body: { code: "CROSS_SITE" } });
    expect(upstream.seen).toEqual([]);
  });

  it("may read: the browser withholds the response from a page of another origin", async () => {
    const { call } = makeStaffApp(upstream, { makeApp });
    const headers = { "Sec-Fetch-Site": "cross-site", Origin: FOREIGN };
    for (const method of ["get", "head"]) {
      expect(await call(`${method} /keys`, undefined, headers)).toHaveProperty("status", 200);
    }
  });
});

describe("Sec-Fetch-Site", () => {
  it.each<[string, string]>([
    ["same-origin", "created"],
    ["none", "created"],
    ["same-site", REJECTED],
    ["cross-site", REJECTED],
    ["same-origin, cross-site", REJECTED],
    ["other", REJECTED],
  ])("%s: %s", async (site, outcome) => {
    expect(await write({ "Sec-Fetch-Site": site })).toBe(outcome);
    expect(await write({ "Sec-Fetch-Site": site, Origin: `https://${HOST}` })).toBe(outcome);
  });

  it("decides before Origin, so a proxy may rewrite Host", async () => {
    const headers = { "Sec-Fetch-Site": "same-origin", Origin: `https://${HOST}` };
    expect(await write({ ...headers, Host: "127.0.0.1:3000" })).toBe("created");
  });

  it("is not required: a script sends neither header", async () =>
    expect(await write({})).toBe("created"));
});

describe("Origin", () => {
  it.each<[origin: string, outcome: string, host?: string]>([
    [`https://${HOST}`, "created"],
    [`http://${HOST}`, "created"],
    [`https://${HOST}`, "created", HOST.toUpperCase()],
    [`https://${HOST}`, "created", `${HOST}:443`],
    [`https://${HOST}:8443`, "created", `${HOST}:8443`],
    ["http://[::1]:3000", "created", "[::1]:3000"],
    [`https://${HOST}:8443`, REJECTED],
    [`https://${HOST}`, REJECTED, `${HOST}:8443`],
    [`https://${HOST}.evil.example`, REJECTED],
    [`https://sub.${HOST}`, REJECTED],
    [`https://${HOST}@evil.example`, REJECTED],
    [`https://${HOST}, https://evil.example`, REJECTED],
    [FOREIGN, REJECTED],
    ["null", REJECTED],
    ["", REJECTED],
    [HOST, REJECTED],
    [`file://${HOST}`, REJECTED],
    [`chrome-extension://${HOST}`, REJECTED],
  ])("%s: %s at the host %s", async (origin, outcome, host = HOST) => {
    expect(await write({ Origin: origin, Host: host })).toBe(outcome);
  });
});

describe("X-Forwarded-Host and X-Forwarded-Proto", () => {
  const OWN = { Origin: `https://${HOST}` };
  const BEHIND = { Host: "127.0.0.1:3000", "X-Forwarded-Host": HOST };
  const CHAIN = { ...BEHIND, "X-Forwarded-Host": `${HOST}, 10.0.0.7:8080` };
  const FORGED = { "X-Forwarded-Host": "evil.example", Origin: FOREIGN };
  const SECURE = { "X-Forwarded-Proto": "https" };

  it.each<[what: string, headers: Headers, trusts: unknown, outcome: string]>([
    ["of a trusted proxy", { ...BEHIND, ...OWN }, true, "created"],
    ["of a proxy that is trusted by its address", { ...BEHIND, ...OWN }, "loopback", "created"],
    ["of an untrusted client", { ...BEHIND, ...OWN }, false, REJECTED],
    ["of a client of another address", { ...BEHIND, ...OWN }, "10.0.0.0/8", REJECTED],
    ["in place of Host", { ...BEHIND, Origin: "http://127.0.0.1:3000" }, true, REJECTED],
    ["that a client forged", FORGED, false, REJECTED],
    ["of several proxies", { ...CHAIN, ...OWN }, true, "created"],
    ["of an https app and an http page", { ...SECURE, Origin: `http://${HOST}` }, true, REJECTED],
    ["of an https app and its own page", { ...SECURE, ...OWN }, true, "created"],
  ])("%s", async (_what, headers, trusts, outcome) => {
    expect(await write(headers, { trusts })).toBe(outcome);
  });
});

describe("allowedOrigins", () => {
  const STAFF = "https://staff.example.test";
  const allowedOrigins = [STAFF, "http://localhost:5173"];

  it.each<[Headers, string]>([
    [{ Origin: STAFF }, "created"],
    [{ Origin: STAFF, "Sec-Fetch-Site": "same-site" }, "created"],
    [{ Origin: STAFF, "Sec-Fetch-Site": "cross-site" }, "created"],
    [{ Origin: "http://localhost:5173", "Sec-Fetch-Site": "cross-site" }, "created"],
    [{ Origin: `https://${HOST}`, "Sec-Fetch-Site": "same-origin" }, "created"],
    [{ Origin: `https://${HOST}` }, "created"],
    [{ Origin: FOREIGN, "Sec-Fetch-Site": "cross-site" }, REJECTED],
    [{ Origin: FOREIGN }, REJECTED],
    [{ Origin: "http://staff.example.test", "Sec-Fetch-Site": "cross-site" }, REJECTED],
    [{ Origin: `${STAFF}:8443`, "Sec-Fetch-Site": "same-site" }, REJECTED],
    [{ Origin: `${STAFF}, ${FOREIGN}`, "Sec-Fetch-Site": "cross-site" }, REJECTED],
    [{ Origin: "http://localhost:3000", "Sec-Fetch-Site": "cross-site" }, REJECTED],
    [{ Origin: "null", "Sec-Fetch-Site": "cross-site" }, REJECTED],
    [{ "Sec-Fetch-Site": "cross-site" }, REJECTED],
  ])("%j: %s", async (headers, outcome) => {
    expect(await write(headers, { allowedOrigins })).toBe(outcome);
  });

  it("is empty by default", async () => {
    expect(await write({ Origin: STAFF, "Sec-Fetch-Site": "same-site" })).toBe(REJECTED);
  });
});

describe("allowedHosts", () => {
  const REBOUND = "403 HOST_NOT_ALLOWED";
  it.each<[host: string, allowedHosts: string[] | undefined, outcome: string, trusts?: boolean]>([
    [FOREIGN, undefined, REBOUND],
    [FOREIGN, undefined, "created", true],
    [FOREIGN, [HOST], REBOUND],
    [FOREIGN, [HOST], REBOUND, true],
    [FOREIGN, [], REBOUND],
    [`${FOREIGN}:3000`, undefined, REBOUND],
    [HOST, [HOST], "created"],
    [`${HOST.toUpperCase()}:8443`, [HOST], "created"],
    [`${HOST}.evil.example`, [HOST], REBOUND],
    [`${HOST}.`, [HOST], REBOUND],
    [`sub.${HOST}`, [HOST], REBOUND],
    ["localhost:3000", [HOST], "created"],
    ["console.localhost", undefined, "created"],
    ["localhost.evil.example", undefined, REBOUND],
    ["notlocalhost", undefined, REBOUND],
    ["127.0.0.1.evil.example", undefined, REBOUND],
    ["127.0.0.1:3000", undefined, "created"],
    ["[::1]:3000", [], "created"],
    ["10.0.0.7", [], "created"],
    ["not a host", undefined, REBOUND],
  ])("%s with %j: %s", async (host, allowedHosts, outcome, trusts = false) => {
    const name = host.replace(/^https:\/\//, "");
    const headers = { Host: name, Origin: `http://${name}`, "Sec-Fetch-Site": "same-origin" };
    expect(await write(headers, { trusts, allowedHosts })).toBe(outcome);
  });

  it("checks Host beside X-Forwarded-Host, which a page can send", async () => {
    const headers = { Origin: `http://${HOST}`, "X-Forwarded-Host": HOST };
    expect(await write({ ...headers, Host: "evil.example" }, { trusts: true })).toBe(REBOUND);
    expect(await write({ ...headers, Host: "127.0.0.1:3000" }, { trusts: true })).toBe("created");
  });

  it("withholds every response from a page that rebinds its name", async () => {
    const { call, audits } = makeStaffApp(upstream, { console: true });
    const host = { Host: "evil.example" };
    for (const path of ["/", "/keys", "/openapi.json", "/console"]) {
      const { status, body } = await call(`get ${path}`, undefined, host);
      expect([status, body.code]).toEqual([403, "HOST_NOT_ALLOWED"]);
    }
    await call("post /keys", {}, host);
    expect(audits).toMatchObject([{ action: "key.create", code: "HOST_NOT_ALLOWED" }]);
    expect(upstream.seen).toEqual([]);
  });
});

it("rejects malformed options with a TypeError that names the option", () => {
  const STAFF = "https://staff.example.test";
  const wrong = `* null file:// staff.example.test https://Staff.example.test`.split(" ");
  const urls = [`${STAFF}/`, `${STAFF}/admin`, `${STAFF}:443`, /staff/];
  const origins = [...wrong, ...urls].map((origin) => [origin]);
  const hosts = ["*", `${HOST}:3000`, `https://${HOST}`, "", /app/].map((host) => [host]);
  for (const [name, values] of [
    ["allowedOrigins", [STAFF, ...origins]],
    ["allowedHosts", [HOST, ...hosts]],
  ] as const) {
    for (const value of values) {
      const make = () => makeStaffApp(upstream, { [name]: value });
      expect(make).toThrow(`option ${name} must be`);
    }
  }
});
