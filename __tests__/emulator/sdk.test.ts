/**
 * An app that is written for the vendor's SDK runs against the emulator: only the base URL of the SDK
 * is changed.
 */
import twilio from "twilio";
import type { Emulator } from "express-push-verification/emulator";
import { startEmulator, stopEmulators } from "../support/emulators";

afterEach(stopEmulators);

const IDENTITY = "7d4c2f0e-6c1b-4d0e-9d3a-1b2c3d4e5f60";

function createSdk(emulator: Emulator, as = [emulator.accountSid, emulator.authToken]) {
  const sdk = twilio(as[0], as[1], { accountSid: emulator.accountSid });
  sdk.verify.baseUrl = emulator.url;
  sdk.api.baseUrl = emulator.url;
  return sdk;
}

const verify = (emulator: Emulator, as?: [string, string]) =>
  createSdk(emulator, as).verify.v2.services(emulator.serviceSid);

const phoneOf = (publicKey: string) => ({
  friendlyName: "Zoë's phone",
  factorType: "push" as const,
  "binding.alg": "ES256",
  "binding.publicKey": publicKey,
  "config.appId": "com.example.bank",
  "config.notificationPlatform": "none" as const,
});

async function registerPhone(emulator: Emulator, identity = IDENTITY) {
  const device = emulator.device();
  const entity = verify(emulator).entities(identity);
  const { sid } = await entity.newFactors.create({
    ...phoneOf(device.publicKey),
    "config.notificationPlatform": "fcm",
    "config.notificationToken": "n".repeat(32),
    "config.sdkVersion": "1.0.0",
    metadata: { os: "Android" },
  });
  await entity.factors(sid).update({ authPayload: device.signFactor(sid) });
  return { device, entity, factorSid: sid };
}

