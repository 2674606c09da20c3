/**
 * The door of the core: all that the guests use of it. A change of anything else in the core reaches
 * no guest. Ask first whether a guest should need a new name here.
 */

// All guests read errors by their codes; tools print the causes of a wrong signature.
export { type WebhookErrorCode } from "./errors/codes";
export { PermanentError } from "./errors/permanent-error";
export { type SignatureCause, type SignatureReport } from "./errors/signature-causes";
export { WebhookError } from "./errors/webhook-error";

// Events: queues store and parse them, the emulator sends them, tools and test kits make them.
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
export { INVENTED_PREFIXES, isInvented } from "./event/invented-event";
export { parseEvent } from "./event/parse";
export {
  detailsSchema,
  hiddenDetailsSchema,
  isMembers,
  metadataSchema,
  sidSchema,
} from "./event/schema";

// Signatures: the emulator, the test kit and the tools sign; `explain` and `record` look at captures.
export { AUTH_TOKEN_EXPECTED, explainAuthToken, isAuthToken } from "./signature/auth-token";
export { DeviceKey, JWT_ENCODING, type Decision } from "./signature/device-key";
export { listBodyPairs } from "./signature/explain/bodies";
export { explain, explainCause } from "./signature/explain/explain-signature";
export { UncoveredTargetError, createGetParts } from "./signature/signed-parts";
export { signRequest, type WebhookRequest } from "./signature/signed-request";
export { SIGNATURE_HEADERS } from "./signature/signature-headers";

// Reports: a queue logs, traces and reports its health as a receiver does; OpenTelemetry listens.
export { publish, trace, type Diagnostics, type Traces } from "./observability/diagnostics";
export { CLOSED, describeOutage, type Health, type StoreOutage } from "./observability/health";
export { Reporter, type Capture, type ErrorListener } from "./observability/reporter";

// The journal: a queue keeps it, the console reads it.
export {
  type Count,
  type Journal,
  type JournalEntry,
  type NewEntry,
  type StepEntry,
} from "./journal/journal";
export { createPseudonym, maskIdentity, maskText } from "./journal/mask";

// Delivery: a queue implements `EventQueue`, runs the handlers, asks `confirm`, and keeps outcomes.
export { type PendingWait } from "./delivery/challenge-wait";
export {
  ConfirmationPending,
  confirmOnce,
  type Confirm,
  type ConfirmContext,
  type Confirmation,
} from "./delivery/confirmation";
export { type Claim, type DedupeClaim, type DedupeStore } from "./delivery/dedupe-store";
export { createDispatch } from "./delivery/dispatch";
export {
  type DeadLetter,
  type DeadLetterFilter,
  type DeadLetterGroup,
  type DeadLetterOptions,
  type EventFailure,
  type EventOperations,
  type EventQueue,
  type EventState,
  type EventStatus,
  type QueuedEvent,
  type QueueUser,
  type UserData,
} from "./delivery/event-queue";
export {
  areHandlersEmpty,
  findConfirm,
  isHandlers,
  type Handlers,
} from "./delivery/handler-registry";
export {
  readOutcome,
  toOutcome,
  writeOutcome,
  type ChallengeOutcome,
  type FetchOutcome,
} from "./delivery/outcome";
export { type OutcomeStore } from "./delivery/outcome-store";
export { createRequestRetry } from "./delivery/retry-request";
export { createWaiters, joinOutcomeKey } from "./delivery/waiters";

// The receiver: the console looks into it, and the test kit makes requests that it accepts.
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
