import { createEmulator, type Emulator } from "express-push-verification/emulator";
import errors from "../../fixtures/errors.json";
import {
  callApi,
  keysPath,
  startEmulator,
  stopEmulators,
  webhooksPath,
} from "../../support/emulators";
import { sendRaw } from "../../support/servers";

afterEach(stopEmulators);

describe("the emulator's server", () => {
  it("has a url only while it listens", async () => {
    const emulator = createEmulator();
    expect(() => emulator.url).toThrow(/listen/);
    const url = await emulator.listen(0);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(emulator.url).toBe(url);
    await expect(emulator.listen(0)).rejects.toThrow(/already/);
    await emulator.close();
    await emulator.close();
    expect(() => emulator.url).toThrow(/listen/);
    await expect(fetch(url)).rejects.toThrow();
  });

  it("is closed by Symbol.asyncDispose, for await using", async () => {
    const emulator = createEmulator();
    const url = await emulator.listen(0);
    await emulator[Symbol.asyncDispose]();
    await expect(fetch(url)).rejects.toThrow();
  });

  it("cannot listen again after close, also while it opens", async () => {
    const emulator = createEmulator();
    const opening = emulator.listen(0);
    await emulator.close();
    await expect(opening)
      .resolves.toBeDefined()
      .catch(() => "it was closed meanwhile");
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

  it("rejects a port in use and can then listen on another", async () => {
    const { url } = await startEmulator();
    const other = createEmulator();
    await expect(other.listen(Number(new URL(url).port))).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
    await other.listen(0);
    await other.close();
  });

  it.each<[string, (emulator: Emulator) => string, string]>([
    ["PUT", (emulator) => `${keysPath(emulator)}.json`, "GET, POST"],
    ["PATCH", (emulator) => `${keysPath(emulator)}/SKx.json`, "GET, POST, DELETE"],
    ["DELETE", webhooksPath, "GET, POST"],
    ["PUT", (emulator) => `${webhooksPath(emulator)}/YWx`, "GET, POST, DELETE"],
  ])("responds 405 to %s", async (method, pathOf, allow) => {
    const emulator = await startEmulator();
    const rejected = await callApi(emulator, method, pathOf(emulator));
    expect(rejected).toMatchObject({ status: 405, body: errors.methodNotAllowed.body });
    expect(rejected.headers.get("allow")).toBe(allow);
  });

  it.each([
    "/",
    "/2010-04-01/Accounts",
    "/2010-04-01/Accounts/x/Messages.json",
    "/v2/Services",
    "/v2/Services/x/RateLimits",
    "/v1/Services/x/Webhooks",
    "/v1/Keys",
  ])("says that it does not have %s", async (path) => {
    const emulator = await startEmulator();
    const rejected = await callApi(emulator, "GET", path);
    expect(rejected).toMatchObject({
      status: 501,
      body: { code: 20501, message: `The emulator does not have GET ${path}`, status: 501 },
    });
    expect(rejected.headers.get("content-type")).toBe("application/json");
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
const STANDARD = { sid: `SK${"a".repeat(32)}`, secret: SECRET, type: "standard" as const };
const MAIN = { sid: `SK${"b".repeat(32)}`, secret: SECRET, type: "main" as const };

const keysOf = (emulator: Emulator) => `${keysPath(emulator)}.json`;

describe("credentials", () => {
  it("are required for each path, also for unknown ones", async () => {
    const emulator = await startEmulator();
    for (const path of [
      keysOf(emulator),
      webhooksPath(emulator),
      "/_control/factors",
      "/nowhere",
    ]) {
      const rejected = await callApi(emulator, "GET", path, { as: null });
      expect(rejected).toMatchObject(pick(errors.missingCredentials));
      expect(rejected.headers.get("www-authenticate")).toBe('Basic realm="API"');
    }
  });

  it.each([
    ["another token", (emulator: Emulator) => [emulator.accountSid, `${emulator.authToken}0`]],
    ["no token", (emulator: Emulator) => [emulator.accountSid, ""]],
    ["another account", (emulator: Emulator) => [`AC${"0".repeat(32)}`, emulator.authToken]],
    ["a key that does not exist", () => [`SK${"0".repeat(32)}`, SECRET]],
    ["a key with another secret", () => [MAIN.sid, SECRET.toLowerCase()]],
    ["the name of a method", () => ["constructor", ""]],
  ])("are rejected: %s", async (_what, credentials) => {
    const emulator = await startEmulator({ keys: [MAIN] });
    const as = credentials(emulator) as [string, string];
    const rejected = await callApi(emulator, "GET", keysOf(emulator), { as });
    expect(rejected).toMatchObject(pick(errors.wrongCredentials));
  });

  it.each(["Bearer abc", "Basic", "Basic !!!", "Basic ?"])("are not %j", async (authorization) => {
    const emulator = await startEmulator();
    const response = await fetch(emulator.url + keysOf(emulator), { headers: { authorization } });
    expect(response.status).toBe(401);
  });

  it("of a Standard key do not reach the keys", async () => {
    const emulator = await startEmulator({ keys: [STANDARD, MAIN] });
    const as: [string, string] = [STANDARD.sid, STANDARD.secret];
    const one = `${keysPath(emulator)}/${MAIN.sid}.json`;
    for (const [method, path] of [
      ["GET", keysOf(emulator)],
      ["POST", keysOf(emulator)],
      ["GET", one],
      ["POST", one],
      ["DELETE", one],
      ["DELETE", `${keysPath(emulator)}/${STANDARD.sid}.json`],
    ] as const) {
      const rejected = await callApi(emulator, method, path, { as });
      expect(rejected).toMatchObject(pick(errors.keyEndpointWithStandardKey));
    }
  });

  it("are valid for their own account only", async () => {
    const emulator = await startEmulator({ keys: [MAIN] });
    const other = `/2010-04-01/Accounts/AC${"0".repeat(32)}/Keys`;
    for (const as of [undefined, [MAIN.sid, MAIN.secret] as [string, string]]) {
      for (const path of [`${other}.json`, `${other}/${MAIN.sid}.json`]) {
        const rejected = await callApi(emulator, "GET", path, as && { as });
        expect(rejected).toMatchObject({ status: 401, body: { code: 20003 } });
      }
    }
    expect(await callApi(emulator, "GET", "/2010-04-01/Accounts/me/Keys.json")).toMatchObject({
      status: 404,
      body: { code: 20404 },
    });
  });
});

function pick({ status, body }: { status: number; body: object }) {
  return { status, body };
}
