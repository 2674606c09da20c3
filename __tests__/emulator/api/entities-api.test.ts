import { generateKeyPairSync, sign } from "node:crypto";
import type { Emulator, EmulatorOptions } from "express-push-verification/emulator";
import {
  callApi,
  startEmulator,
  stopEmulators,
  type ApiResult,
  type Form,
} from "../../support/emulators";

afterEach(stopEmulators);

const IDENTITY = "user-0001";
const NEW_FACTOR = {
  FriendlyName: "Phone",
  FactorType: "push",
  "Binding.Alg": "ES256",
  "Config.AppId": "com.example.bank",
  "Config.NotificationPlatform": "none",
};

const { publicKey: P256, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const { publicKey: P384 } = generateKeyPairSync("ec", { namedCurve: "P-384" });
/** The point alone, without the header of its encoding. */
const RAW = P256.export({ type: "spki", format: "der" }).subarray(26);
const pathOf = ({ serviceSid }: Emulator, rest: string) => `/v2/Services/${serviceSid}/${rest}`;
const post = (emulator: Emulator, rest: string, form: Form) =>
  callApi(emulator, "POST", pathOf(emulator, rest), { form });

const expectInvalid = ({ status, body }: ApiResult, name: string) =>
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { code: 60306, message: expect.stringContaining(`Invalid parameter: ${name}`) },
  });

describe("entities over REST", () => {
  it("have the members of the service", async () => {
    const emulator = await startEmulator({ now: () => Date.UTC(2024, 2, 5, 9, 20) });
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
  });

  it("exist once", async () => {
    const emulator = await startEmulator();
    await post(emulator, "Entities", { Identity: IDENTITY });
    const again = await post(emulator, "Entities", { Identity: IDENTITY });
    expect(again).toMatchObject({ status: 409, body: { code: 20409 } });
  });

  it("are deleted with their factors", async () => {
    const emulator = await startEmulator();
    emulator.createWebhook({ webhook_url: "http://127.0.0.1:9/" });
    const { url } = (await post(emulator, "Entities", { Identity: IDENTITY })).body;
    emulator.device().register({ entity_identity: IDENTITY });
    expect((await callApi(emulator, "DELETE", url)).status).toBe(204);
    expect((await callApi(emulator, "GET", `${url}/Factors`)).status).toBe(404);
    expect(emulator.deliveries.at(-1)?.type).toBe("factor.deleted");
  });

  it("are not created with an invalid Identity", async () => {
    const emulator = await startEmulator();
    for (const Identity of ["", "short", "with space", "ada@example.com", "x".repeat(65)]) {
      expectInvalid(await post(emulator, "Entities", { Identity }), "Identity");
      const factors = `Entities/${encodeURIComponent(Identity || "x")}/Factors`;
      expectInvalid(await post(emulator, factors, {}), "Identity");
    }
  });
});

const DER = P256.export({ type: "spki", format: "der" });
const PUSH = { ...NEW_FACTOR, "Binding.PublicKey": DER.toString("base64") };
const TOTP = { FriendlyName: "App", FactorType: "totp" };
const TOKEN = { Identity: IDENTITY, FactorType: "push" };
const FACTORS = `Entities/${IDENTITY}/Factors`;
const CHALLENGES = `Entities/${IDENTITY}/Challenges`;

it("a factor over REST shows its key once", async () => {
  const emulator = await startEmulator();
  const created = await post(emulator, FACTORS, PUSH);
  const { binding, options: _, ...factor } = created.body;
  expect(binding).toEqual({ alg: "ES256", public_key: PUSH["Binding.PublicKey"] });
  expect((await callApi(emulator, "GET", created.body.url as string)).body).toEqual(factor);
});

