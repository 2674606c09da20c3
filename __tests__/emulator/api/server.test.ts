import dns from "node:dns";
import { ServerResponse } from "node:http";
import { networkInterfaces } from "node:os";
import type { NewKey } from "../../../lib/emulator/resources/keys";
import { createEmulator, sendRequest, type Emulator } from "express-push-verification/emulator";
import errors from "../../fixtures/errors.json";
import {
  callApi,
  keysPath,
  startEmulator,
  stopEmulators,
  webhooksPath,
} from "../../support/emulators";
import { needs } from "../../support/needs";
import { sendRaw } from "../../support/servers";
import { useWarnings } from "../../support/warnings";
import { ACCOUNT_SID, AUTH_TOKEN, SERVICE_SID } from "../../support/webhook-requests";

const warnings = useWarnings();
afterEach(stopEmulators);

const portOf = ({ url }: Emulator) => Number(new URL(url).port);
const authorizationOf = ({ accountSid, authToken }: Emulator) =>
  `Authorization: Basic ${btoa(`${accountSid}:${authToken}`)}\r\n`;

describe("the emulator's server", () => {
  it.each(["GET", "HEAD"])("is ready without credentials: %s", async (method) => {
    const { url } = await startEmulator();
    const response = await fetch(`${url}/_control/ready`, { method });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(method === "GET" ? '{"ready":true}' : "");
    expect((await fetch(`${url}/_control/factors`, { method })).status).toBe(401);
  });

  it("dates the changes of a factor", async () => {
    let nowMs = Date.UTC(2026, 2, 5);
    const emulator = await startEmulator({ now: () => nowMs });
    const { sid, date_created } = emulator.createFactor({ entity_identity: "user-0001" });
    nowMs += 1_000;
    const verifiedAt = "2026-03-05T00:00:01Z";
    expect(emulator.verifyFactor(sid)).toHaveProperty("date_updated", verifiedAt);
    nowMs += 1_000;
    const path = `/v2/Services/${emulator.serviceSid}/Entities/user-0001/Factors/${sid}`;
    const { body } = await callApi(emulator, "POST", path, { form: { FriendlyName: "b" } });
    const date_updated = "2026-03-05T00:00:02Z";
    expect(body).toMatchObject({ friendly_name: "b", date_created, date_updated });
  });

  it("listens once", async () => {
    const [emulator, other] = [createEmulator(), createEmulator()];
    const url = await emulator.listen(0);
    await expect(emulator.listen(0)).rejects.toThrow(/already/);
    const inUse = { code: "EADDRINUSE" };
    await expect(other.listen(Number(new URL(url).port))).rejects.toMatchObject(inUse);
    await other.listen(0);
    for (const closed of [emulator, other]) {
      await closed.close();
      await expect(closed.listen(0)).rejects.toThrow(/is closed/);
    }
  });

  it("has a url only while it listens", async () => {
    const [emulator, other] = [createEmulator(), createEmulator()];
    expect(() => emulator.url).toThrow(/listen/);
    const url = await emulator.listen(0);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(emulator.url).toBe(url);
    const otherUrl = await other.listen(0);
    await emulator.close();
    await emulator.close();
    // For `await using`.
    await other[Symbol.asyncDispose]();
    for (const [closed, at] of [
      [emulator, url],
      [other, otherUrl],
    ] as const) {
      expect(() => closed.url).toThrow(/listen/);
      await expect(fetch(at)).rejects.toThrow();
    }
  });

  it("may be reached at the name that it binds", async () => {
    const lookup = jest
      .spyOn(dns, "lookup")
      .mockImplementation((...given: unknown[]) =>
        (given.at(-1) as (...found: unknown[]) => void)(null, "127.0.0.1", 4),
      );
    const emulator = createEmulator();
    const { port } = new URL(await emulator.listen(0, "my-machine"));
    expect(lookup.mock.calls.map(([name]) => name)).toEqual(["my-machine"]);
    lookup.mockRestore();
    const bytes = `GET /_control/ready HTTP/1.1\r\nHost: my-machine:1\r\nConnection: close\r\n\r\n`;
    expect(await sendRaw(Number(port), [bytes])).toHaveProperty("status", 200);
    await emulator.close();
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === "::1"),
  );
  needs(hasIpv6, "the IPv6 loopback ::1").it("has a url of IPv6", async () => {
    const emulator = createEmulator();
    const url = await emulator.listen(0, "::1");
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    const get = {
      method: "GET",
      url: `${url}/_control/ready`,
      headers: {},
      body: undefined,
    } as const;
    expect(await sendRequest(get)).toHaveProperty("status", 200);
    await emulator.close();
  });

  it("may be closed while it opens", async () => {
    const emulator = createEmulator();
    const opening = emulator.listen(0).catch(() => "it was closed meanwhile");
    await emulator.close();
    expect(await opening).toBeDefined();
    await expect(emulator.listen(0)).rejects.toThrow(/is closed/);
  });

  const head = (extra: string) =>
    `POST /_control/factors HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000000\r\n${extra}\r\n`;

  it("authenticates before it reads the body", async () => {
    const port = portOf(await startEmulator());
    const anonymous = await sendRaw(port, [head("")], { untilClosed: true });
    expect(anonymous).toMatchObject({ status: 401, gaveUp: false });
  });

  it("stops reading a body over the limit", async () => {
    const emulator = await startEmulator();
    const chunks = [head(authorizationOf(emulator)), Buffer.alloc(400_000)];
    const large = await sendRaw(portOf(emulator), chunks, { untilClosed: true });
    expect(large).toMatchObject({ status: 413, gaveUp: false });
    const form = { FriendlyName: "x".repeat(262_144 - "FriendlyName=".length) };
    const most = await callApi(emulator, "POST", `${keysPath(emulator)}.json`, { form });
    expect(most).toHaveProperty("body.code", 20002);
  });

  // kit.test.ts has the other hosts and origins.
  it.each<[status: number, host: string, method?: string, more?: string]>([
    [201, "localhost"],
    [201, "emulator:4010"],
    [403, "rebound.example:4010"],
    [403, "localhost.rebound.example"],
    [200, "rebound.localhost", "GET", "Origin: http://other.example"],
    [403, "rebound.example", "GET"],
    [403, "localhost", "POST", "Origin: http://other.example"],
    [201, "localhost:1", "POST", "Origin: http://localhost:1"],
    [201, "localhost:1", "POST", "Origin: https://localhost:1\r\nSec-Fetch-Site: same-origin"],
  ])("responds %i to Host %j, %s, %s", async (status, host, method = "POST", more = "X-A: b") => {
    const emulator = await startEmulator({ allowedHosts: ["Emulator"] });
    const paths = [`${keysPath(emulator)}.json`];
    if (method === "POST") paths.push("/_control/factors");
    for (const path of paths) {
      const start = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
      const rest = `Connection: close\r\n${authorizationOf(emulator)}\r\n`;
      expect((await sendRaw(portOf(emulator), [start + rest])).status).toBe(status);
    }
  });

  it("does not warn of a client that leaves", async () => {
    const emulator = await startEmulator();
    const headers = `Host: localhost\r\n${authorizationOf(emulator)}Content-Length: 10\r\n`;
    const chunks = [`POST / HTTP/1.1\r\n${headers}\r\nx`];
    await sendRaw(portOf(emulator), chunks, { giveUpMs: 20 });
    // Its connection was closed before this response.
    await callApi(emulator, "GET", `${keysPath(emulator)}.json`);
    expect(warnings.list()).toEqual([]);
  });

  it("responds 500 with a warning to a fault of its own", async () => {
    let isBroken = false;
    const now = () => {
      if (isBroken) throw new RangeError("inside");
      return 0;
    };
    const emulator = await startEmulator({ now });
    isBroken = true;
    const response = await callApi(emulator, "POST", `${keysPath(emulator)}.json`);
    expect(response).toMatchObject({ status: 500, body: { code: 20500, status: 500 } });
    expect(JSON.stringify(response.body)).not.toContain("inside");
    const type = { type: "EmulatorWarning" };
    expect(warnings.list()).toEqual([[expect.stringContaining("RangeError: inside"), type]]);
  });

  it("destroys a response whose methods throw, such as those that an agent replaced", async () => {
    const emulator = await startEmulator();
    const broken = jest.spyOn(ServerResponse.prototype, "writeHead").mockImplementation(() => {
      throw new RangeError("inside");
    });
    await expect(callApi(emulator, "GET", `${keysPath(emulator)}.json`)).rejects.toThrow();
    broken.mockRestore();
    expect(warnings.list()).toHaveLength(2);
    const response = await callApi(emulator, "GET", `${keysPath(emulator)}.json`);
    expect(response).toHaveProperty("status", 200);
  });
});

