import { hashText } from "../kit/hash";

const KEY_DIGITS = 32;

/** Returns 16 bytes of the hash of a key of a queue, in hexadecimal: keys have any length. */
export function hashKey(queueName: string, key: string): string {
  return hashText(`${queueName}:${key}`).slice(0, KEY_DIGITS);
}

/** Joins the key of an event: halves of the hashes of its uuid, and of account and uuid. */
export function joinEventKey(uuidHash: string, accountUuidHash: string): string {
  return half(uuidHash) + half(accountUuidHash);
}

/** Returns the first and the last key that events of a uuid may have. */
export function rangeOfKeys(uuidHash: string): [first: string, last: string] {
  const start = half(uuidHash);
  return [start.padEnd(KEY_DIGITS, "0"), start.padEnd(KEY_DIGITS, "f")];
}

function half(key: string): string {
  return key.slice(0, KEY_DIGITS / 2);
}
