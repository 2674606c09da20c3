"use strict";
/** The behaviour that a user's app relies on; tested with every way of loading the package. */
const assert = require("node:assert/strict");
const { once } = require("node:events");
const { createServer } = require("node:http");

const PATH = "/webhooks/push";
const AUTH_TOKEN = "test-token";

/**
 * Runs an app that receives, rejects, emulates and administers; fails where it is not as documented.
 *
 * @param rooms the exports of the package, and `express` unless the app has none.
 */
async function tellStory(rooms) {
  const { createEmulator, express, pushWebhooks } = rooms;
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${server.address().port}`;
  const settings = { authToken: AUTH_TOKEN, publicUrl: origin + PATH };
  const emulator = createEmulator({ authToken: AUTH_TOKEN });
  await emulator.listen(0);
  const push = pushWebhooks(settings);
  const app = express?.().use(PATH, push);
  server.on("request", app ?? push);
  try {
    await receiveRequests(rooms, push, settings);
    await verifyRequests(rooms, settings);
    await receiveFromEmulator(push, emulator);
    if (app !== undefined) await useExpress(rooms, app, push, settings);
    await administer(rooms, app, emulator, origin);
    // Nothing listens there: a queue can be created and closed without its server.
    await rooms.redisQueue?.({ name: "story", connection: "redis://127.0.0.1:9" }).close();
    await rooms.postgresQueue?.({ name: "story", connection: "postgres://127.0.0.1:9/a" }).close();
    // A test runner ends by itself after this: a login still waits, and connections are open.
    const challengeSid = `YC${"0".repeat(32)}`;
    const pending = push.waitForChallenge({ challengeSid, entityIdentity: "ada" });
    await Promise.all([assert.rejects(pending, { code: "CLOSING" }), push.close()]);
    assert.equal((await sendRequest(rooms, settings)).status, 503);
  } finally {
    await emulator.close();
    server.close();
    server.closeAllConnections();
  }
}

async function sendRequest({ signedRequest }, settings, overrides = {}) {
  const signed = signedRequest(settings, "challenge.approved", overrides);
  const { status } = await fetch(signed.url, signed);
  return { status, signed };
}

async function receiveRequests(rooms, push, settings) {
  const events = [];
  const rejections = [];
  push.on("challenge.approved", (event) => void events.push(event));
  push.onRejected((error) => void rejections.push(error));

  const { status, signed } = await sendRequest(rooms, settings, { entity_identity: "ada" });
  assert.equal(status, 200);
  assert.equal((await fetch(signed.url, signed)).status, 200, "a duplicate");
  assert.equal(events.length, 1);
  assert.deepEqual([events[0].version, events[0].entity_identity], ["v2", "ada"]);
  assert.equal((await sendRequest(rooms, { ...settings, authToken: "another" })).status, 403);
  const [rejection] = rejections;
  assert.ok(rejection instanceof rooms.WebhookError);
  assert.equal(rejection.code, "SIGNATURE_MISMATCH");
  assert.ok(rejection.explain() !== undefined);
}

async function useExpress({ express, signedRequest }, app, push, settings) {
  app.use("/parsed", express.urlencoded({ extended: false }), push);
  const contentType = "application/x-www-form-urlencoded";
  const signed = signedRequest(settings, "factor.created", {}, { contentType });
  assert.equal((await fetch(signed.url.replace(PATH, "/parsed"), signed)).status, 200);
}

/** The requests have values of the globals of a test runner, such as its `Headers`. */
async function verifyRequests({ signedRequest, verifyPushRequest, WebhookError }, settings) {
  const { body, ...signed } = signedRequest(settings, "factor.verified", {}, { version: "v1" });
  for (const bytes of [body, Buffer.from(body), new TextEncoder().encode(body)]) {
    const request = { ...signed, headers: new Headers(signed.headers), body: bytes };
    assert.equal((await verifyPushRequest(request, settings)).version, "v1");
  }
  const rejected = verifyPushRequest({ ...signed, body: `${body}&x=1` }, settings);
  await assert.rejects(rejected, WebhookError);
}

async function receiveFromEmulator(push, emulator) {
  emulator.createWebhook({ webhook_url: push.publicUrl });
  const factor = emulator.createFactor({ entity_identity: "ada" });
  emulator.verifyFactor(factor.sid);
  const { sid } = emulator.createChallenge({ factor_sid: factor.sid });
  emulator.approveChallenge(sid);
  const outcome = await push.waitForChallenge({ challengeSid: sid, entityIdentity: "ada" });
  assert.equal(outcome.type, "challenge.approved");
  await emulator.settled();
  const statuses = emulator.deliveries.map(({ status }) => status);
  assert.deepEqual(statuses, ["succeeded", "succeeded", "succeeded"]);
}

async function administer({ adminRouter, createAdminClient }, app, emulator, origin) {
  const { url, accountSid, serviceSid, authToken: password } = emulator;
  const urls = { accountUrl: url, verifyUrl: url };
  const client = createAdminClient({ ...urls, accountSid, serviceSid, password });
  const { items } = await client.webhooks.page();
  assert.equal(items[0].webhook_url, origin + PATH);
  if (app === undefined) return;
  app.use("/admin", adminRouter({ client, authorize: (req) => req.get("x-staff") === "yes" }));
  const statusFor = async (staff) =>
    (await fetch(`${origin}/admin/webhooks`, { headers: { "x-staff": staff } })).status;
  assert.deepEqual([await statusFor("no"), await statusFor("yes")], [403, 200]);
}

module.exports = { tellStory };
