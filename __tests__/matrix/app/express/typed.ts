/** Compiles against the packed types; copied as .cts, .mts and .ts. */
import { createServer } from "node:http";
import express from "express";
import {
  createMemoryDedupe,
  parsePushEvent,
  pushWebhooks,
  verifyPushRequest,
  WebhookError,
  type ChallengeApprovedEvent,
  type PushEvent,
  type UnknownPushEvent,
  type WebhookErrorCode,
} from "express-push-verification";
import { adminRouter, createAdminClient, type Webhook } from "express-push-verification/admin";
import { redisQueue, type DurableQueue } from "express-push-verification/durable";
import { createEmulator, type WebhookDelivery } from "express-push-verification/emulator";
import { eventFixture, signedRequest } from "express-push-verification/testing";

const settings = { authToken: "token", publicUrl: "https://app.example.com/webhooks/push" };
const push = pushWebhooks({ ...settings, dedupe: createMemoryDedupe({ maxEntries: 10 }) });

push.on("challenge.approved", (event, { signal }) => {
  const approved: ChallengeApprovedEvent = event;
  const type: "challenge.approved" = event.type;
  const message: string | undefined = event.challenge_details?.message;
  void message;
  // @ts-expect-error: misspelt member
  void event.challenge_details?.mesage;
  // @ts-expect-error: no event has it, so the event is not any
  void event.nothing;
  void [approved, type, signal.aborted];
});
push.on(["factor.created", "challenge.denied"], (event) => {
  if (event.type === "challenge.denied") void event.challenge_sid.length;
  // @ts-expect-error: factor events have no challenge
  else void event.challenge_sid;
});
// @ts-expect-error: misspelt type
push.on("challenge.aproved", () => {});
// @ts-expect-error: misspelt option
pushWebhooks({ ...settings, publicURL: "" });

/** An app with all that the package has for it. */
export function createApp(): express.Express {
  const client = createAdminClient({
    accountUrl: "https://api.example.com",
    verifyUrl: "https://verify.example.com",
    accountSid: "AC",
    serviceSid: "VA",
    password: "",
  });
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

/** The code of a rejection. */
export function readCode(error: unknown): WebhookErrorCode | undefined {
  return error instanceof WebhookError ? error.code : undefined;
}
