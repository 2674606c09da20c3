"use strict";
/** The behaviour that a user's app relies on; told with every way of loading the package. */
const assert = require("node:assert/strict");
const { once } = require("node:events");
const { existsSync } = require("node:fs");
const { createServer } = require("node:http");

const PATH = "/webhooks/push";
const isInstalled = (name) => existsSync(`node_modules/${name}`);

/** Runs an app that receives, rejects, emulates and administers; fails where it is not as documented. */
async function tellStory(rooms) {
  const { createAdminClient, createEmulator, pushWebhooks, signedRequest, WebhookError } = rooms;
  const express = isInstalled("express") ? require("express") : undefined;
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${server.address().port}`;
  const settings = { authToken: "test-token", publicUrl: origin + PATH };
  const emulator = createEmulator({ authToken: "test-token" });
  await emulator.listen(0);
  const push = pushWebhooks(settings);
  const app = express?.().use(PATH, push);
  server.on("request", app ?? push);
  const fetchStatus = async (path, init) => (await fetch(origin + path, init)).status;
  const contentType = "application/x-www-form-urlencoded";
  const signed = signedRequest(settings, "factor.verified", {}, { version: "v1", contentType });

  try {
    const rejections = [];
    push.onRejected((error) => void rejections.push(error));
    assert.equal(await fetchStatus(PATH, signed), 200);
    assert.equal(await fetchStatus(PATH, { ...signed, body: `${signed.body}&x=1` }), 403);
    assert.ok(rejections[0] instanceof WebhookError);
    assert.ok(rejections[0].explain() !== undefined);

    // Values of the globals of a test runner, such as its `Headers`.
    const { body } = signed;
    for (const bytes of [body, Buffer.from(body), new TextEncoder().encode(body)]) {
      const request = { ...signed, headers: new Headers(signed.headers), body: bytes };
      assert.equal((await rooms.verifyPushRequest(request, settings)).version, "v1");
    }

    emulator.createWebhook({ webhook_url: push.publicUrl });
    const factor = emulator.createFactor({ entity_identity: "user-5e81-07" });
    emulator.verifyFactor(factor.sid);
    const { sid: challengeSid } = emulator.createChallenge({ factor_sid: factor.sid });
    emulator.approveChallenge(challengeSid);
    const outcome = await push.waitForChallenge({ challengeSid, entityIdentity: "user-5e81-07" });
    assert.equal(outcome.type, "challenge.approved");
    await emulator.settled();
    const statuses = emulator.deliveries.map(({ status }) => status);
    assert.deepEqual(statuses, ["succeeded", "succeeded", "succeeded"]);

    const { url, accountSid, serviceSid, authToken: password } = emulator;
    const urls = { accountUrl: url, verifyUrl: url };
    const client = createAdminClient({ ...urls, accountSid, serviceSid, password });
    assert.equal((await client.webhooks.page()).items[0].webhook_url, push.publicUrl);
    if (app !== undefined) {
      app.use("/parsed", express.urlencoded({ extended: false }), push);
      assert.equal(await fetchStatus("/parsed", signed), 200);
      const authorize = (req) => req.get("x-staff") === "yes";
      app.use("/admin", rooms.adminRouter({ client, authorize }));
      for (const [staff, status] of Object.entries({ no: 403, yes: 200 }))
        assert.equal(
          await fetchStatus("/admin/webhooks", { headers: { "x-staff": staff } }),
          status,
        );
    }

    // Nothing listens there: a queue can be created and closed without its server.
    const redis = { name: "story", connection: "redis://127.0.0.1:9" };
    if (isInstalled("bullmq")) await rooms.redisQueue(redis).close();
    const postgres = { name: "story", connection: "postgres://127.0.0.1:9/a" };
    if (isInstalled("pg")) await rooms.postgresQueue(postgres).close();

    // A test runner ends by itself after this: a login still waits, and connections are open.
    const pending = push.waitForChallenge({
      challengeSid: `YC${"0".repeat(32)}`,
      entityIdentity: "user-5e81-07",
    });
    await Promise.all([assert.rejects(pending, { code: "CLOSING" }), push.close()]);
    assert.equal(await fetchStatus(PATH, signed), 503);
  } finally {
    await emulator.close();
    server.close();
    server.closeAllConnections();
  }
}

module.exports = { tellStory };

if (require.main === module) {
  const file = `./${process.argv[2]}`;
  void Promise.resolve(file.endsWith(".cjs") ? require(file) : import(file))
    .then(tellStory)
    .then(() => process.stdout.write("told\n"));
}
