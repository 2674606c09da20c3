export { pushWebhooks } from "./core/receiver/push-webhooks";
export type { DispatchContext, PushWebhooks } from "./core/receiver/receiver";
export type { CloseOptions } from "./kit/closing";
export type { PushWebhooksOptions } from "./core/receiver/options";
export type { PushMethod, VerifyOptions } from "./core/receiver/verify-options";
export { createHandlers } from "./core/delivery/handler-registry";
export type {
  AnyHandler,
  Handler,
  HandlerContext,
  Handlers,
} from "./core/delivery/handler-registry";
export type { WaitOptions } from "./core/delivery/challenge-wait";
export type { ChallengeOutcome, FetchOutcome } from "./core/delivery/outcome";
export type { Confirm, Confirmation } from "./core/delivery/confirmation";
export type {
  Capture,
  ErrorListener,
  RejectedListener,
  RejectedRequest,
} from "./core/observability/reporter";
export type { Health } from "./kit/health";
export type { Logger } from "./kit/logger";
export type { AccountTokens, AuthTokenResolver, AuthTokens } from "./core/receiver/auth-tokens";

export { verifyPushRequest } from "./core/receiver/verify-push-request";
export type { PushRequest } from "./core/receiver/verify-push-request";

export { sign, verifySignature } from "./core/signature/signature";
export type {
  SignatureMatch,
  SignedParams,
  SignOptions,
  VerifySignatureOptions,
} from "./core/signature/signature";

export { explainSignature } from "./core/signature/explain";
export type { ExplainSignatureOptions } from "./core/signature/explain/options";
export type {
  SignatureCause,
  SignatureCauseCode,
  SignatureReport,
} from "./core/errors/signature-causes";

export { isChallengeEvent, isPushEvent, PUSH_EVENT_TYPES } from "./core/event/event";
export { parsePushEvent } from "./core/event/parse";
export type {
  ChallengeApprovedEvent,
  ChallengeDeniedEvent,
  ChallengeDetails,
  ChallengeDetailsField,
  ChallengeEvent,
  EventIssue,
  FactorCreatedEvent,
  FactorDeletedEvent,
  FactorVerifiedEvent,
  PushEvent,
  PushEventOf,
  PushEventType,
  UnknownPushEvent,
  V1ChallengeEvent,
  V1FactorEvent,
  V2ChallengeEvent,
  V2FactorEvent,
} from "./core/event/event";
export type { PushEventVersion } from "./core/event/event-parameters";
export type { Pair } from "./kit/pairs";

export { createMemoryDedupe } from "./core/delivery/memory-dedupe";
export type { MemoryDedupeOptions } from "./core/delivery/memory-dedupe";
export type { Claim, DedupeClaim, DedupeKey, DedupeStore } from "./core/delivery/dedupe-store";

export { collectMetrics } from "./core/observability/prometheus";
export type { Diagnostics } from "./core/observability/diagnostics";
export type { Traces } from "./core/observability/diagnostics";

export { PermanentError } from "./core/errors/permanent-error";
export { WebhookError } from "./core/errors/webhook-error";
export type { WebhookErrorCode } from "./core/errors/codes";
