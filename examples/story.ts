/**
 * The whole package without an account: an emulated service, and an Express app that receives its
 * webhook requests, lets a login wait, and has an admin router. It ends after the fifth event;
 * with `--keep` it runs until Ctrl-C.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express from "express";
import { pushWebhooks } from "express-push-verification";
import { adminRouter, confirmWith, createAdminClient } from "express-push-verification/admin";
import { AS_PUBLIC_SERVICE, createEmulator } from "express-push-verification/emulator";

const IDENTITY = "user-5e81-07";

void main();

async function main(): Promise<void> {
  const emulator = createEmulator(AS_PUBLIC_SERVICE);
  await emulator.listen(0);
  const { accountSid, serviceSid, authToken, url: serviceUrl } = emulator;
  console.log(`The service is emulated at ${serviceUrl}.`);

  const app = express();
  const server = app.listen(Number(process.env.PORT ?? 0), "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const appUrl = `http://127.0.0.1:${port}`;

  const client = createAdminClient({
    accountUrl: serviceUrl,
    verifyUrl: serviceUrl,
    accountSid,
    serviceSid,
    password: authToken,
  });
  const publicUrl = `${appUrl}/webhooks/push`;
  const push = pushWebhooks({ authToken, publicUrl, confirm: confirmWith(client) });
  push.on(["factor.created", "factor.verified", "factor.deleted"], (event) => {
    const name = event.factor_friendly_name ?? "(v1)";
    console.log(`  handled: ${event.type} for ${event.entity_identity} (${name})`);
  });
  push.on(["challenge.approved", "challenge.denied"], (event) => {
    const message = event.challenge_details?.message ?? "(no details)";
    console.log(`  handled: ${event.type} by ${event.entity_identity}: ${message}`);
  });
  push.onRejected((error) => {
    const [cause] = error.explain()?.causes ?? [];
    console.log(`  rejected: ${error.code}${cause === undefined ? "" : `, ${cause.code}`}`);
  });

  const staffPassword = randomBytes(8).toString("hex");
  const isStaff = (password: string | undefined) => password === `Bearer ${staffPassword}`;
  app.use("/webhooks/push", push);
  app.use(
    "/admin/push",
    adminRouter({ client, authorize: (req) => isStaff(req.get("authorization")) }),
  );
  console.log(`An Express app receives its webhook requests at ${push.publicUrl}.\n`);

  const { result, webhook } = await client.webhooks.ensure({
    friendly_name: "login events",
    event_types: ["*"],
    webhook_url: push.publicUrl,
  });
  const findings = await client.webhooks.check(push);
  console.log(
    `Webhook ${webhook.sid} ${result}; ${findings.length} findings of configuration drift.`,
  );

  console.log("A phone is registered:");
  const factor_sid = emulator.createFactor({
    entity_identity: IDENTITY,
    friendly_name: "Zoë's phone",
  }).sid;
  emulator.verifyFactor(factor_sid);
  await emulator.settled();
  console.log("An old phone is registered and deleted:");
  const old = emulator.createFactor({ entity_identity: IDENTITY, friendly_name: "Old phone" });
  emulator.deleteFactor(old.sid);
  await emulator.settled();
  for (const [message, outcome] of [
    ["Sign in from Köln?", "approved"],
    ["Pay 250 €?", "denied"],
  ] as const) {
    console.log(`The user is asked "${message}":`);
    const { sid } = emulator.createChallenge({ factor_sid, details: { message } });
    const login = push.waitForChallenge({ challengeSid: sid, entityIdentity: IDENTITY });
    if (outcome === "approved") emulator.approveChallenge(sid);
    else emulator.denyChallenge(sid);
    console.log(`  the waiting login resolves: ${(await login).type}`);
    await emulator.settled();
  }

  const end = async () => {
    server.close();
    await push.close({ deadlineMs: 1_000 });
    await emulator.close();
    // Without waiting for open connections and their timers.
    process.exit();
  };
  if (!process.argv.includes("--keep")) return end();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) {
    process.once(signal, () => void end());
  }

  const open = emulator.createChallenge({ factor_sid }).sid;
  const cli = "npx tsx lib/cli/main.ts --env story.env";
  const trigger = `${cli} trigger factor.created --url ${push.publicUrl}`;
  console.log(`
It runs until Ctrl-C. Save these lines as story.env:
PUSH_AUTH_TOKEN=${authToken}
PUSH_ACCOUNT_SID=${accountSid}
PUSH_SERVICE_SID=${serviceSid}
PUSH_ACCOUNT_URL=${serviceUrl}
PUSH_VERIFY_URL=${serviceUrl}

In another terminal, try (in Windows PowerShell 5.1, write curl.exe):
  ${trigger}
  ${trigger} --duplicate
  ${trigger} --bad-signature
  ${cli} webhooks list
  curl -H "Authorization: Bearer ${staffPassword}" ${appUrl}/admin/push/webhooks
  curl -u ${accountSid}:${authToken} -X POST ${serviceUrl}/_control/challenges/${open}/approve`);
}
