/**
 * The main job, with no account: an Express app receives signed v1 and v2 calls of all five types
 * over HTTP and hands them to typed handlers; then come a duplicate and a forgery.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express from "express";
import { PUSH_EVENT_TYPES, pushWebhooks, sign } from "express-push-verification";

const authToken = randomBytes(16).toString("hex");
// What the service signs is the URL that it was given: behind a proxy, not where the app listens.
const publicUrl = "https://app.example.com/webhooks/push";

const push = pushWebhooks({ authToken, publicUrl });
const challenge = createSid("YC");

push.on(["factor.created", "factor.verified", "factor.deleted"], (event) => {
  const name = event.version === "v2" ? event.factor_friendly_name : "v1 does not say its name";
  console.log(`  handler: ${event.type}, ${event.factor_sid} (${name})`);
});
push.on(["challenge.approved", "challenge.denied"], (event) => {
  const asked = event.version === "v2" ? event.challenge_details?.message : undefined;
  console.log(
    `  handler: ${event.type}, ${event.entity_identity}: ${asked ?? "v1 has no details"}`,
  );
});
push.onRejected((error) => {
  console.log(`  refused: ${error.code}`);
});

void main();

async function main(): Promise<void> {
  const app = express();
  app.use("/webhooks/push", push);
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  console.log(`An Express app on port ${port} takes calls that are signed for ${publicUrl}.\n`);

  for (const version of ["v1", "v2"] as const) {
    for (const type of PUSH_EVENT_TYPES) await deliver(port, `${type} ${version}`, type, version);
  }
  const uuid = randomUUID();
  for (const what of ["an approval", "the same approval again: answered, not handled twice"]) {
    await deliver(port, what, "challenge.approved", "v2", { uuid });
  }
  await deliver(port, "an approval signed with another token", "challenge.approved", "v2", {
    signWith: "guessed",
  });

  const outcome = await push.waitForChallenge(challenge);
  console.log(
    `\nwaitForChallenge: ${outcome.challenge_sid} was ${outcome.type.split(".")[1]} first.`,
  );
  await push.close();
  server.close();
}

async function deliver(
  port: number,
  what: string,
  type: string,
  version: "v1" | "v2",
  { uuid = randomUUID(), signWith = authToken } = {},
): Promise<void> {
  const params = { uuid, ...listParams(type, version) };
  const response = await fetch(`http://127.0.0.1:${port}/webhooks/push`, {
    method: "POST",
    headers: {
      "Content-Type": "application/x-www-urlencoded",
      "X-Service-Signature": sign({ authToken: signWith, url: publicUrl, params }),
    },
    body: new URLSearchParams(params).toString(),
  });
  console.log(`${response.status} for ${what}`);
}

function listParams(type: string, version: "v1" | "v2"): Record<string, string> {
  const isChallenge = type.startsWith("challenge.");
  const details = { message: "Approve the transfer of 250 €?", fields: [] };
  return {
    type,
    account_sid: createSid("AC"),
    service_sid: createSid("VA"),
    entity_identity: "user-7f3a-22",
    factor_sid: createSid("YF"),
    ...(isChallenge && { challenge_sid: challenge }),
    ...(version === "v2" && { factor_type: "push", factor_friendly_name: "Zoë's phone" }),
    ...(version === "v2" && isChallenge && { challenge_details: JSON.stringify(details) }),
  };
}

function createSid(prefix: string): string {
  return prefix + randomBytes(16).toString("hex");
}
