export { pushWebhooks } from "./receiver/push-webhooks";
export type { DispatchContext, PushWebhooks } from "./receiver/receiver";
export type { CloseOptions } from "./time/closing";
export type { PushWebhooksOptions } from "./receiver/options";
export type { VerifyOptions } from "./receiver/verify-options";
export { createHandlers } from "./delivery/handler-registry";
export type { AnyHandler, Handler, HandlerContext, Handlers } from "./delivery/handler-registry";
export type { WaitOptions } from "./challenge/challenge-wait";
export type { Confirm, Confirmation } from "./delivery/confirmation";
export type { Capture, RejectedRequest } from "./observability/reporter";
export type { Health } from "./observability/health";
export type { Logger } from "./observability/logger";
export type { AccountTokens, AuthTokenResolver, AuthTokens } from "./receiver/auth-tokens";

export { verifyPushRequest } from "./receiver/verify-push-request";
export type { PushRequest } from "./receiver/verify-push-request";

export { sign, verifySignature } from "./signature/signature";
export type { SignedParams, SignOptions, VerifySignatureOptions } from "./signature/signature";

export { explainSignature } from "./signature/explain";
export type { ExplainSignatureOptions } from "./signature/explain/options";
export type {
  SignatureCause,
  SignatureCauseCode,
  SignatureReport,
} from "./signature/explain/causes";

export { isChallengeEvent, isPushEvent, PUSH_EVENT_TYPES } from "./event/event";
export { parsePushEvent } from "./event/parse";
export type {
  ChallengeApprovedEvent,
  ChallengeDeniedEvent,
  ChallengeDetails,
  ChallengeDetailsField,
  ChallengeEvent,
  FactorCreatedEvent,
  FactorDeletedEvent,
  FactorVerifiedEvent,
  PushEvent,
  PushEventOf,
  PushEventType,
  UnknownPushEvent,
} from "./event/event";
export type { Pair, PushEventVersion } from "./form/event-parameters";

export { createMemoryDedupe } from "./delivery/memory-dedupe";
export type { MemoryDedupeOptions } from "./delivery/memory-dedupe";
export type { Claim, DedupeClaim, DedupeKey, DedupeStore } from "./delivery/dedupe-store";

export { collectMetrics } from "./observability/prometheus";
export type { Diagnostics } from "./observability/diagnostics";
export type { Traces } from "./observability/diagnostics";

export { PermanentError } from "./errors/permanent-error";
export { WebhookError } from "./errors/webhook-error";
export type { WebhookErrorCode } from "./errors/codes";
