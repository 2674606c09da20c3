/** Compiles against the packed types; copied as .cts, .mts and .ts. */
import { createServer } from "node:http";
import express from "express";
import {
  parsePushEvent,
  pushWebhooks,
  verifyPushRequest,
  type ChallengeApprovedEvent,
  type PushEvent,
  type UnknownPushEvent,
} from "express-push-verification";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import type { AdminClientOptions, Webhook } from "express-push-verification/admin";
import { redisQueue, type DurableQueue } from "express-push-verification/durable";
import { createEmulator, type WebhookDelivery } from "express-push-verification/emulator";
import { eventFixture, signedRequest } from "express-push-verification/testing";

const settings = { authToken: "token", publicUrl: "https://app.example.com/webhooks/push" };
const push = pushWebhooks(settings);
push.on("challenge.approved", (event, { signal }) => {
  const approved: ChallengeApprovedEvent = event;
  // @ts-expect-error: misspelt member
  void event.challenge_details?.mesage;
  // @ts-expect-error: no event has it, so the event is not any
  void event.nothing;
  void [approved, signal.aborted];
});
// @ts-expect-error: misspelt type
push.on("challenge.aproved", () => {});

/** An app with all that the package has for it. */
export function createApp(options: AdminClientOptions): express.Express {
  const client = createAdminClient(options);
  const app = express();
  app.use("/webhooks/push", push);
  app.use("/admin", adminRouter({ client, authorize: (req) => req.get("x-staff") === "yes" }));
  return app;
}

/** Uses types of each subpath. */
export async function useRooms(queue: DurableQueue): Promise<PushEvent | UnknownPushEvent> {
  const emulator = createEmulator({ authToken: "token" });
  emulator.onDelivery((delivery: WebhookDelivery) => void delivery.status);
  const webhook: Omit<Webhook, "url"> = emulator.createWebhook({
    webhook_url: "https://a.example",
  });
  const { url, headers, body } = signedRequest(settings, "challenge.approved", {});
  const stored: PushEvent | UnknownPushEvent = parsePushEvent(eventFixture("factor.verified"));
  const name = "logins";
  // oxlint-disable-next-line typescript/no-misused-promises -- as users write it
  createServer(pushWebhooks({ ...settings, queue: redisQueue({ name, connection: "redis:a" }) }));
  void [queue, webhook, stored];
  return verifyPushRequest({ method: "POST", url, headers, body }, settings);
}
