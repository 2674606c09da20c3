import type { RequestHandler } from "express";
import { useUpstream } from "../../support/upstream";
import { APPS, makeStaffApp, type StaffAppOptions } from "../staff-app";

const HOST = "app.example.test";
const OWN = `https://${HOST}`;
const FOREIGN = "https://evil.example";
const STAFF = "https://staff.example.test";

const upstream = useUpstream();

type Headers = Record<string, string>;

async function write(headers: Headers, options: StaffAppOptions = {}): Promise<string> {
  const { call } = makeStaffApp(upstream, { allowedHosts: [HOST], ...options });
  const { status, body } = await call("post /keys", {}, { Host: HOST, ...headers });
  return status === 201 ? "created" : `${status} ${body.code}`;
}

const REJECTED = "403 CROSS_SITE";
const REBOUND = "403 HOST_NOT_ALLOWED";

describe.each(APPS)("a page of another origin on %s", (_name, makeApp) => {
  const foreign = { "Sec-Fetch-Site": "cross-site", Origin: FOREIGN };

  it.each(["DELETE", "delete"])("sends no %s through method-override", async (method) => {
    const before: RequestHandler[] = [(req, _res, next) => ((req.method = method), next())];
    const { call } = makeStaffApp(upstream, { makeApp, before });
    const { sid } = upstream.createKey("in use");
    const sent = await call(`post /keys/${sid}`, "_method=DELETE", foreign);
    expect(sent).toMatchObject({ status: 403, body: { code: "CROSS_SITE" } });
    expect(upstream.seen).toEqual([]);
  });

  it("may read, unless it rebinds its name: the browser withholds the response from it", async () => {
    const { call, audits } = makeStaffApp(upstream, { makeApp });
    for (const method of ["get", "head"]) {
      expect(await call(`${method} /keys`, undefined, foreign)).toHaveProperty("status", 200);
      const rebound = await call(`${method} /keys`, undefined, { Host: "evil.example" });
      expect(rebound).toHaveProperty("status", 403);
    }
    expect(audits).toEqual([]);
  });
});

it.each<[site: string, outcome: string]>([
  ["same-origin", "created"],
  ["none", "created"],
  ["same-site", REJECTED],
  ["cross-site", REJECTED],
  ["same-origin, cross-site", REJECTED],
  ["other", REJECTED],
])("Sec-Fetch-Site %s decides before Origin: %s", async (site, outcome) => {
  expect(await write({ "Sec-Fetch-Site": site })).toBe(outcome);
  // A proxy may rewrite Host.
  const headers = { "Sec-Fetch-Site": site, Origin: OWN, Host: "127.0.0.1:3000" };
  expect(await write(headers)).toBe(outcome);
});

it.each<[origin: string, outcome: string, host?: string]>([
  [OWN, "created"],
  [`http://${HOST}`, "created"],
  [OWN, "created", HOST.toUpperCase()],
  [OWN, "created", `${HOST}:443`],
  [`${OWN}:8443`, "created", `${HOST}:8443`],
  ["http://[::1]:3000", "created", "[::1]:3000"],
  [`${OWN}:8443`, REJECTED],
  [OWN, REJECTED, `${HOST}:8443`],
  [`${OWN}.evil.example`, REJECTED],
  [`https://sub.${HOST}`, REJECTED],
  [`${OWN}@evil.example`, REJECTED],
  [`${OWN}, https://evil.example`, REJECTED],
  ["null", REJECTED],
  [HOST, REJECTED],
  [`ftp://${HOST}`, REJECTED],
])("Origin %s: %s at the host %s", async (origin, outcome, host = HOST) => {
  expect(await write({ Origin: origin, Host: host })).toBe(outcome);
});