const SECRET = "q7Zt0dWm3KxR9bYc5HnL1sVfE8uJ4aPg";
const [MAIN, STANDARD] = (["main", "standard"] as const).map((type, index) => {
  return { sid: `SK${String(index).repeat(32)}`, secret: SECRET, type };
}) as [NewKey, NewKey];
const KEYS = `${keysPath({ accountSid: ACCOUNT_SID } as Emulator)}.json`;
const HOOKS = webhooksPath({ serviceSid: SERVICE_SID } as Emulator);
const SERVICE = `/v2/Services/${SERVICE_SID}`;
const HOOK = {
  FriendlyName: "login events",
  EventTypes: "factor.verified",
  WebhookUrl: "https://hooks.example.test/push/events",
};
const asJson = (body: string, type = "application/json") => ({
  body,
  headers: { "content-type": type },
});
const asForm = (body: string | Buffer) => ({
  body,
  headers: { "content-type": "application/x-www-form-urlencoded" },
});

const CHALLENGE = { "www-authenticate": 'Basic realm="API"' };

const NO_HOOK = `The requested resource ${HOOKS.replace("/v2", "")}/YWx was not found`;
type Row = [status: number, code: number | object, line: string, sent?: object, headers?: object];
it.each<Row>([
  [401, errors.missingCredentials.body, `GET ${KEYS}`, { as: null }, CHALLENGE],
  [401, errors.missingCredentials.body, `GET ${HOOKS}`, { as: null }, CHALLENGE],
  [401, errors.missingCredentials.body, "GET /_control/factors", { as: null }, CHALLENGE],
  [401, errors.missingCredentials.body, "GET /nowhere", { as: null }, CHALLENGE],
  ...[
    [ACCOUNT_SID, `${AUTH_TOKEN}0`],
    [ACCOUNT_SID, ""],
    [`AC${"0".repeat(32)}`, AUTH_TOKEN],
    [`SK${"9".repeat(32)}`, SECRET],
    [MAIN.sid, SECRET.toLowerCase()],
    ["constructor", ""],
  ].map((as): Row => [401, errors.wrongCredentials.body, `GET ${KEYS}`, { as }]),
  [401, 20003, `GET ${KEYS}`, { headers: { authorization: "Bearer abc" } }],
  [401, 20003, `GET ${KEYS}`, { headers: { authorization: "Basic" } }],
  [401, 20003, `GET ${KEYS}`, { headers: { authorization: "Basic !!!" } }],
  [401, 20003, `GET ${KEYS}`, { headers: { authorization: "Basic ?" } }],
  [401, 20003, "POST /_control/factors", { as: [STANDARD.sid, SECRET] }],
  [405, errors.methodNotAllowed.body, `PUT ${KEYS}`, {}, { allow: "GET, POST" }],
  [405, 20004, `PATCH ${KEYS.replace(".", "/SKx.")}`, {}, { allow: "GET, POST, DELETE" }],
  [405, 20004, "PUT /_control/factors", { json: {} }],
  ...["/", `${SERVICE}/RateLimits`, "/_control/nothing"].map((path): Row => {
    const message = `The emulator does not have GET ${path}`;
    return [501, { code: 20501, message }, `GET ${path}`];
  }),
  ...[KEYS.replace(".", "x"), `/x${KEYS}`, `${KEYS}x`].map((path): Row => [
    501,
    20501,
    `GET ${path}`,
  ]),
  [501, 20501, `POST ${SERVICE}`],
  [501, 20501, `DELETE ${SERVICE}`],
  [400, errors.tooManyKeys.body, `POST ${KEYS}`],
  [400, 60200, `POST ${HOOKS}`, { form: { ...HOOK, FriendlyName: "" } }],
  [400, 60200, `POST ${HOOKS}`, { form: [...Object.entries(HOOK), ["FriendlyName", "b"]] }],
  [400, 60200, `POST ${HOOKS}`, { form: { ...HOOK, WebhookUrl: "ftp://a/" } }],
  [400, 60306, `POST ${HOOKS}`, { form: { ...HOOK, EventTypes: "factor.created,*" } }],
  [400, 20001, `POST ${HOOKS}`, asJson("{}")],
  [400, 20001, `POST ${HOOKS}`, asForm("FriendlyName=%zz")],
  [400, 20001, `POST ${HOOKS}`, asForm(Buffer.from("FriendlyName=\xff", "latin1"))],
  [400, 20001, "POST /_control/factors", asJson("[]")],
  [400, 20001, "POST /_control/factors", asJson("{")],
  [400, 20001, "POST /_control/factors", asForm("{}")],
  [400, 60200, "POST /_control/factors", { json: { metadata: { a: 1 } } }],
  [
    404,
    { message: "The requested resource /Factors/YFx was not found" },
    "POST /_control/factors/YFx/verify",
  ],
  [404, { message: NO_HOOK }, `GET ${HOOKS}/YWx`],
  [400, 60200, "POST /_control/challenges", { json: {} }],
  [400, 60200, "POST /_control/faults", asJson("{}", "Application/JSON; charset=utf-8")],
  [400, 20001, "POST /_control/faults", asJson("{}", "application/jsonl")],
])("responds %i, %j to %s with %j", async (status, code, line, sent = {}, headers = {}) => {
  const sids = { accountSid: ACCOUNT_SID, authToken: AUTH_TOKEN, serviceSid: SERVICE_SID };
  const emulator = await startEmulator({ ...sids, keys: [MAIN, STANDARD], maxKeys: 2 });
  const [method = "", path = ""] = line.split(" ");
  const rejected = await callApi(emulator, method, path, sent);
  const body = typeof code === "number" ? { code, status } : code;
  expect(rejected).toMatchObject({ status, body });
  const requestId = { "x-request-id": expect.stringMatching(/^[\da-f-]{36}$/) as string };
  const sentHeaders = { "content-type": "application/json", ...requestId, ...headers };
  expect(Object.fromEntries(rejected.headers)).toMatchObject(sentHeaders);
  expect((await callApi(emulator, "GET", HOOKS)).body.webhooks).toEqual([]);
});
