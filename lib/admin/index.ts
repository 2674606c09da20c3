export { createAdminClient } from "./client/client";
export type { AdminClient, Challenges, Factors, Keys, Webhooks } from "./client/client";
export type { ChallengeKey, FetchedChallenge } from "./client/challenge";
export type { FactorKey, FetchedFactor } from "./client/factor";
export { confirmWith } from "./client/confirm-with";
export type { ConfirmWithOptions } from "./client/confirm-with";
export type { AdminClientOptions } from "./client/options";
export type { RequestOptions } from "./client/transport";
export type { List, Page, PageQuery } from "./client/list";
export type { CreatedKey, Key, KeyInput } from "./client/key";
export type { Webhook, WebhookChange, WebhookEventType, WebhookInput } from "./client/webhook";
export type { Ensured, Finding } from "./client/webhook";
export type { Receiver } from "./client/configuration-drift";

export { ApiError } from "./client/api-error";
export type { ApiErrorCode, ApiFailure } from "./client/api-error";
export { InputError } from "./client/input-error";
export type { InputIssue } from "./client/input-error";

export { adminRouter } from "./router/router";
export type { AdminLogger, AdminRouterOptions } from "./router/options";
export type { ConsoleOptions } from "./console/options";
export type { ConsoleQueue } from "./console/queue-view";
export type { AuditAction, AuditEntry } from "./http/audit";
