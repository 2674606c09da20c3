/**
 * Compiles with `declaration` against the packed types, in an app with Express: the app exports what
 * it gets from the package, and writes no type.
 */
import {
  collectMetrics,
  createHandlers,
  createMemoryDedupe,
  explainSignature,
  isChallengeEvent,
  isPushEvent,
  parsePushEvent,
  PermanentError,
  pushWebhooks,
  sign,
  verifyPushRequest,
  verifySignature,
  WebhookError,
} from "express-push-verification";
import { adminRouter, ApiError, confirmWith, InputError } from "express-push-verification/admin";
import { createAdminClient, type AdminClientOptions } from "express-push-verification/admin";
import { postgresQueue, QueueError, redisQueue } from "express-push-verification/durable";
import { sqliteQueue } from "express-push-verification/durable/sqlite";
import { createEmulator, EmulatorError, SendError } from "express-push-verification/emulator";
import { sendRequest } from "express-push-verification/emulator";
import { instrumentPushWebhooks } from "express-push-verification/otel";
import { eventFixture, signedRequest, testDedupeStore } from "express-push-verification/testing";

const settings = { authToken: "token", publicUrl: "https://app.example.com/webhooks/push" };
const signed = { ...settings, url: settings.publicUrl, params: [] };

export const push = pushWebhooks(settings);
export const { on, off, onAny, onUnhandled, onError, onRejected, handledTypes } = push;
export const { waitForChallenge, dispatch, close, health, methods, publicUrls, fetch } = push;
export const handlers = createHandlers();
export const store = createMemoryDedupe();
export const match = verifySignature({ ...signed, signature: sign(signed) });
export const report = explainSignature({ ...signed, signature: "" });
export const errors = { PermanentError, WebhookError, ApiError, InputError, EmulatorError };
export const moreErrors = { QueueError, SendError };
export const functions = { isChallengeEvent, isPushEvent, parsePushEvent, verifyPushRequest };
export const moreFunctions = { collectMetrics, sendRequest, testDedupeStore };
export const engines = { sqliteQueue, redisQueue, postgresQueue, instrumentPushWebhooks };

export const approved = eventFixture("challenge.approved");
export const denied = eventFixture("challenge.denied", {}, { version: "v1" });
export const created = eventFixture("factor.created");
export const verified = eventFixture("factor.verified", {}, { version: "v1" });
export const { params, issues, challenge_details: details } = approved;
export const request = signedRequest(settings, "factor.deleted");
export const findV1 = (event = parsePushEvent("")) => (event.version === "v1" ? event : undefined);
export async function waitForV2(challengeSid: string) {
  const event = await push.waitForChallenge({ challengeSid, entityIdentity: "user-7f3a-22" });
  return event.version === "v2" ? event : undefined;
}

export const client = createAdminClient({} as AdminClientOptions);
export const confirm = confirmWith(client);
export const { fetch: fetchKey, create, update, list, pages, page, delete: remove } = client.keys;
export const { create: createWebhook, update: updateWebhook, ensure, check } = client.webhooks;
export const { challenges, factors } = client;
export const fetchChallenge = challenges.fetch;
export const fetchFactor = factors.fetch;
export const ensured = () =>
  client.webhooks.ensure({ friendly_name: "", webhook_url: "" } as never);
export const listProblems = ({ issues: problems }: InputError) => problems;
export const router = adminRouter({ client, authorize: () => false });

export const queue = sqliteQueue({ name: "logins", file: "push.db" });
export const worker = queue.work(handlers);
export const { ready, stats, deadLetters, retry, retryAll, discard, find } = queue;
export const findFailures = async (uuid: string) => (await queue.find(uuid))?.failures;
export const findState = async (uuid: string) => (await queue.find(uuid))?.state;

export const emulator = createEmulator();
export const { createFactor, verifyFactor, deleteFactor, createChallenge, device } = emulator;
export const { approveChallenge, denyChallenge, createKey, injectFault, onDelivery } = emulator;
export const { createWebhook: addWebhook, deliveries } = emulator;
