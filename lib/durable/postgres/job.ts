import type { QueuedEvent } from "../../delivery/event-queue";
import { createContent } from "../stored-content";
import { dedupeIdOf, toStoredEvent } from "../stored-event";
import { toAsciiJson } from "../stored-event";
import { hashQueueKey } from "./names";
import type { PostgresSettings } from "./options";

/** The payload of a job of Graphile Worker. */
export interface JobPayload {
  /** A `StoredEvent`, as the version that stored it wrote it. */
  event: unknown;
  /** How often its handlers have failed. */
  failures: number;
  /** How often its handlers were started, before this job. */
  started: number;
}

/** Writes the payload of a job. */
export function toPayload(payload: JobPayload): string {
  return toAsciiJson(payload);
}

/**
 * Above what a job reaches: Graphile Worker would leave a job that reached it where it is, without a
 * handler and without a dead letter.
 */
export const MAX_CLAIMS = 30_000;

/** An event to be stored. */
export interface NewPostgresEvent {
  /** The hash of queue, account and uuid. */
  key: Buffer;
  /** The hash of the content. */
  content: Buffer;
  /** Tells the attempts to store this event from those to store its duplicates; key of the job. */
  token: string;
  payload: string;
}

/** Writes an event for Postgres. */
export function toNewPostgresEvent(
  queued: QueuedEvent,
  settings: PostgresSettings,
): NewPostgresEvent {
  return {
    key: hashQueueKey(settings, dedupeIdOf(queued)),
    content: Buffer.from(createContent(queued.contentHash), "hex"),
    token: crypto.randomUUID(),
    payload: toPayload({ event: toStoredEvent(queued), failures: 0, started: 0 }),
  };
}
