import * as z from "../validation/zod";
import type { PushEvent, UnknownPushEvent } from "../event/event";
import { parseEvent } from "../event/parse";
import type { QueuedEvent } from "../delivery/event-queue";
import { toAsciiJson } from "../form/text";
import type { Pair } from "../form/form";
import type { NewEvent, StoredOutcome } from "./storage";
import { createContent, createEventKey, hashKey } from "./stored-keys";

const storedEventSchema = z.object({
  /** The parameters of the request: a worker parses the event from them. */
  params: z.array(z.tuple([z.string(), z.string()])),
  /** The account of its outcome, as an `OutcomeKey` has it. */
  account: z.string(),
  authTokenIndex: z.int(),
  publicUrlIndex: z.int(),
  /** The name of the receiver. */
  receiver: z.string().optional(),
  /** Whether a worker must confirm it, and record its outcome then. */
  needsConfirmation: z.literal(true).optional(),
  /** The trace context of its request, as a subscriber of the tracing channels wrote it. */
  carrier: z.record(z.string(), z.string()).optional(),
});

/** An event as it is stored. */
export type StoredEvent = z.infer<typeof storedEventSchema>;

/** An event that was read from the store. */
export interface RestoredEvent extends Omit<StoredEvent, "params"> {
  event: PushEvent | UnknownPushEvent;
}

/**
 * Reads an event that {@link toNewEvent} wrote.
 *
 * @throws ZodError, or WebhookError `PAYLOAD_INVALID`, for an event that this version cannot read.
 */
export function readStoredEvent(stored: unknown): RestoredEvent {
  const { params, ...context } = storedEventSchema.parse(stored);
  return { event: parseEvent(params), ...context };
}

/** The names of a stored event, also when this version cannot read the event. */
export interface EventNames {
  /** The authenticated account. */
  account: string;
  /** The account that the event claims. */
  accountSid: string;
  uuid: string;
  type: string;
  receiver: string | undefined;
}

/** Reads the names of an event from its stored form; an empty text for a missing one. */
export function readEventNames(stored: unknown): EventNames {
  const { account, receiver, params } = Object(stored) as Record<string, unknown>;
  const pairs: unknown[] = Array.isArray(params) ? params : [];
  const byName = new Map(pairs.filter((pair) => Array.isArray(pair)) as unknown as Pair[]);
  return {
    account: typeof account === "string" ? account : "",
    accountSid: byName.get("account_sid") ?? "",
    uuid: byName.get("uuid") ?? "",
    type: byName.get("type") ?? "",
    receiver: typeof receiver === "string" ? receiver : undefined,
  };
}

/** Writes an event with its outcome for the storage of a queue. */
export function toNewEvent(
  queueName: string,
  queued: QueuedEvent,
  outcome: StoredOutcome | undefined,
  carrier: Record<string, string> = {},
): NewEvent {
  const { event, account, authTokenIndex, publicUrlIndex, receiver } = queued;
  const uuidHash = hashKey(queueName, queued.uuid);
  const stored: StoredEvent = {
    params: event.params.map(([name, value]) => [name, value]),
    account,
    authTokenIndex,
    publicUrlIndex,
    // JSON leaves out undefined members.
    receiver,
    needsConfirmation: queued.needsConfirmation === true ? true : undefined,
    carrier: Object.keys(carrier).length > 0 ? carrier : undefined,
  };
  return {
    // The account first: accounts share no identifier.
    key: createEventKey(uuidHash, hashKey(queueName, `${account}:${queued.uuid}`)),
    content: createContent(queued.contentHash),
    uuidHash,
    body: toAsciiJson(stored),
    outcome,
  };
}
