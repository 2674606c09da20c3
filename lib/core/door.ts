/**
 * The door of the core: all that the guests use of it. A change of anything else in the core reaches
 * no guest. Ask first whether a guest should need a new name here.
 */

// All guests read errors by their codes; tools print the causes of a wrong signature.
export { type SignatureReport } from "./errors/signature-causes";
export { WebhookError } from "./errors/webhook-error";

// Events: queues store and parse them, the emulator sends them, tools and test kits make them.
export {
  PUSH_EVENT_TYPES,
  type PushEvent,
  type PushEventOf,
  type PushEventType,
  type UnknownPushEvent,
} from "./event/event";
export { listEventPairs, listParameterNames } from "./event/event-parameters";
export { INVENTED_PREFIXES } from "./event/invented-event";
export { parseEvent } from "./event/parse";

// Signatures: the emulator, the test kit and the tools sign; `explain` and `record` look at captures.
export { signRequest, type WebhookRequest } from "./signature/signed-request";
export { SIGNATURE_HEADERS } from "./signature/signature-headers";

// The journal: a queue keeps it, the console reads it.
export { type Explanation, type RequestEntry, type RequestResult } from "./journal/journal";

// Reports: a queue logs, traces and reports its health as a receiver does; OpenTelemetry listens.
export { trace, type Diagnostics, type Traces } from "./observability/diagnostics";

// The journal: a queue keeps it, the console reads it.
export {
  type Count,
  type CounterName,
  type Explanation,
  type Journal,
  type JournalEntry,
  type NewEntry,
  type RequestEntry,
  type RequestResult,
  type StepEntry,
} from "./journal/journal";
export { createPseudonym, maskIdentity, maskText } from "./journal/mask";
export { MemoryJournal } from "./journal/memory-journal";

// Delivery: a queue implements `EventQueue`, runs the handlers, asks `confirm`, and keeps outcomes.
export { type PendingWait } from "./delivery/challenge-wait";
export { confirmOnce, type Confirm } from "./delivery/confirmation";
export { type DedupeStore } from "./delivery/dedupe-store";
export {
  type DeadLetter,
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
export { type Handlers } from "./delivery/handler-registry";
export { findOutcome, readOutcome, writeOutcome } from "./delivery/outcome";
export { createRequestRetry } from "./delivery/retry-request";
export { StoredDelivery, type HandlingOptions } from "./delivery/stored-delivery";
export { Waiters } from "./delivery/waiters";

// The receiver: the console looks into it, and the test kit makes requests that it accepts.
export { signAcceptedRequest, type ReceiverSettings } from "./receiver/accepted-request";
export { explainCapture } from "./receiver/explain-capture";
export {
  inspectReceiver,
  type ObservedRequest,
  type ReceiverInspection,
} from "./receiver/inspection";
export { type PushWebhooks } from "./receiver/receiver";
