export { pushWebhooks } from "./middleware";
export type { DispatchContext, PushWebhooks } from "./receiver";
export type { CloseOptions } from "./close-options";
export type { PushWebhooksOptions } from "./options";
export type { VerifyOptions } from "./verify-options";
export { createHandlers } from "./handlers";
export type {
  AnyHandler,
  Handler,
  HandlerContext,
  HandlerRegistration,
  Handlers,
} from "./handlers";
export type { WaitForChallenge, WaitOptions } from "./challenge-wait";
export type { ErrorListener, Logger, RejectedListener, RejectedRequest } from "./reports";
export type { AccountTokens, AuthTokenResolver, AuthTokens, ClaimedIdentity } from "./tokens";

export { verifyPushRequest } from "./verify-request";
export type { PushRequest } from "./verify-request";

export { sign, verifySignature } from "./signature";
export type {
  SignatureMatch,
  SignedParams,
  SignOptions,
  UrlMatching,
  VerifySignatureOptions,
} from "./signature";

export { explainSignature } from "./explain";
export type { ExplainSignatureOptions } from "./explain";
export type { SignatureCause, SignatureCauseCode, SignatureReport } from "./explain-causes";

export { isChallengeEvent, isPushEvent, PUSH_EVENT_TYPES } from "./event";
export { parsePushEvent } from "./payload";
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
  PushEventVersion,
  UnknownPushEvent,
} from "./event";
export type { Pair } from "./form";

export { createMemoryDedupe } from "./memory-dedupe";
export type { MemoryDedupeOptions } from "./memory-dedupe";
export type { Claim, DedupeClaim, DedupeKey, DedupeStore } from "./dedupe-store";

export type { EventQueue, QueuedEvent } from "./queue";
export type { OutcomeKey, OutcomeStore, OutcomeWait } from "./outcome-store";
export type { DeliveryOutcome, RequestIdentity } from "./deliver-once";
export type { Diagnostics } from "./diagnostics";

export { PermanentError } from "./permanent-error";
export { WebhookError } from "./errors";
export type { WebhookErrorCode } from "./errors";
