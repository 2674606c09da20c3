/** All that the package exports by name, in an app with Express and every optional peer. */
export { default as express } from "express";
export {
  createMemoryDedupe,
  DIAGNOSTIC_NAMES,
  explainSignature,
  PUSH_EVENT_TYPES,
  pushEventSchema,
  pushWebhooks,
  sign,
  STATUS_BY_CODE,
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
export { DurabilityError, durableQueue } from "express-push-verification/durable";
export { createEmulator, EmulatorError } from "express-push-verification/emulator";
export { eventFixture, signedRequest } from "express-push-verification/testing";
