/** All that the package exports by name, in an app with Express and every optional peer. */
export { default as express } from "express";
export {
  createHandlers,
  createMemoryDedupe,
  explainSignature,
  isChallengeEvent,
  isPushEvent,
  parsePushEvent,
  PermanentError,
  PUSH_EVENT_TYPES,
  pushWebhooks,
  sign,
  verifyPushRequest,
  verifySignature,
  WebhookError,
} from "express-push-verification";
export {
  adminRouter,
  ApiError,
  createAdminClient,
  InputError,
} from "express-push-verification/admin";
export { QueueError, redisQueue, postgresQueue } from "express-push-verification/durable";
export { createEmulator, EmulatorError } from "express-push-verification/emulator";
export { eventFixture, signedRequest } from "express-push-verification/testing";
