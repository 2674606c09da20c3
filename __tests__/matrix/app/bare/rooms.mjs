/** Named exports for an app that has none of the optional peers. */
export { pushWebhooks, verifyPushRequest, WebhookError } from "express-push-verification";
export { createAdminClient } from "express-push-verification/admin";
export { createEmulator } from "express-push-verification/emulator";
export { signedRequest } from "express-push-verification/testing";
