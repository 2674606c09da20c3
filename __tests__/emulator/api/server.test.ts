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
      `POST /_control/factors HTTP/1.1\r\nhost: x\r\ncontent-length: 100000000\r\n${extra}\r\n`;
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
  ])("says that it does not have %s", async (path) => {
    const emulator = await startEmulator();
    const rejected = await callApi(emulator, "GET", path);
    expect(rejected).toMatchObject({
      status: 501,
      body: { code: 20501, message: `The emulator does not have GET ${path}`, status: 501 },
    });
    expect(rejected.headers.get("content-type")).toBe("application/json");
  });

  it("ignores an invalid Host in its links", async () => {
    const emulator = await startEmulator();
    const authorization = btoa(`${emulator.accountSid}:${emulator.authToken}`);
    const response = await sendRaw(Number(new URL(emulator.url).port), [
      `GET ${webhooksPath(emulator)} HTTP/1.1\r\nHost: a/b"c\r\nConnection: close\r\nAuthorization: Basic ${authorization}\r\n\r\n`,
    ]);
    expect(response.status).toBe(200);
    expect(response.text).toContain(`"url":"${emulator.url}/v2/`);
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
    await sendRaw(port, ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx"], {
      giveUpMs: 20,
    });
    expect((await callApi(emulator, "GET", webhooksPath(emulator))).status).toBe(200);
  });
});
