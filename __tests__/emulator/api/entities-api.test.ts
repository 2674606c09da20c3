import { generateKeyPairSync } from "node:crypto";
import type { Emulator } from "express-push-verification/emulator";
import { callApi, startEmulator, stopEmulators, type Form } from "../../support/emulators";

afterEach(stopEmulators);

const IDENTITY = "user-0001";
const NEW_FACTOR = {
  FriendlyName: "Phone",
  FactorType: "push",
  "Binding.Alg": "ES256",
  "Config.AppId": "com.example.bank",
  "Config.NotificationPlatform": "none",
};

const { publicKey: P256 } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const { publicKey: P384 } = generateKeyPairSync("ec", { namedCurve: "P-384" });
/** The point alone, without the header of its encoding. */
const RAW = P256.export({ type: "spki", format: "der" }).subarray(26);
const pathOf = ({ serviceSid }: Emulator, rest: string) => `/v2/Services/${serviceSid}/${rest}`;
const post = (emulator: Emulator, rest: string, form: Form) =>
  callApi(emulator, "POST", pathOf(emulator, rest), { form });

describe("entities over REST", () => {
  it("have the members of the service, and their factors are deleted with them", async () => {
    const emulator = await startEmulator({ now: () => Date.UTC(2024, 2, 5, 9, 20) });
    emulator.createWebhook({ webhook_url: "http://127.0.0.1:9/" });
    const created = await post(emulator, "Entities", { Identity: IDENTITY });
    const url = `${emulator.url}${pathOf(emulator, `Entities/${IDENTITY}`)}`;
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual({
      sid: expect.stringMatching(/^YE[0-9a-f]{32}$/),
      identity: IDENTITY,
      account_sid: emulator.accountSid,
      service_sid: emulator.serviceSid,
      date_created: "2024-03-05T09:20:00Z",
      date_updated: "2024-03-05T09:20:00Z",
      url,
      links: {
        factors: `${url}/Factors`,
        new_factors: `${url}/Factors`,
        challenges: `${url}/Challenges`,
        new_challenge: `${url}/Challenges`,
      },
    });
    expect(await callApi(emulator, "GET", url)).toMatchObject({ status: 200, body: created.body });
    emulator.device().register({ entity_identity: IDENTITY });
    expect((await callApi(emulator, "DELETE", url)).status).toBe(204);
    expect((await callApi(emulator, "GET", `${url}/Factors`)).status).toBe(404);
    expect(emulator.deliveries.at(-1)?.type).toBe("factor.deleted");
  });

  it("exist once", async () => {
    const emulator = await startEmulator();
    await post(emulator, "Entities", { Identity: IDENTITY });
    expect(await post(emulator, "Entities", { Identity: IDENTITY })).toMatchObject({
      status: 409,
      body: { code: 20409 },
    });
  });

  it.each(["", "short", "with space", "ada@example.com", "x".repeat(65)])(
    "are not created with the Identity %j",
    async (Identity) => {
      const emulator = await startEmulator();
      const rejected = {
        status: 400,
        body: { code: 60306, message: "Invalid parameter: Identity" },
      };
      expect(await post(emulator, "Entities", { Identity })).toMatchObject(rejected);
      const factors = `Entities/${encodeURIComponent(Identity || "x")}/Factors`;
      expect(await post(emulator, factors, {})).toMatchObject(rejected);
    },
  );
});

describe("a factor over REST", () => {
  it("shows its key once", async () => {
    const emulator = await startEmulator();
    const { publicKey } = emulator.device();
    const given = { "Binding.PublicKey": publicKey, Metadata: '{"os":"Android"}' };
    const form = { ...NEW_FACTOR, ...given, "not-a-parameter": "x" };
    const created = await post(emulator, `Entities/${IDENTITY}/Factors`, form);
    expect(created).toMatchObject({
      status: 201,
      body: {
        identity: IDENTITY,
        status: "unverified",
        binding: { alg: "ES256", public_key: publicKey },
        metadata: { os: "Android" },
      },
    });
    const { binding: _, options: __, ...factor } = created.body;
    expect((await callApi(emulator, "GET", created.body.url as string)).body).toEqual(factor);
  });

  it.each([
    ["FriendlyName", undefined],
    ["FriendlyName", "x".repeat(65)],
    ["FactorType", "sms"],
    ["Binding.Alg", "RS256"],
    ["Binding.PublicKey (must be base64 of the DER", "x"],
    ...[
      P384.export({ type: "spki", format: "der" }).toString("base64"),
      P256.export({ type: "spki", format: "pem" }) as string,
      JSON.stringify(P256.export({ format: "jwk" })),
      RAW.toString("base64"),
    ].map((key): [string, string] => ["Binding.PublicKey (must be base64 of the DER", key]),
    ["Config.AppId", undefined],
    ["Config.NotificationPlatform", "sms"],
    ["Config.NotificationToken", "x".repeat(31)],
    ["Metadata", "{"],
    ["Metadata", '{"a":1}'],
    ["Metadata", JSON.stringify({ a: "x".repeat(1024) })],
  ])("is not created with the %s %j", async (reason, value) => {
    const [name = ""] = reason.split(" ");
    const emulator = await startEmulator();
    const { [name]: _, ...form }: Record<string, string> = {
      ...NEW_FACTOR,
      "Binding.PublicKey": emulator.device().publicKey,
    };
    if (value !== undefined) form[name] = value;
    expect(await post(emulator, `Entities/${IDENTITY}/Factors`, form)).toMatchObject({
      status: 400,
      body: { code: 60306, message: expect.stringContaining(`Invalid parameter: ${reason}`) },
    });
    expect((await callApi(emulator, "GET", pathOf(emulator, "Entities"))).body.entities).toEqual(
      [],
    );
  });

  it("is created without the parameters that the service does not have", async () => {
    const emulator = await startEmulator();
    const form = {
      Config: "x",
      "FriendlyName.Other": "x",
      ...NEW_FACTOR,
      "Binding.PublicKey": emulator.device().publicKey,
      Binding: "x",
      "Config.Other": "x",
      friendly_name: "x",
    };
    expect(await post(emulator, `Entities/${IDENTITY}/Factors`, form)).toMatchObject({
      status: 201,
      body: {
        friendly_name: NEW_FACTOR.FriendlyName,
        config: { app_id: "com.example.bank", notification_platform: "none" },
      },
    });
  });

  it("is verified by its own key only, and only once", async () => {
    const emulator = await startEmulator();
    const device = emulator.device();
    const form = { ...NEW_FACTOR, "Binding.PublicKey": device.publicKey };
    const factors = `Entities/${IDENTITY}/Factors`;
    const { sid } = (await post(emulator, factors, form)).body;
    const verify = (AuthPayload: string) => post(emulator, `${factors}/${sid}`, { AuthPayload });
    const failed = { status: 403, body: { code: 60311 } };
    expect(await verify("x")).toMatchObject(failed);
    expect(await verify(emulator.device().signFactor(sid))).toMatchObject(failed);
    expect(await verify(device.signFactor("YF1"))).toMatchObject(failed);
    expect(await verify(device.signFactor(sid))).toMatchObject({ body: { status: "verified" } });
    expect(await verify(device.signFactor(sid))).toMatchObject({ status: 409 });
  });

  it("that a method created has no key, so no payload verifies it", async () => {
    const emulator = await startEmulator();
    const { sid } = emulator.createFactor({ entity_identity: IDENTITY });
    const factor = `Entities/${IDENTITY}/Factors/${sid}`;
    const payload = { AuthPayload: emulator.device().signFactor(sid) };
    expect(await post(emulator, factor, payload)).toMatchObject({ body: { code: 60311 } });
  });
});

