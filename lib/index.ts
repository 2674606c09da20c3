export { pushWebhooks } from "./middleware";
export type { PushWebhooks } from "./middleware";
export type { PushWebhooksOptions, VerifyOptions } from "./options";
export type {
  DispatchContext,
  HandledEvent,
  HandledType,
  Handler,
  HandlerContext,
} from "./dispatch";
export type { WaitOptions } from "./waiting";
export type { ErrorListener, Logger, RejectedListener, RejectedRequest } from "./reports";
export type { AuthTokenResolver, AuthTokens, ClaimedIdentity } from "./tokens";

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

export { PUSH_EVENT_TYPES, pushEventSchema } from "./event";
export type {
  ChallengeApprovedEvent,
  ChallengeDeniedEvent,
  ChallengeDetails,
  ChallengeEvent,
  FactorCreatedEvent,
  FactorDeletedEvent,
  FactorVerifiedEvent,
  PushEvent,
  PushEventOf,
  PushEventType,
  UnknownPushEvent,
} from "./event";
export type { Pair } from "./form";

export { createMemoryDedupe } from "./dedupe";
export type { CallIdentity, Claim, DedupeStore, Delivery, MemoryDedupeOptions } from "./dedupe";

export type { EventQueue, QueuedCall } from "./queue";
export { DIAGNOSTIC_NAMES } from "./diagnostics";
export type { Diagnostics } from "./diagnostics";

export { STATUS_BY_CODE, WebhookError } from "./errors";
export type { WebhookErrorCode } from "./errors";