const BEHIND = { Host: "127.0.0.1:3000", "X-Forwarded-Host": HOST, Origin: OWN };
const CHAIN = { ...BEHIND, "X-Forwarded-Host": `${HOST} , 10.0.0.7:8080` };
const FORGED = { "X-Forwarded-Host": "evil.example", Origin: FOREIGN };
const SECURE = { "X-Forwarded-Proto": "https" };
const INSECURE = `http://${HOST}`;
it.each<[what: string, headers: Headers, trusts: unknown, outcome: string]>([
  ["Host of a trusted proxy", BEHIND, true, "created"],
  ["Host of a proxy that is trusted by its address", BEHIND, "loopback", "created"],
  ["Host of the only proxy that is trusted", BEHIND, 1, "created"],
  ["Host of a client of another address", BEHIND, "10.0.0.0/8", REJECTED],
  ["Host in place of Host", { ...BEHIND, Origin: "http://127.0.0.1:3000" }, true, REJECTED],
  ["Host that a client forged", FORGED, false, REJECTED],
  ["Host of several proxies", CHAIN, true, "created"],
  ["Proto of an https app and an http page", { ...SECURE, Origin: INSECURE }, true, REJECTED],
  ["Proto of an https app and its own page", { ...SECURE, Origin: OWN }, true, "created"],
  // A page can send X-Forwarded-Host, and not choose Host.
  ["Host beside a foreign Host", { ...BEHIND, Host: "evil.example" }, true, REBOUND],
  ["Host that is foreign", { ...BEHIND, ...FORGED }, true, REBOUND],
])("X-Forwarded-%s", async (_what, headers, trusts, outcome) => {
  expect(await write(headers, { trusts })).toBe(outcome);
});

it.each<[origin: string, site: string | undefined, outcome: string]>([
  [STAFF, undefined, "created"],
  [STAFF, "same-site", "created"],
  [STAFF, "cross-site", "created"],
  ["http://localhost:5173", "cross-site", "created"],
  [OWN, undefined, "created"],
  [FOREIGN, "cross-site", REJECTED],
  ["http://staff.example.test", "cross-site", REJECTED],
  [`${STAFF}:8443`, "same-site", REJECTED],
  [`${STAFF}, ${FOREIGN}`, "cross-site", REJECTED],
  ["null", "cross-site", REJECTED],
])("with allowedOrigins, Origin %s, Sec-Fetch-Site %s: %s", async (...row) => {
  const [Origin, site, outcome] = row;
  const allowedOrigins = [STAFF, "http://localhost:5173"];
  const headers = { Origin, ...(site !== undefined && { "Sec-Fetch-Site": site }) };
  expect(await write(headers, { allowedOrigins })).toBe(outcome);
});

// kit.test.ts has the other hosts.
it.each<[host: string, allowedHosts: string[] | undefined, outcome: string, trusts?: boolean]>([
  ["evil.example", undefined, REBOUND],
  ["evil.example", undefined, "created", true],
  ["evil.example", [HOST], REBOUND],
  ["evil.example:3000", [], REBOUND],
  [HOST, [HOST], "created"],
  [`${HOST}.evil.example`, [HOST], REBOUND],
  [`${HOST}.`, [HOST], REBOUND],
  [`sub.${HOST}`, [HOST], REBOUND],
  ["localhost:3000", [HOST], "created"],
  ["localhost.evil.example", undefined, REBOUND],
  ["notlocalhost", undefined, REBOUND],
])("allowedHosts: %s, %j: %s", async (host, allowedHosts, outcome, trusts = false) => {
  const headers = { Host: host, Origin: `http://${host}`, "Sec-Fetch-Site": "same-origin" };
  expect(await write(headers, { trusts, allowedHosts })).toBe(outcome);
});

it.each([
  ["another address of the server", "192.168.7.4", "192.168.7.4", REBOUND],
  ["the loopback of IPv6", "::1", "::", REBOUND],
  ["another machine", "10.127.7.5", "192.168.7.4", "created"],
])("without allowedHosts, a foreign name from %s", async (_from, remote, local, outcome) => {
  const before: RequestHandler[] = [
    ({ socket }, _res, next) => {
      Object.defineProperty(socket, "remoteAddress", { value: remote });
      Object.defineProperty(socket, "localAddress", { value: local });
      next();
    },
  ];
  expect(await write({ Host: "evil.example" }, { allowedHosts: undefined, before })).toBe(outcome);
});

it.each<[name: string, values: unknown[]]>([
  ["allowedOrigins", ["*", "null", "file://", "staff.example.test", "https://Staff.example.test"]],
  ["allowedOrigins", [`${STAFF}/`, `${STAFF}/admin`, `${STAFF}:443`, /staff/]],
  ["allowedHosts", ["*", `${HOST}:3000`, OWN, "", /app/]],
])("rejects malformed options with a TypeError that names the option: %s %j", (name, values) => {
  for (const value of [HOST, ...values.map((one) => [one])]) {
    const make = () => makeStaffApp(upstream, { [name]: value });
    expect(make).toThrow(`option ${name} must be`);
  }
});
