import { createEmulator } from "express-push-verification/emulator";
import { resolveEmulatorOptions } from "../../lib/emulator/options";

describe("createEmulator", () => {
  it("works without options, with realistic random defaults", () => {
    const [one, other] = [resolveEmulatorOptions({}), resolveEmulatorOptions({})];
    expect(one).toMatchObject({
      accountSid: expect.stringMatching(/^AC[0-9a-f]{32}$/),
      authToken: expect.stringMatching(/^[0-9a-f]{32}$/),
      previousAuthToken: expect.stringMatching(/^[0-9a-f]{32}$/),
      serviceSid: expect.stringMatching(/^VA[0-9a-f]{32}$/),
      signatureHeader: "X-Service-Signature",
      contentType: "application/x-www-urlencoded",
      webhookMethod: "POST",
      // The time-outs and retries of the specification.
      connectTimeoutMs: 5_000,
      totalTimeoutMs: 15_000,
      connectionRetries: 1,
    });
    for (const name of ["accountSid", "authToken", "previousAuthToken", "serviceSid"] as const) {
      expect(one[name]).not.toBe(other[name]);
    }
  });

  it.each<[name: string, value: unknown, message?: string, more?: object]>([
    ["accountSid", `VA${"0".repeat(32)}`],
    ["authToken", ""],
    ["previousAuthToken", 5],
    ["serviceSid", null],
    ["keys", { sid: "SK" }],
    ["keys", [{ type: "root", secret: "s3cret" }]],
    ["keys", Array(2).fill({ sid: `SK${"1".repeat(32)}` }), "same sid"],
    ["keys", [{}], "maxKeys must be at least 1", { maxKeys: 0 }],
    ["webhooks", [{}]],
    ["webhooks", [{ webhook_url: "localhost:3000/x" }], "0.webhook_url (must be an absolute"],
    ["allowedHosts", "emulator"],
    ["allowedHosts", ["http://emulator"]],
    ["signatureHeader", "X Signature"],
    ["identities", "any"],
    ["contentType", "application/json"],
    ["contentType", "application/x-www-urlencoded\r\nX: y"],
    ["webhookMethod", "PUT"],
    ["connectTimeoutMs", 0],
    ["totalTimeoutMs", 1.5],
    ["connectionRetries", -1],
    ["maxDeliveries", 0],
    ["maxKeys", "many"],
    ["now", 5],
    ["authtoken", "s3cret", '"authToken"'],
  ])("rejects %s: %j", (name, value, message = `option ${name} must be`, more = {}) => {
    const create = () => createEmulator({ [name]: value, ...more });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(message);
    expect(create).not.toThrow(/s3cret/);
  });
});