it("a factor over REST ignores parameters that the service does not have", async () => {
  const others = { "FriendlyName.Other": "x", "Config.Other": "x", friendly_name: "x" };
  const form = { Config: "x", Binding: "x", ...others, ...PUSH };
  const { body } = await post(await startEmulator(), FACTORS, form);
  const config = { app_id: "com.example.bank", notification_platform: "none" };
  const shown = { status: "unverified", friendly_name: "Phone", config, metadata: null };
  expect(body).toMatchObject(shown);
});

const KEY = "Binding.PublicKey (must be base64 of the DER";
const encode = (bytes: Buffer) => bytes.toString("base64");
const REJECTED: [path: string, form: Form, reason: string, ...values: (string | undefined)[]][] = [
  [FACTORS, PUSH, "FriendlyName", undefined, "x".repeat(65)],
  [FACTORS, PUSH, "FactorType", "sms"],
  [FACTORS, PUSH, "Binding.Alg", "RS256"],
  [FACTORS, PUSH, KEY, "x", encode(P384.export({ type: "spki", format: "der" })), encode(RAW)],
  [FACTORS, PUSH, KEY, P256.export({ type: "spki", format: "pem" }) as string],
  [FACTORS, PUSH, KEY, JSON.stringify(P256.export({ format: "jwk" }))],
  [FACTORS, PUSH, "Config.AppId", undefined],
  [FACTORS, PUSH, "Config.NotificationPlatform", "sms"],
  [FACTORS, PUSH, "Config.NotificationToken", "x".repeat(31), "x".repeat(256)],
  [FACTORS, PUSH, "Metadata", "{", '{"a":1}', JSON.stringify({ a: "x".repeat(1024) })],
  [FACTORS, TOTP, "Binding.Secret", "A".repeat(15), "A".repeat(129), "a".repeat(16)],
  [FACTORS, TOTP, "Config.Alg", "md5"],
  [FACTORS, TOTP, "Config.TimeStep", "19", "61"],
  [FACTORS, TOTP, "Config.Skew", "-1", "3"],
  [FACTORS, TOTP, "Config.CodeLength", "2", "9"],
  ["AccessTokens", TOKEN, "Identity", "short"],
  ["AccessTokens", TOKEN, "FactorType", "totp"],
  ["AccessTokens", TOKEN, "Ttl", "59", "301"],
];

it.each(REJECTED)("POST %s with %j names its invalid %s", async (path, form, reason, ...values) => {
  const emulator = await startEmulator();
  const [name = ""] = reason.split(" ");
  for (const value of values) {
    const { [name]: _, ...others } = form as Record<string, string>;
    const sent = { ...others, ...(value !== undefined && { [name]: value }) };
    expectInvalid(await post(emulator, path, sent), reason);
  }
  const { body } = await callApi(emulator, "GET", pathOf(emulator, "Entities"));
  expect(body.entities).toEqual([]);
});

it("the resources of a user are under no other user", async () => {
  const emulator = await startEmulator();
  const own = emulator.device().register({ entity_identity: IDENTITY });
  const other = emulator.device().register({ entity_identity: "user-0002" });
  const [kept] = [own, other].map(({ sid }) => emulator.createChallenge({ factor_sid: sid }));
  const call = (method: string, rest: string) => callApi(emulator, method, pathOf(emulator, rest));
  expect((await call("DELETE", `Entities/user-0002/Factors/${own.sid}`)).status).toBe(404);
  for (const [list, key, { sid }] of [
    ["Factors", "factors", own],
    ["Challenges", "challenges", kept!],
  ] as const) {
    const { body } = await call("GET", `Entities/${IDENTITY}/${list}`);
    expect(body[key]).toMatchObject([{ sid }]);
    expect(body[key]).toHaveLength(1);
  }
  expect((await call("DELETE", "Entities/user-0002")).status).toBe(204);
  expect(emulator.fetchFactor(own.sid).status).toBe("verified");
  expect(emulator.fetchChallenge(kept!.sid).status).toBe("pending");
  expect((await call("GET", `AccessTokens/YK${"0".repeat(32)}`)).status).toBe(404);
});

