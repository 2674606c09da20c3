import type { QueuedEvent } from "../delivery/event-queue";
import type { DeliveryResult } from "../event/event";
import { hashText } from "../form/hash";

const KEY_DIGITS = 32;
const HASH_DIGITS = 24;
const RANDOM_DIGITS = 8;

/** Returns 16 bytes of the hash of a key of a queue, in hexadecimal: keys have any length. */
export function hashKey(queueName: string, key: string): string {
  return hashText(`${queueName}:${key}`).slice(0, KEY_DIGITS);
}

/** Returns the key of an event: the first half is that of its uuid. */
export function createEventKey(uuidHash: string, ownHash: string): string {
  return uuidHash.slice(0, KEY_DIGITS / 2) + ownHash.slice(0, KEY_DIGITS / 2);
}

/** Returns the first and the last key that events of a uuid may have. */
export function rangeOfKeys(uuidHash: string): [first: string, last: string] {
  const start = uuidHash.slice(0, KEY_DIGITS / 2);
  return [start.padEnd(KEY_DIGITS, "0"), start.padEnd(KEY_DIGITS, "f")];
}

/**
 * Creates the text that is kept under the uuid of an event: 12 bytes of the hash of its content and 4 random
 * ones, in hexadecimal. No two stored events have the same.
 */
export function createContent(contentHash: string): string {
  const random = crypto.randomUUID().slice(0, RANDOM_DIGITS);
  return hashPart(contentHash) + random;
}

/**
 * Compares an event with the content that is kept under its uuid.
 *
 * @param own the content of the event: it is kept when the event was new.
 */
export function compareContent(
  { contentHash, listOtherHashes }: QueuedEvent,
  own: string,
  kept: string,
): DeliveryResult {
  if (kept === own) return "new";
  const isKept = (hash: string) => kept.startsWith(hashPart(hash));
  // The other hashes cost one signature per token: compute them only when the first one differs.
  const isEqual = isKept(contentHash) || listOtherHashes?.().some(isKept) === true;
  return isEqual ? "duplicate" : "conflict";
}

function hashPart(contentHash: string): string {
  return hashText(contentHash).slice(0, HASH_DIGITS);
}
