import type { QueuedEvent } from "../../delivery/event-queue";
import { toStoredContent } from "../stored-content";
import { dedupeIdOf, toStoredEvent } from "../stored-event";
import { hashFileKey } from "./outcomes";
import type { NewFileEvent, FileOutcomeRow } from "./protocol";

/** Writes an event for the file. */
export function toNewFileEvent(
  queued: QueuedEvent,
  outcome: FileOutcomeRow | undefined,
  dedupeTtlMs: number,
): NewFileEvent {
  return {
    key: hashFileKey(dedupeIdOf(queued)),
    content: toStoredContent(queued.contentHash),
    uuid: queued.uuid,
    body: JSON.stringify(toStoredEvent(queued)),
    expiresAt: Date.now() + dedupeTtlMs,
    outcome,
  };
}
