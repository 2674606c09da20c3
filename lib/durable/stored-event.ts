import { z } from "zod";
import type { PushEvent, UnknownPushEvent } from "../event";
import { parsePayload } from "../payload";
import type { QueuedEvent } from "../queue";
import { hashText } from "../signature";

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
export interface ReadEvent extends Omit<StoredEvent, "params"> {
  event: PushEvent | UnknownPushEvent;
}

const storedEventSchema = z.object({
  params: z.array(z.tuple([z.string(), z.string()])),
  account: z.string(),
  authTokenIndex: z.int(),
  publicUrlIndex: z.int(),
  receiver: z.string().optional(),
});

/** Writes an event for the store. */
export function toStoredEvent(queued: QueuedEvent): StoredEvent {
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
export function readStoredEvent(stored: unknown): ReadEvent {
  const { params, ...context } = storedEventSchema.parse(stored);
  return { event: parsePayload(params), ...context };
}

/** What tells stored events apart. */
interface EventKey {
  /** The authenticated account, as an `OutcomeKey` has it. */
  account: string;
  uuid: string;
}

/** Returns the identifier that a duplicate shares: account first, so that no account meets another. */
export function dedupeIdOf({ account, uuid }: EventKey): string {
  return `${account}:${uuid}`;
}

/**
 * Creates the identifier of a job. No two are equal, and it tells the event and the content from
 * others. Never the uuid itself, which may be "meta", the name of a key that BullMQ has.
 */
export function createJobId(event: EventKey & { contentHash: string }): string {
  return `${hash(dedupeIdOf(event))}-${hash(event.contentHash)}-${crypto.randomUUID()}`;
}

/** Whether a job is of a request with this content. */
export function hasContent(jobId: string, contentHash: string): boolean {
  return jobId.split("-")[1] === hash(contentHash);
}

function hash(text: string): string {
  return hashText(text).slice(0, 32);
}
