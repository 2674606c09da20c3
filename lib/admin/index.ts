export { createAdminClient } from "./client/client";
export type { AdminClient, Challenges, Factors, Keys, Webhooks } from "./client/client";
export type { FetchedChallenge } from "./client/challenge";
export type { FetchedFactor } from "./client/factor";
export { confirmWith } from "./client/confirm-with";
export type { ConfirmWithOptions } from "./client/confirm-with";
export type { AdminClientOptions } from "./client/options";
export type { Page } from "./client/list";
export type { CreatedKey, Key } from "./client/key";
export type { Webhook, WebhookEventType, WebhookInput } from "./client/webhook";
export type { Finding } from "./client/webhook";

export { ApiError } from "./client/api-error";
export type { ApiErrorCode } from "./client/api-error";
export { InputError } from "./client/input-error";

export { adminRouter } from "./router/router";
export type { AdminRouterOptions } from "./router/options";
export type { ConsoleOptions } from "./console/options";
export type { AuditEntry } from "./http/audit";
