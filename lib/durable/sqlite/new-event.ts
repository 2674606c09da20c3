import type { QueuedEvent } from "../../delivery/event-queue";
import { toStoredContent } from "../stored-content";
import { dedupeIdOf, toStoredEvent } from "../stored-event";
import { hashKey } from "./outcomes";
import type { NewEvent, OutcomeRow } from "./protocol";

/** Writes an event for the file. */
export function toNewEvent(
  queued: QueuedEvent,
  outcome: OutcomeRow | undefined,
  dedupeTtlMs: number,
): NewEvent {
  return {
    key: hashKey(dedupeIdOf(queued)),
    content: toStoredContent(queued.contentHash),
    uuid: queued.uuid,
    body: JSON.stringify(toStoredEvent(queued)),
    expiresAt: Date.now() + dedupeTtlMs,
    outcome,
  };
}
