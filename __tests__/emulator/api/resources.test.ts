/** Behaviour of keys and webhooks that specification.test.ts does not test. */
import errors from "../../fixtures/errors.json";
import {
  callApi,
  keysPath,
  startEmulator,
  stopEmulators,
  webhooksPath,
  type Form,
} from "../../support/emulators";

afterEach(stopEmulators);

it("keys have a limit", async () => {
  const emulator = await startEmulator({ maxKeys: 1 });
  emulator.createKey();
  const { status, body } = await callApi(emulator, "POST", `${keysPath(emulator)}.json`);
  expect([status, body]).toEqual([400, errors.tooManyKeys.body]);
});

describe("webhooks", () => {
  const FORM = {
    FriendlyName: "login events",
    EventTypes: "factor.verified",
    WebhookUrl: "https://hooks.example.test/push/events",
  };

  it.each<[string, Form, number]>([
    ["an empty FriendlyName", { ...FORM, FriendlyName: "" }, 60200],
    ["FriendlyName twice", [...Object.entries(FORM), ["FriendlyName", "b"]], 60200],
    ["a WebhookUrl of another kind", { ...FORM, WebhookUrl: "ftp://a/" }, 60200],
    ["event types in one value", { ...FORM, EventTypes: "factor.created,*" }, 60306],
  ])("are not created with %s", async (_what, form, code) => {
    const emulator = await startEmulator();
    const path = webhooksPath(emulator);
    const rejected = { status: 400, body: { code } };
    expect(await callApi(emulator, "POST", path, { form })).toMatchObject(rejected);
    expect((await callApi(emulator, "GET", path)).body.webhooks).toEqual([]);
  });

  it.each([
    ["application/json", "{}"],
    ["application/x-www-form-urlencoded", "FriendlyName=%zz"],
  ])("are not created from %s: %s", async (type, body) => {
    const emulator = await startEmulator();
    const authorization = `Basic ${btoa(`${emulator.accountSid}:${emulator.authToken}`)}`;
    const headers = { authorization, "content-type": type };
    const sent = { method: "POST", headers, body };
    const response = await fetch(emulator.url + webhooksPath(emulator), sent);
    expect([response.status, await response.json()]).toMatchObject([400, { code: 20001 }]);
  });
});
