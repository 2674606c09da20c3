import { z } from "zod";
import type { PushEvent, UnknownPushEvent } from "../event";
import { parsePayload } from "../payload";
import type { QueuedCall } from "../queue";
import { hashText } from "../signature";

/** An event as it lies in Redis. */
export interface StoredEvent {
  /** The parameters of the call: an event is parsed anew by whoever handles it. */
  params: [name: string, value: string][];
  authTokenIndex: number;
}

const storedEventSchema = z.object({
  params: z.array(z.tuple([z.string(), z.string()])),
  authTokenIndex: z.int(),
});

/** Writes an event for Redis. */
export function toStoredEvent({ event, authTokenIndex }: QueuedCall): StoredEvent {
  return { params: event.params.map(([name, value]) => [name, value]), authTokenIndex };
}

/**
 * Reads an event that {@link toStoredEvent} wrote.
 *
 * @throws ZodError, or WebhookError `PAYLOAD_INVALID`, for what this version cannot read.
 */
export function readStoredEvent(stored: unknown): {
  event: PushEvent | UnknownPushEvent;
  authTokenIndex: number;
} {
  const { params, authTokenIndex } = storedEventSchema.parse(stored);
  return { event: parsePayload(params), authTokenIndex };
}

/**
 * Makes the identifier of a job: no two are equal, and it tells the uuid and the content apart from
 * others. Never the uuid itself, which may be "meta", the name of a key that BullMQ has.
 */
export function createJobId({ uuid, contentHash }: { uuid: string; contentHash: string }): string {
  return `${hash(uuid)}-${hash(contentHash)}-${crypto.randomUUID()}`;
}

/** Whether a job is of a call with this content. */
export function hasContent(jobId: string, contentHash: string): boolean {
  return jobId.split("-")[1] === hash(contentHash);
}

/** Whether a job is of a call with this uuid. */
export function hasUuid(jobId: string, uuid: string): boolean {
  return jobId.startsWith(`${hash(uuid)}-`);
}

function hash(text: string): string {
  return hashText(text).slice(0, 32);
}
