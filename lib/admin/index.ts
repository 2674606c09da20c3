export { createAdminClient } from "./client";
export type { AdminClient, AdminClientOptions, Keys, Webhooks } from "./client";
export type { CallOptions } from "./transport";
export type { List, Page, PageQuery } from "./list";
export type { CreatedKey, Key, KeyInput } from "./key";
export type { Webhook, WebhookChange, WebhookEventType, WebhookInput } from "./webhook";
export type { Ensured } from "./ensure";
export type { Finding, Receiver } from "./drift";

export { ApiError } from "./api-error";
export type { ApiErrorCode, ApiFailure } from "./api-error";
export { InputError } from "./input-error";
export type { InputIssue } from "./input-error";

export { adminRouter } from "./router";
export type { AdminLogger, AdminRouterOptions } from "./router";
export type { AuditAction, AuditEntry } from "./audit";
