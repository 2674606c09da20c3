export { createAdminClient } from "./client";
export type { AdminClient, AdminClientOptions, Keys, Webhooks } from "./client";
export type { CallOptions } from "./transport";
export type { List, Page, PageQuery } from "./list";
export type { CreatedKey, Key, KeyInput, Webhook, WebhookChange, WebhookInput } from "./resources";
export type { Ensured } from "./ensure";
export type { Finding, Receiver } from "./drift";

export { ApiError } from "./api-error";
export type { ApiErrorFields, ApiFailure } from "./api-error";
export { InputError } from "./input";

export { adminRouter } from "./router";
export type { AdminRouterOptions } from "./router";
export type { AuditAction, AuditEntry } from "./audit";
