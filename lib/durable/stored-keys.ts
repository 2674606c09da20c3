import { hashText } from "../form/hash";

const KEY_DIGITS = 32;

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
