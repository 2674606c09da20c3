/**
 * The door of the core: what only guests use of it. What apps use, too, they import as apps do, from
 * `lib/index.ts`. A change of anything else in the core reaches no guest. Ask first whether a guest should
 * need a new name here.
 */

/** The emulator makes the parameters of an event. */
export { listEventPairs } from "./event/event-parameters";
/** The test kit and `trigger` name the parameters that an event does not have. */
export { listParameterNames } from "./event/event-parameters";
/** `trigger` marks the events that it invents. */
export { INVENTED_PREFIX } from "./event/invented-event";
/** A queue stores the pairs of an event, and parses it again. */
export { parseEvent } from "./event/parse";

/** The emulator signs its webhook requests, and tools the probes that find out why one is rejected. */
export { signRequest, type WebhookRequest } from "./signature/signed-request";
/** The default of options, and where `explain` looks for the signature. */
export { SIGNATURE_HEADERS } from "./signature/signature-headers";

/** A queue traces the storing of an event, and what its workers do without one. */
export { trace } from "./observability/diagnostics";

/** What a queue keeps, the console shows, and workers and the admin router append. */
export type { Count, Journal, JournalEntry, RequestEntry, StepEntry } from "./journal/journal";
/** A queue writes entries as texts, and reads them. */
export { readEntry, writeEntry } from "./journal/entry-text";

/** What a queue implements for a receiver, and the event that it stores. */
export type { EventQueue, QueuedEvent } from "./delivery/event-queue";
/** The history of a console without a queue. */
export { MemoryJournal } from "./delivery/memory-journal";
/** A queue retries while its store is down, as a receiver does. */
export { createRequestRetry } from "./delivery/retry-request";
/** A worker confirms the events of its queue, and runs their handlers. */
export { StoredDelivery, type WorkOptions } from "./delivery/stored-delivery";
/** A queue keeps the outcomes of challenges, wakes the waits for them, and finds them by user. */
export { StoredOutcomes } from "./delivery/stored-outcomes";

/** The test kit makes requests and events that a receiver accepts. */
export { signAcceptedRequest, type ReceiverSettings } from "./receiver/test-request";
/** `explain` reads captures. */
export { explainCapture } from "./receiver/explain-capture";
/** The rehearsal and the console look into a receiver. */
export { inspectReceiver, type ReceiverInspection } from "./receiver/inspection";
