/**
 * The door of the core: all that the guests use of it. A change of anything else in the core reaches
 * no guest. Ask first whether a guest should need a new name here.
 */

/** Guests throw it, and read its code. */
export { WebhookError } from "./errors/webhook-error";

/** Options and commands list the types; any other text may be of a client. */
export { PUSH_EVENT_TYPES } from "./event/event";
/** What `confirmWith` is asked about. */
export { type PushEvent } from "./event/event";
/** What a fixture is, and what a challenge shows. */
export { type PushEventOf } from "./event/event";
/** The type of an option: a test kit, the emulator and the admin client choose events by it. */
export { type PushEventType } from "./event/event";
/** The emulator and the console make the parameters of an event. */
export { listEventPairs } from "./event/event-parameters";
/** The test kit and `trigger` name the parameters that an event does not have. */
export { listParameterNames } from "./event/event-parameters";
/** `trigger` and the console mark the events that they invent. */
export { INVENTED_PREFIXES } from "./event/invented-event";
/** A queue stores the pairs of an event, and parses it again. */
export { parseEvent } from "./event/parse";

/** The emulator signs its webhook requests, and tools the probes that find out why one is rejected. */
export { signRequest } from "./signature/signed-request";
/** What the emulator sends, and what the test kit returns. */
export { type WebhookRequest } from "./signature/signed-request";
/** The default of options, and where `explain` looks for the signature. */
export { SIGNATURE_HEADERS } from "./signature/signature-headers";

/** What a queue keeps, the console shows, and workers and the admin router append. */
export {
  type Count,
  type Journal,
  type JournalEntry,
  type RequestEntry,
  type StepEntry,
} from "./journal/journal";
/** The console masks dead letters as the journal does; a queue names users. */
export { createPseudonym, maskIdentity } from "./journal/mask";
export { addPerson, readEntry, writeEntry } from "./journal/entry-text";
export { MinuteCounters } from "./journal/minute-counters";
/** The history of a console without a queue. */
export { MemoryJournal } from "./delivery/memory-journal";

/** A queue traces `store`. */
export { trace } from "./observability/diagnostics";
/** The messages that OpenTelemetry subscribes to. */
export { type Diagnostics, type Traces } from "./observability/diagnostics";

/** What `confirmWith` implements. */
export { type Confirm } from "./delivery/confirmation";
/** What `testDedupeStore` checks. */
export { type DedupeStore } from "./delivery/dedupe-store";
/** What a queue implements, and the event that it stores. */
export { type EventQueue, type QueuedEvent } from "./delivery/event-queue";
/** What a queue does for the people who run it: the durable queues have it, the console shows it. */
export {
  type DeadLetter,
  type DeadLetterFilter,
  type DeadLetterGroup,
  type DeadLetterOptions,
  type EventFailure,
  type EventOperations,
  type EventState,
  type EventStatus,
  type QueueUser,
  type UserData,
} from "./delivery/event-queue";
/** What `queue.work` takes. */
export { type Handlers } from "./delivery/handler-registry";
/** A queue tells whose outcome a stored text is. */
export { readOutcome } from "./delivery/outcome";
/** A queue retries while its store is down, as a receiver does. */
export { createRequestRetry } from "./delivery/retry-request";
/** A worker confirms the events of its queue and runs their handlers, by the options of `queue.work`. */
export { StoredDelivery, type WorkOptions } from "./delivery/stored-delivery";
/** A queue keeps the outcomes of challenges, and wakes the waits for them. */
export { StoredOutcomes } from "./delivery/stored-outcomes";

/** The test kit makes requests and events that a receiver accepts. */
export { signAcceptedRequest, type ReceiverSettings } from "./receiver/accepted-request";
/** `explain` reads captures. */
export { explainCapture } from "./receiver/explain-capture";
/** The rehearsal and the console look into a receiver. */
export { inspectReceiver, type ReceiverInspection } from "./receiver/inspection";
/** The receiver that the admin router and the rehearsal are given. */
export { type PushWebhooks } from "./receiver/receiver";
