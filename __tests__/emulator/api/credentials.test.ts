import type { Emulator } from "express-push-verification/emulator";
import errors from "../../fixtures/errors.json";
import {
  callApi,
  keysPath,
  startEmulator,
  stopEmulators,
  webhooksPath,
} from "../../support/emulators";

afterEach(stopEmulators);

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