describe("a new challenge over REST", () => {
  const field = (label: string, value = "x") => JSON.stringify({ label, value });
  const start = async () => {
    const emulator = await startEmulator({ now: () => Date.UTC(2024, 2, 5, 9, 20) });
    const { sid } = emulator.device().register({ entity_identity: IDENTITY });
    const form = { FactorSid: sid, "Details.Message": "Sign in?" };
    const create = (more: Form) =>
      post(emulator, `Entities/${IDENTITY}/Challenges`, [
        ...Object.entries(form),
        ...(Array.isArray(more) ? more : Object.entries(more)),
      ]);
    return { emulator, create };
  };

  it.each([
    ["Details.Message", [["Details.Message", "twice"]]],
    ["Details.Fields", [["Details.Fields", "{"]]],
    ["Details.Fields", [["Details.Fields", field("x".repeat(37))]]],
    ["Details.Fields", [["Details.Fields", field("x", "y".repeat(129))]]],
    ["Details.Fields", Array.from({ length: 21 }, () => ["Details.Fields", field("x")])],
    ["HiddenDetails", [["HiddenDetails", '{"a":1}']]],
    ["ExpirationDate", [["ExpirationDate", "2024-03-05"]]],
    ["ExpirationDate", [["ExpirationDate", "2024-03-05T09:20:00Z"]]],
    ["ExpirationDate", [["ExpirationDate", "2024-03-05T10:20:01Z"]]],
  ] as [string, [string, string][]][])("is rejected with an invalid %s", async (name, more) => {
    const { create } = await start();
    expect(await create(more)).toMatchObject({
      status: 400,
      body: { code: 60306, message: expect.stringContaining(name) },
    });
  });

  it("has the limits of the service", async () => {
    const { create } = await start();
    const fields = Array.from({ length: 20 }, (): [string, string] => [
      "Details.Fields",
      field("x".repeat(36), "y".repeat(128)),
    ]);
    const created = await create([...fields, ["ExpirationDate", "2024-03-05T10:20:00Z"]]);
    expect(created).toMatchObject({
      status: 201,
      body: { expiration_date: "2024-03-05T10:20:00Z" },
    });
    expect(created.body.details.fields).toHaveLength(20);
  });

  it("is rejected for a factor of another entity, and for an unverified one", async () => {
    const { emulator } = await start();
    const create = (FactorSid: string) =>
      post(emulator, `Entities/${IDENTITY}/Challenges`, { FactorSid, "Details.Message": "m" });
    const other = emulator.device().register({ entity_identity: "user-0002" });
    expect(await create(other.sid)).toMatchObject({ status: 400, body: { code: 60306 } });
    const unverified = emulator.createFactor({ entity_identity: IDENTITY });
    expect(await create(unverified.sid)).toMatchObject({ status: 403, body: { code: 60318 } });
  });

  it("names the members to sign in a header of the vendor", async () => {
    for (const [signatureHeader, header] of [
      ["X-Service-Signature", "Service-Verify-Signature-Fields"],
      ["X-Acme-Signature", "Acme-Verify-Signature-Fields"],
    ] as const) {
      const emulator = await startEmulator({ signatureHeader });
      const factor = emulator.device().register({ entity_identity: IDENTITY });
      const { sid } = emulator.createChallenge({ factor_sid: factor.sid });
      const path = pathOf(emulator, `Entities/${IDENTITY}/Challenges/${sid}`);
      const { headers } = await callApi(emulator, "GET", path);
      expect(headers.get(header)).toContain("sid,");
    }
  });
});
