import { createEmulator, type Emulator } from "express-push-verification/emulator";
import errors from "../../fixtures/errors.json";
import {
  callApi,
  keysPath,
  startEmulator,
  stopEmulators,
  webhooksPath,
  type Form,
} from "../../support/emulators";
import { sendRaw } from "../../support/servers";

afterEach(stopEmulators);

describe("the emulator's server", () => {
  it("has a url only while it listens, and listens once", async () => {
    const [emulator, other] = [createEmulator(), createEmulator()];
    expect(() => emulator.url).toThrow(/listen/);
    const url = await emulator.listen(0);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(emulator.url).toBe(url);
    await expect(emulator.listen(0)).rejects.toThrow(/already/);
    const inUse = { code: "EADDRINUSE" };
    await expect(other.listen(Number(new URL(url).port))).rejects.toMatchObject(inUse);
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
      await expect(closed.listen(0)).rejects.toThrow(/is closed/);
    }
  });

  it("may be closed while it opens", async () => {
    const emulator = createEmulator();
    const opening = emulator.listen(0).catch(() => "it was closed meanwhile");
    await emulator.close();
    expect(await opening).toBeDefined();
    await expect(emulator.listen(0)).rejects.toThrow(/is closed/);
  });

  it("authenticates before it reads the body, and stops reading a body over the limit", async () => {
    const { url, accountSid, authToken } = await startEmulator();
    const port = Number(new URL(url).port);
    const head = (extra: string) =>
      `POST /_control/factors HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000000\r\n${extra}\r\n`;
    const stranger = await sendRaw(port, [head("")], { untilClosed: true });
    expect([stranger.status, stranger.gaveUp]).toEqual([401, false]);
    const credentials = `authorization: Basic ${btoa(`${accountSid}:${authToken}`)}\r\n`;
    const large = await sendRaw(port, [head(credentials), Buffer.alloc(400_000)], {
      untilClosed: true,
    });
    expect([large.status, large.gaveUp]).toEqual([413, false]);
  });

  it("responds 405 to other methods, and 501 to paths that it does not have", async () => {
    const emulator = await startEmulator();
    const [keys, webhooks] = [keysPath(emulator), webhooksPath(emulator)];
    for (const [method, path, allow] of [
      ["PUT", `${keys}.json`, "GET, POST"],
      ["PATCH", `${keys}/SKx.json`, "GET, POST, DELETE"],
      ["DELETE", webhooks, "GET, POST"],
      ["PUT", `${webhooks}/YWx`, "GET, POST, DELETE"],
    ] as const) {
      const rejected = await callApi(emulator, method, path);
      expect(rejected).toMatchObject({ status: 405, body: errors.methodNotAllowed.body });
      expect(rejected.headers.get("allow")).toBe(allow);
    }
    for (const path of [
      "/",
      "/2010-04-01/Accounts",
      "/2010-04-01/Accounts/x/Messages.json",
      "/v2/Services",
      "/v2/Services/x/RateLimits",
      "/v1/Services/x/Webhooks",
      "/v1/Keys",
    ]) {
      const message = `The emulator does not have GET ${path}`;
      const rejected = await callApi(emulator, "GET", path);
      expect(rejected).toMatchObject({ status: 501, body: { code: 20501, message, status: 501 } });
      expect(rejected.headers.get("content-type")).toBe("application/json");
    }
  });

  it.each<[status: number, host: string, method?: string, more?: string]>([
    [201, "localhost"],
    [201, "LOCALHOST:4010"],
    [201, "app.localhost:4010"],
    [201, "[::1]:4010"],
    [201, "192.168.0.9:4010"],
    [201, "emulator:4010"],
    [403, "rebound.example:4010"],
    [403, "localhost.rebound.example"],
    [403, 'a/b"c'],
    [403, ""],
    [200, "rebound.localhost", "GET", "Origin: http://other.example"],
    [403, "rebound.example", "GET"],
    [403, "localhost", "POST", "Origin: http://other.example"],
    [403, "localhost", "POST", "Origin: null"],
    [403, "localhost", "POST", "Sec-Fetch-Site: same-site"],
    [201, "localhost:1", "POST", "Origin: http://localhost:1"],
    [201, "localhost:1", "POST", "Origin: https://localhost:1\r\nSec-Fetch-Site: same-origin"],
  ])("responds %i to Host %j, %s, %s", async (status, host, method = "POST", more = "X-A: b") => {
    const emulator = await startEmulator({ allowedHosts: ["Emulator"] });
    const authorization = btoa(`${emulator.accountSid}:${emulator.authToken}`);
    const paths = [`${keysPath(emulator)}.json`];
    if (method === "POST") paths.push("/_control/factors");
    for (const path of paths) {
      const start = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
      const rest = `Connection: close\r\nAuthorization: Basic ${authorization}\r\n\r\n`;
      const port = Number(new URL(emulator.url).port);
      expect((await sendRaw(port, [start + rest])).status).toBe(status);
    }
  });

  it("rejects a webhook that is none, and a key over the limit", async () => {
    const emulator = await startEmulator({ maxKeys: 1 });
    const path = webhooksPath(emulator);
    const form = {
      FriendlyName: "login events",
      EventTypes: "factor.verified",
      WebhookUrl: "https://hooks.example.test/push/events",
    };
    for (const [wrong, code] of [
      [{ ...form, FriendlyName: "" }, 60200],
      [[...Object.entries(form), ["FriendlyName", "b"]], 60200],
      [{ ...form, WebhookUrl: "ftp://a/" }, 60200],
      [{ ...form, EventTypes: "factor.created,*" }, 60306],
    ] as [Form, number][]) {
      const rejected = { status: 400, body: { code } };
      expect(await callApi(emulator, "POST", path, { form: wrong })).toMatchObject(rejected);
    }
    const authorization = `Basic ${btoa(`${emulator.accountSid}:${emulator.authToken}`)}`;
    for (const [type, body] of [
      ["application/json", "{}"],
      ["application/x-www-form-urlencoded", "FriendlyName=%zz"],
    ] as const) {
      const headers = { authorization, "content-type": type };
      const response = await fetch(emulator.url + path, { method: "POST", headers, body });
      expect([response.status, await response.json()]).toMatchObject([400, { code: 20001 }]);
    }
    expect((await callApi(emulator, "GET", path)).body.webhooks).toEqual([]);
    emulator.createKey();
    const rejected = await callApi(emulator, "POST", keysOf(emulator));
    expect([rejected.status, rejected.body]).toEqual([400, errors.tooManyKeys.body]);
  });

  it("responds 500 to a fault of its own, warns, and shows nothing of it", async () => {
    const warn = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
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
    expect(warn.mock.calls).toEqual([[expect.stringContaining("RangeError: inside"), type]]);
    warn.mockRestore();
  });

  it("survives a client that disconnects", async () => {
    const emulator = await startEmulator();
    const port = Number(new URL(emulator.url).port);
    await sendRaw(port, ["POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx"], {
      giveUpMs: 20,
    });
    expect((await callApi(emulator, "GET", webhooksPath(emulator))).status).toBe(200);
  });
});

