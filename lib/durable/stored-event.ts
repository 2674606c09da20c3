import { z } from "zod";
import type { PushEvent, UnknownPushEvent } from "../event/event";
import { WebhookError } from "../errors/webhook-error";
import { parseEvent } from "../event/parse";
import type { QueuedEvent } from "../delivery/event-queue";
import { hashText } from "../signature/signature";
import type { NewEvent, StoredOutcome } from "./storage";
import { createContent } from "./stored-content";

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
});

const KEY_DIGITS = 32;

/** Writes an event for the store. */
export function toStoredEvent(queued: QueuedEvent): StoredEvent {
  if (queued.needsConfirmation === true) {
    throw new WebhookError(
      "CONFIRM_UNAVAILABLE",
      "The workers of this queue cannot confirm events.",
    );
  }
  const { event, account, authTokenIndex, publicUrlIndex, receiver } = queued;
  const params = event.params.map(([name, value]): [string, string] => [name, value]);
  const stored = { params, account, authTokenIndex, publicUrlIndex };
  return receiver === undefined ? stored : { ...stored, receiver };
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

/** Writes an event with its outcome for the storage of a queue. */
export function toNewEvent(
  queueName: string,
  queued: QueuedEvent,
  outcome: StoredOutcome | undefined,
): NewEvent {
  return {
    key: hashKey(queueName, dedupeIdOf(queued)),
    content: createContent(queued.contentHash),
    uuidHash: hashKey(queueName, queued.uuid),
    body: toAsciiJson(toStoredEvent(queued)),
    outcome,
  };
}

/** Returns 16 bytes of the hash of a key of a queue, in hexadecimal: keys have any length. */
export function hashKey(queueName: string, key: string): string {
  return hashText(`${queueName}:${key}`).slice(0, KEY_DIGITS);
}

/**
 * Writes a value as JSON of ASCII characters: a database of any encoding stores it, NUL and lone
 * surrogates included.
 */
export function toAsciiJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!/[\u007f-\uffff]/.test(text)) return text;
  return text.replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The identity of an event: a duplicate has the same. */
interface EventKey {
  /** The authenticated account, as an `OutcomeKey` has it. */
  account: string;
  uuid: string;
}

/** Returns an {@link EventKey} as one text, the account first: accounts share no identifier. */
export function dedupeIdOf({ account, uuid }: EventKey): string {
  return `${account}:${uuid}`;
}