describe("a challenge over REST", () => {
  const field = (label: string, value = "x"): [string, string] => [
    "Details.Fields",
    JSON.stringify({ label, value }),
  ];
  const start = async (options: EmulatorOptions = {}) => {
    const clock = { nowMs: Date.UTC(2024, 2, 5, 9, 20) };
    const emulator = await startEmulator({ now: () => clock.nowMs, ...options });
    const { sid: factor_sid } = emulator.device().register({ entity_identity: IDENTITY });
    const create = (more: [string, string][], FactorSid = factor_sid) => {
      const form = { FactorSid, "Details.Message": "Sign in?" };
      return post(emulator, CHALLENGES, [...Object.entries(form), ...more]);
    };
    const read = (path: string) => callApi(emulator, "GET", path);
    return { emulator, clock, factor_sid, create, read };
  };

  it("is shown with every member under its own service and entity only", async () => {
    const { emulator, factor_sid, create, read } = await start();
    const { sid: username, secret } = emulator.createKey({ type: "standard" });
    const { body: created } = await create([["HiddenDetails", '{"ip":"203.0.113.77"}']]);
    const { sid } = created;
    const path = pathOf(emulator, `Entities/${IDENTITY}/Challenges/${sid}`);
    const pending = await callApi(emulator, "GET", path, { as: [username, secret] });
    expect(pending).toMatchObject({ status: 200, body: created });
    expect(pending.headers.get("Service-Verify-Signature-Fields")).toBe(
      "sid,entity_sid,identity,factor_sid,date_created,expiration_date,details,hidden_details",
    );
    expect(created).toEqual({
      sid,
      account_sid: emulator.accountSid,
      service_sid: emulator.serviceSid,
      entity_sid: expect.stringMatching(/^YE[0-9a-f]{32}$/),
      identity: IDENTITY,
      factor_sid,
      factor_type: "push",
      date_created: "2024-03-05T09:20:00Z",
      date_updated: "2024-03-05T09:20:00Z",
      date_responded: null,
      expiration_date: "2024-03-05T09:25:00Z",
      status: "pending",
      responded_reason: null,
      details: { message: "Sign in?", date: "2024-03-05T09:20:00Z", fields: [] },
      hidden_details: { ip: "203.0.113.77" },
      metadata: null,
      url: emulator.url + path,
      links: { notifications: `${emulator.url}${path}/Notifications` },
    });
    for (const [part, other] of [
      [IDENTITY, "user-0002"],
      [sid, `YC${"0".repeat(32)}`],
      [emulator.serviceSid, `VA${"0".repeat(32)}`],
    ] as const) {
      const rejected = { status: 404, body: { code: 20404 } };
      expect(await read(path.replace(part, other))).toMatchObject(rejected);
    }
  });

  it.each([
    ["ES256", "pending"],
    ["none", "approved"],
    ["ES256", "approved"],
  ])("is answered by a payload with %s of %s only if it is valid", async (alg, status) => {
    const { emulator } = await start();
    const { sid } = (await post(emulator, FACTORS, PUSH)).body;
    emulator.verifyFactor(sid);
    const { body: asked } = await post(emulator, CHALLENGES, {
      FactorSid: sid,
      "Details.Message": "m",
    });
    const device = emulator.device();
    const [, body = ""] = device.signChallenge(asked.sid, status as "denied").split(".");
    const signed = `${Buffer.from(JSON.stringify({ alg })).toString("base64url")}.${body}`;
    const key = { key: privateKey, dsaEncoding: "ieee-p1363" } as const;
    const signature = sign("sha256", Buffer.from(signed), key).toString("base64url");
    const AuthPayload = `${signed}.${signature}`;
    const { status: found } = await post(emulator, `${CHALLENGES}/${asked.sid}`, { AuthPayload });
    expect(found).toBe(alg === "ES256" && status === "approved" ? 200 : 403);
  });

  it("is shown with its decision", async () => {
    const { emulator, clock, create, read } = await start();
    const { sid, url } = (await create([])).body;
    clock.nowMs += 10_000;
    emulator.approveChallenge(sid as string, { metadata: { os: "Android" } });
    expect((await read(url as string)).body).toMatchObject({
      status: "approved",
      metadata: { os: "Android" },
      date_updated: "2024-03-05T09:20:10Z",
      date_responded: "2024-03-05T09:20:10Z",
    });
  });

  it("cannot be decided once it is shown as expired", async () => {
    const { emulator, clock, read } = await start();
    const other = emulator.device().register({ entity_identity: "ada / zoë" });
    const late = emulator.createChallenge({ factor_sid: other.sid });
    clock.nowMs += 300_000;
    const latePath = pathOf(emulator, `Entities/ada%20%2F%20zo%C3%AB/Challenges/${late.sid}`);
    const url = emulator.url + latePath;
    const expired = { status: "expired", date_updated: "2024-03-05T09:25:00Z", url };
    expect((await read(latePath)).body).toMatchObject(expired);
    const rejection = expect.objectContaining({ status: 403, serviceCode: 60323 });
    expect(() => emulator.approveChallenge(late.sid)).toThrow(rejection);
  });

  it("is rejected with an invalid parameter, or beyond a limit of the service", async () => {
    const { emulator, factor_sid: FactorSid, create } = await start();
    const other = emulator.device().register({ entity_identity: "user-0002" });
    expectInvalid(await create([], other.sid), "FactorSid");
    for (const message of [undefined, "", "x".repeat(257)]) {
      const form = { FactorSid, ...(message !== undefined && { "Details.Message": message }) };
      expectInvalid(await post(emulator, CHALLENGES, form), "Details.Message");
    }
    for (const more of [
      [["Details.Message", "twice"]],
      [["Details.Fields", "{"]],
      [field("x".repeat(37))],
      [field("x", "y".repeat(129))],
      Array.from({ length: 21 }, () => field("x")),
      [["HiddenDetails", '{"a":1}']],
      [["ExpirationDate", "2024-03-05"]],
      [["ExpirationDate", "2024-03-05T09:20:00Z"]],
      [["ExpirationDate", "2024-03-05T10:20:01Z"]],
    ] as [string, string][][]) {
      expectInvalid(await create(more), more[0]?.[0] ?? "");
    }
    const fields = Array.from({ length: 20 }, () => field("x".repeat(36), "y".repeat(128)));
    const latest = "2024-03-05T10:20:00Z";
    const created = await create([...fields, ["ExpirationDate", latest]]);
    expect(created).toMatchObject({ status: 201, body: { expiration_date: latest } });
    expect(created.body.details.fields).toHaveLength(20);
    const notify = (form: Form) =>
      post(emulator, `${CHALLENGES}/${created.body.sid}/Notifications`, form);
    expectInvalid(await notify({ Ttl: "301" }), "Ttl");
    expect((await notify({})).body).toEqual({
      sid: expect.stringMatching(/^NT/),
      account_sid: emulator.accountSid,
      service_sid: emulator.serviceSid,
      entity_sid: created.body.entity_sid,
      identity: IDENTITY,
      challenge_sid: created.body.sid,
      priority: "high",
      ttl: 300,
      date_created: "2024-03-05T09:20:00Z",
    });
    emulator.denyChallenge(created.body.sid as string);
    expect((await notify({})).status).toBe(409);
    const answer = (length: number) =>
      post(emulator, `${CHALLENGES}/${created.body.sid}`, { AuthPayload: "x".repeat(length) });
    expectInvalid(await answer(5457), "AuthPayload");
    expect((await answer(5456)).status).toBe(409);
  });

  it("has the header of another vendor", async () => {
    const { create, read } = await start({ signatureHeader: "X-Acme-Signature" });
    const { headers } = await read((await create([])).body.url as string);
    expect(headers.get("Acme-Verify-Signature-Fields")).toContain("sid,");
  });
});
