export { createAdminClient, type AdminClient } from "./client/client";
export { confirmWith, type ConfirmWithOptions } from "./client/confirm-with";
export type { AdminClientOptions } from "./client/options";
export type { Page } from "./client/list";
export type { CreatedKey, Key } from "./client/key";
export type { Finding, Webhook, WebhookEventType, WebhookInput } from "./client/webhook";
export type { Challenges, Factors, FetchedChallenge, FetchedFactor } from "./client/resources";
export type { Keys, Webhooks } from "./client/resources";

export { ApiError, type ApiErrorCode } from "./client/api-error";
export { InputError } from "./client/input-error";

export { adminRouter } from "./router/router";
export type { AdminRouterOptions, ConsoleOptions } from "./router/options";
export type { AuditEntry } from "./http/audit";

export { rehearse, type RehearseOptions } from "./rehearsal/rehearse";
export type { RehearsalLink, RehearsalReport, RehearsalRow } from "./rehearsal/report";
