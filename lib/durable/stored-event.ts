import { z } from "zod";
import type { PushEvent, UnknownPushEvent } from "../event/event";
import { parseEvent } from "../event/parse";
import type { QueuedEvent } from "../delivery/event-queue";
import { toAsciiJson } from "../form/text";
import type { Pair } from "../form/form";
import type { NewEvent, StoredOutcome } from "./storage";
import { createContent, createEventKey, hashKey } from "./stored-keys";

/** An event as it is stored. */
export interface StoredEvent {
  /** The parameters of the request: a worker parses the event from them. */
  params: [name: string, value: string][];
  /** The account of its outcome, as an `OutcomeKey` has it. */
  account: string;
  authTokenIndex: number;
  publicUrlIndex: number;
  /** The name of the receiver. */
  receiver?: string | undefined;
  /** Whether a worker must confirm it, and record its outcome then. */
  needsConfirmation?: true | undefined;
  /** The trace context of its request, as a subscriber of the tracing channels wrote it. */
  carrier?: Record<string, string> | undefined;
}

/** An event that was read from the store. */
export interface RestoredEvent extends Omit<StoredEvent, "params"> {
  event: PushEvent | UnknownPushEvent;
}

const storedEventSchema = z.object({
  params: z.array(z.tuple([z.string(), z.string()])),
  account: z.string(),
  authTokenIndex: z.int(),
  publicUrlIndex: z.int(),
  receiver: z.string().optional(),
  needsConfirmation: z.literal(true).optional(),
  carrier: z.record(z.string(), z.string()).optional(),
});

/** Writes an event for the store. */
export function toStoredEvent(queued: QueuedEvent, carrier = {}): StoredEvent {
  const { event, account, authTokenIndex, publicUrlIndex, receiver } = queued;
  const params = event.params.map(([name, value]): [string, string] => [name, value]);
  return {
    params,
    account,
    authTokenIndex,
    publicUrlIndex,
    ...(receiver !== undefined && { receiver }),
    ...(queued.needsConfirmation === true && { needsConfirmation: true }),
    ...(Object.keys(carrier).length > 0 && { carrier }),
  };
}

/**
 * Reads an event that {@link toStoredEvent} wrote.
 *
 * @throws ZodError, or WebhookError `PAYLOAD_INVALID`, for what this version cannot read.
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

/** Reads what names an event from its stored form; empty texts for what is not there. */
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
  carrier?: Record<string, string>,
): NewEvent {
  const uuidHash = hashKey(queueName, queued.uuid);
  // The account first: accounts share no identifier.
  const ownHash = hashKey(queueName, `${queued.account}:${queued.uuid}`);
  return {
    key: createEventKey(uuidHash, ownHash),
    content: createContent(queued.contentHash),
    uuidHash,
    body: toAsciiJson(toStoredEvent(queued, carrier)),
    outcome,
  };
}