describe("the vendor's SDK", () => {
  it("decides a challenge by a valid answer of its device only", async () => {
    const emulator = await startEmulator();
    const { device, entity, factorSid } = await registerPhone(emulator);
    const ask = () => entity.challenges.create({ factorSid, "details.message": "Sign in?" });
    // A resource that the SDK created cannot fetch itself: it does not keep its own SID.
    const { sid: firstSid } = await ask();
    const first = entity.challenges(firstSid);
    const second = await ask();
    const answer = (authPayload: string) => first.update({ authPayload, metadata: { os: "x" } });
    const wrong = { status: 403, code: 60324 };
    await expect(answer("x")).rejects.toMatchObject(wrong);
    await expect(answer(device.signChallenge(second.sid, "approved"))).rejects.toMatchObject(wrong);
    const another = emulator.device().signChallenge(firstSid, "approved");
    await expect(answer(another)).rejects.toMatchObject(wrong);
    const [header, , signature] = device.signChallenge(firstSid, "denied").split(".");
    const [, approved] = device.signChallenge(firstSid, "approved").split(".");
    await expect(answer([header, approved, signature].join("."))).rejects.toMatchObject(wrong);
    expect((await first.fetch()).status).toBe("pending");
    expect(await answer(device.signChallenge(firstSid, "denied"))).toMatchObject({
      status: "denied",
      metadata: { os: "x" },
      dateResponded: expect.any(Date),
    });
    await expect(answer(device.signChallenge(firstSid, "approved"))).rejects.toMatchObject({
      status: 409,
      code: 20409,
    });
  });

  it("lists over pages, with filters", async () => {
    let time = Date.UTC(2024, 2, 5, 9, 20);
    const emulator = await startEmulator({ now: () => time });
    const { device, entity, factorSid } = await registerPhone(emulator);
    for (const index of [1, 2, 3, 4, 5]) {
      await verify(emulator).entities.create({ identity: `user-000${index}` });
      time += 1_000;
      const { sid } = await entity.challenges.create({ factorSid, "details.message": `${index}` });
      if (index % 2 === 0) device.deny(sid);
    }
    const entities = await verify(emulator).entities.list({ pageSize: 2 });
    const identities = [1, 2, 3, 4, 5].map((index) => `user-000${index}`).concat(IDENTITY);
    expect(entities.map(({ identity }) => identity).toSorted()).toEqual(identities.toSorted());
    expect(await entity.factors.list({ pageSize: 1 })).toMatchObject([{ sid: factorSid }]);
    const messages = async (filter: object) => {
      const challenges = await entity.challenges.list({ pageSize: 1, ...filter });
      return challenges.map(({ details }) => details.message as string);
    };
    expect(await messages({})).toEqual(["1", "2", "3", "4", "5"]);
    expect(await messages({ status: "pending", order: "desc" })).toEqual(["5", "3", "1"]);
    expect(await messages({ factorSid: `YF${"0".repeat(32)}` })).toEqual([]);
    time += 300_000;
    expect(await messages({ status: "expired" })).toEqual(["1", "3", "5"]);
  });

  it("reads the service", async () => {
    const emulator = await startEmulator();
    expect(await verify(emulator).fetch()).toMatchObject({
      sid: emulator.serviceSid,
      accountSid: emulator.accountSid,
      push: { include_date: true },
    });
  });

  it("changes a factor", async () => {
    const { entity, factorSid } = await registerPhone(await startEmulator());
    const token = { "config.notificationToken": "m".repeat(255) };
    const factor = await entity.factors(factorSid).update({ friendlyName: "Old phone", ...token });
    expect(factor).toMatchObject({
      friendlyName: "Old phone",
      status: "verified",
      metadata: { os: "Android" },
      config: {
        app_id: "com.example.bank",
        notification_platform: "fcm",
        notification_token: "m".repeat(255),
        sdk_version: "1.0.0",
      },
    });
  });

  it("notifies of a challenge", async () => {
    const { device, entity, factorSid } = await registerPhone(await startEmulator());
    const notified: string[] = [];
    device.onChallenge((challenge) => void notified.push(challenge.sid));
    const { sid } = await entity.challenges.create({ factorSid, "details.message": "m" });
    expect(await entity.challenges(sid).notifications.create({ ttl: 60 })).toMatchObject({
      challengeSid: sid,
      identity: IDENTITY,
      ttl: 60,
    });
    expect(notified).toEqual([sid, sid]);
    const metadata = { pin: "ok" };
    expect(device.approve(sid, { metadata })).toMatchObject({ status: "approved", metadata });
  });

  it("deletes a factor and its entity", async () => {
    const { entity, factorSid } = await registerPhone(await startEmulator());
    const { sid } = await entity.challenges.create({ factorSid, "details.message": "m" });
    expect(await entity.factors(factorSid).remove()).toBe(true);
    await expect(entity.factors(factorSid).fetch()).rejects.toMatchObject({ code: 20404 });
    expect(await entity.remove()).toBe(true);
    const gone = { status: 404, code: 20404 };
    await expect(entity.challenges(sid).fetch()).rejects.toMatchObject(gone);
  });

  it("creates an access token with which a device only registers itself", async () => {
    let time = Date.UTC(2024, 2, 5, 9, 20);
    const emulator = await startEmulator({ now: () => time });
    const service = verify(emulator);
    const given = { identity: IDENTITY, factorType: "push" } as const;
    const created = await service.accessTokens.create(given);
    const url = `${emulator.url}/v2/Services/${emulator.serviceSid}/AccessTokens/${created.sid}`;
    expect(created).toMatchObject({ entityIdentity: IDENTITY, ttl: 60, url });
    const more = { ttl: 300, factorFriendlyName: "Phone" };
    expect(await service.accessTokens.create({ ...given, ...more })).toMatchObject(more);
    expect(await service.accessTokens(created.sid).fetch()).toMatchObject({
      token: created.token,
      url,
    });
    const as: [string, string] = ["token", created.token];
    const phone = verify(emulator, as);
    const device = emulator.device();
    const factor = phoneOf(device.publicKey);
    const { newFactors, factors } = phone.entities(IDENTITY);
    time += 59_999;
    expect(await newFactors.create(factor)).toHaveProperty("status", "unverified");
    for (const attempt of [
      () => phone.entities("another-user").newFactors.create(factor),
      () => factors.list(),
      () => phone.webhooks.list(),
      () => createSdk(emulator, as).keys.list(),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ status: 401, code: 20003 });
    }
    time += 1;
    await expect(newFactors.create(factor)).rejects.toMatchObject({ status: 401, code: 20003 });
  });

  it("verifies a factor by its own key only", async () => {
    const emulator = await startEmulator();
    const device = emulator.device();
    const entity = verify(emulator).entities(IDENTITY);
    const { sid } = await entity.newFactors.create(phoneOf(device.publicKey));
    // A factor that a method created has no key.
    const keyless = emulator.createFactor({ entity_identity: IDENTITY });
    const answer = (factorSid: string, authPayload: string) =>
      entity.factors(factorSid).update({ authPayload });
    for (const [one, payload] of [
      [sid, "x"],
      [sid, emulator.device().signFactor(sid)],
      [sid, device.signFactor("YF1")],
      [keyless.sid, device.signFactor(keyless.sid)],
    ] as const) {
      await expect(answer(one, payload)).rejects.toMatchObject({ status: 403, code: 60311 });
    }
    expect(await answer(sid, device.signFactor(sid))).toHaveProperty("status", "verified");
    await expect(answer(sid, device.signFactor(sid))).rejects.toHaveProperty("status", 409);
  });

  it("registers an authenticator app by its one-time passwords", async () => {
    // The time and the secret of RFC 6238, appendix B.
    const emulator = await startEmulator({ now: () => 1_111_111_109_000 });
    const entity = verify(emulator).entities(IDENTITY);
    const { sid, binding } = await entity.newFactors.create({
      friendlyName: "ada@example.com",
      factorType: "totp",
      "binding.secret": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
      "config.codeLength": 8,
    });
    const uri = "otpauth://totp/emulator:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    expect(binding.uri).toBe(`${uri}&issuer=emulator&algorithm=SHA1&digits=8&period=30`);
    const other = { friendlyName: "b", factorType: "totp", "config.alg": "sha512" } as const;
    const { binding: second } = await entity.newFactors.create({ ...other, "config.timeStep": 60 });
    expect(second.uri).toMatch(/secret=[A-Z2-7]{32}&.*&algorithm=SHA512&digits=6&period=60$/);
    const factor = entity.factors(sid);
    await expect(factor.update({ authPayload: "00000000" })).rejects.toMatchObject({ code: 60311 });
    expect(await factor.update({ authPayload: "07081804" })).toMatchObject({
      status: "verified",
      config: { alg: "sha1", time_step: 30, skew: 1, code_length: 8 },
    });
    expect(await factor.update({ "config.skew": 0 })).toHaveProperty("config.skew", 0);
    const challenges = entity.challenges;
    expect(await challenges.create({ factorSid: sid, authPayload: "07081804" })).toMatchObject({
      status: "approved",
      factorType: "totp",
    });
  });
});
