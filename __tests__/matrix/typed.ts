/** Compiles against the packed types where no optional peer is installed: the types need none. */
import { createServer } from "node:http";
import {
  parsePushEvent,
  pushWebhooks,
  verifyPushRequest,
  type ChallengeApprovedEvent,
  type PushEvent,
  type UnknownPushEvent,
} from "express-push-verification";
import { redisQueue, type DurableQueue } from "express-push-verification/durable";
import { postgresQueue } from "express-push-verification/durable/postgres";
import { redisQueue as ownRedisQueue } from "express-push-verification/durable/redis";
import { sqliteQueue } from "express-push-verification/durable/sqlite";
import { createEmulator, type WebhookDelivery } from "express-push-verification/emulator";
import { instrumentPushWebhooks } from "express-push-verification/otel";
import { eventFixture, signedRequest } from "express-push-verification/testing";

const settings = { authToken: "token", publicUrl: "https://app.example.com/webhooks/push" };
const push = pushWebhooks(settings).on("challenge.approved", (event, { signal }) => {
  const approved: ChallengeApprovedEvent = event;
  // @ts-expect-error: no event has it, so the event is not any
  void event.nothing;
  void [approved, signal.aborted];
});
const queue: DurableQueue = redisQueue({ name: "logins", connection: "redis:a" });
// oxlint-disable-next-line typescript/no-misused-promises -- as users write it
createServer(pushWebhooks({ ...settings, queue }));

const emulator = createEmulator({ authToken: "token" });
emulator.onDelivery((delivery: WebhookDelivery) => void delivery.status);
const stored: PushEvent | UnknownPushEvent = parsePushEvent(eventFixture("factor.verified"));
const { url, headers, body } = signedRequest(settings, "factor.created", {});
const request = { method: "POST", url, headers: new Headers(headers), body: Buffer.from(body!) };
void verifyPushRequest(request, settings).then(({ type }) => type.length);
void [push, stored, postgresQueue, ownRedisQueue, sqliteQueue, instrumentPushWebhooks];
