/** Compiles against the packed types of each subpath; copied as .cts, .mts and .ts. */
import { createServer } from "node:http";
import express from "express";
import { parsePushEvent, pushWebhooks, verifyPushRequest } from "express-push-verification";
import type {
  ChallengeApprovedEvent,
  PushEvent,
  UnknownPushEvent,
} from "express-push-verification";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import type { AdminClientOptions, Webhook } from "express-push-verification/admin";
import { redisQueue } from "express-push-verification/durable";
import { createEmulator, type WebhookDelivery } from "express-push-verification/emulator";
import { eventFixture, signedRequest } from "express-push-verification/testing";

const settings = { authToken: "token", publicUrl: "https://app.example.com/webhooks/push" };
const push = pushWebhooks(settings);
push.on("challenge.approved", (event, { signal }) => {
  const approved: ChallengeApprovedEvent = event;
  // @ts-expect-error: no event has it, so the event is not any
  void event.nothing;
  void [approved, signal.aborted];
});

/** An app with all that the package has for it. */
export function createApp(options: AdminClientOptions): express.Express {
  const client = createAdminClient(options);
  const authorize = (req: express.Request) => req.get("x-staff") === "yes";
  return express().use("/push", push).use("/admin", adminRouter({ client, authorize }));
}

const emulator = createEmulator({ authToken: "token" });
emulator.onDelivery((delivery: WebhookDelivery) => void delivery.status);
const webhook: Omit<Webhook, "url"> = emulator.createWebhook({ webhook_url: "https://a.example" });
const stored: PushEvent | UnknownPushEvent = parsePushEvent(eventFixture("factor.verified"));
const queue = redisQueue({ name: "logins", connection: "redis:a" });
// oxlint-disable-next-line typescript/no-misused-promises -- as users write it
createServer(pushWebhooks({ ...settings, queue }));
const { url, headers, body } = signedRequest(settings, "challenge.approved", {});
void verifyPushRequest({ method: "POST", url, headers, body }, settings).then(({ type }) => type);
void [webhook, stored];