const SECRET = "q7Zt0dWm3KxR9bYc5HnL1sVfE8uJ4aPg";
const MAIN = { sid: `SK${"b".repeat(32)}`, secret: SECRET, type: "main" as const };

const keysOf = (emulator: Emulator) => `${keysPath(emulator)}.json`;

it("credentials are required for each path, and rejected when they are wrong or malformed", async () => {
  const emulator = await startEmulator({ keys: [MAIN] });
  const keys = keysOf(emulator);
  for (const path of [keys, webhooksPath(emulator), "/_control/factors", "/nowhere"]) {
    const rejected = await callApi(emulator, "GET", path, { as: null });
    expect(rejected).toMatchObject({ status: 401, body: errors.missingCredentials.body });
    expect(rejected.headers.get("www-authenticate")).toBe('Basic realm="API"');
  }
  for (const as of [
    [emulator.accountSid, `${emulator.authToken}0`],
    [emulator.accountSid, ""],
    [`AC${"0".repeat(32)}`, emulator.authToken],
    [`SK${"0".repeat(32)}`, SECRET],
    [MAIN.sid, SECRET.toLowerCase()],
    ["constructor", ""],
  ] as [string, string][]) {
    const rejected = await callApi(emulator, "GET", keys, { as });
    expect(rejected).toMatchObject({ status: 401, body: errors.wrongCredentials.body });
  }
  for (const authorization of ["Bearer abc", "Basic", "Basic !!!", "Basic ?"]) {
    const response = await fetch(emulator.url + keys, { headers: { authorization } });
    expect(response.status).toBe(401);
  }
});
