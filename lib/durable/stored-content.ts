import type { QueuedEvent } from "../delivery/event-queue";
import type { DeliveryResult } from "../observability/diagnostics";
import { hashText } from "../signature/signature";

const CONTENT_DIGITS = 32;

/** Returns the content of a webhook request as an engine stores it: 16 bytes, in hexadecimal. */
export function toStoredContent(contentHash: string): string {
  return hashText(contentHash).slice(0, CONTENT_DIGITS);
}

/**
 * Compares an event with the one that was stored before under its uuid.
 *
 * @param stored the content of that event; undefined when there was none.
 */
export function compareContent(
  { contentHash, listOtherHashes }: QueuedEvent,
  stored: string | undefined,
): DeliveryResult {
  if (stored === undefined) return "new";
  const isStored = (hash: string) => toStoredContent(hash) === stored;
  // The other hashes cost one signature per token: compute them only when the first one differs.
  const isEqual = isStored(contentHash) || listOtherHashes?.().some(isStored) === true;
  return isEqual ? "duplicate" : "conflict";
}
