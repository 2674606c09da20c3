export { createAdminClient, type AdminClient } from "./client/client";
export { confirmWith, type ConfirmWithOptions } from "./client/confirm-with";
export type { AdminClientOptions, FetchOptions, RequestOptions } from "./client/options";
export type { Page, PageQuery } from "./client/list";
export type { CreatedKey, Key, KeyInput } from "./client/key";
export type {
  Ensured,
  Finding,
  Receiver,
  Webhook,
  WebhookChange,
  WebhookEventType,
  WebhookInput,
} from "./client/webhook";
export type {
  Challenges,
  Factors,
  FetchedChallenge,
  FetchedFactor,
  ChallengeKey,
  FactorKey,
  Keys,
  Webhooks,
  FactorDifference,
  KnownFactor,
} from "./client/resources";

export { ApiError, type ApiErrorCode } from "./client/api-error";
export { InputError, type InputIssue } from "./client/input-error";

export { adminRouter } from "./router/router";
export type { AdminRouterOptions, ConsoleOptions } from "./router/options";
export type { AuditEntry } from "./http/audit";

export { rehearse, type RehearseOptions } from "./rehearsal/rehearse";
export type { RehearsalLink, RehearsalReport, RehearsalRow } from "./rehearsal/report";
