export { type PendingWait } from "./delivery/challenge-wait";
export { CONFIRM_MS, confirmOnce, type Confirm } from "./delivery/confirmation";
export { type Claim, type DedupeClaim, type DedupeStore } from "./delivery/dedupe-store";
export { createDispatch } from "./delivery/dispatch";
export {
  type DeadLetter,
  type DeadLetterOptions,
  type EventFailure,
  type EventOperations,
  type EventQueue,
  type EventState,
  type EventStatus,
  type QueuedEvent,
} from "./delivery/event-queue";
export {
  areHandlersEmpty,
  findConfirm,
  isHandlers,
  type Handlers,
} from "./delivery/handler-registry";
export { type OutcomeStore } from "./delivery/outcome-store";
export { createRequestRetry } from "./delivery/retry-request";
export { createWaiters, joinOutcomeKey } from "./delivery/waiters";
export { PermanentError } from "./errors/permanent-error";
export { type SignatureCause, type SignatureReport } from "./errors/signature-causes";
export { WebhookError } from "./errors/webhook-error";
export {
  PUSH_EVENT_TYPES,
  isChallengeEvent,
  isPushEventType,
  type ChallengeDetails,
  type ChallengeEvent,
  type DeliveryResult,
  type PushEvent,
  type PushEventOf,
  type PushEventType,
  type UnknownPushEvent,
} from "./event/event";
export {
  V1_PARAMETERS,
  hasParameter,
  listEventPairs,
  listParameterNames,
  type EventParameters,
  type Pair,
  type ParameterName,
  type PushEventVersion,
} from "./event/event-parameters";
export { FORM_CONTENT_TYPES, decodeForm, isFormType } from "./event/form";
export { parseEvent } from "./event/parse";
export {
  detailsSchema,
  hiddenDetailsSchema,
  isMembers,
  metadataSchema,
  sidSchema,
} from "./event/schema";
export { publish, trace, type Diagnostics, type Traces } from "./observability/diagnostics";
export { CLOSED, describeOutage, type Health, type StoreOutage } from "./observability/health";
export { type Capture, type ErrorListener, Reporter } from "./observability/reporter";
export { signAcceptedRequest } from "./receiver/accepted-request";
export { isUuidUnique } from "./receiver/ambiguity";
export { joinReceivedUrl } from "./receiver/incoming-request";
export {
  inspectReceiver,
  type ObservedRequest,
  type ReceiverInspection,
} from "./receiver/inspection";
export { pairHeaders } from "./receiver/node-request";
export { type PushWebhooks } from "./receiver/receiver";
export { VERIFY_RULES, type VerifyOptions } from "./receiver/verify-options";
export { AUTH_TOKEN_EXPECTED, explainAuthToken, isAuthToken } from "./signature/auth-token";
export { listBodyPairs } from "./signature/explain/bodies";
export { explain, explainCause } from "./signature/explain/explain-signature";
export { UncoveredTargetError, createGetParts } from "./signature/signed-parts";
export { signRequest, type WebhookRequest } from "./signature/signed-request";
export { SIGNATURE_HEADERS } from "./signature/signature-headers";
