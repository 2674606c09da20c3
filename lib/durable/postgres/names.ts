import { hashText } from "../../signature/signature";
import type { PostgresSettings } from "./options";

/** What a queue is called in its database. */
export interface Names {
  /** The schema, quoted. */
  schema: string;
  /** The channel of the outcomes. */
  channel: string;
  /** The first key of the advisory locks that show which workers are alive. */
  lockClass: number;
  /** The first key of the advisory lock of the process that changes the schema. */
  schemaLockClass: number;
}

/** Returns the names of a queue. */
export function namesOf({ schema, name }: PostgresSettings): Names {
  const hash = hashText(`${schema}:${name}`);
  return {
    schema: `"${schema}"`,
    channel: `push_${hash.slice(0, 24)}`,
    lockClass: toLockKey(hash),
    schemaLockClass: toLockKey(hashText(schema)),
  };
}

/** Returns 20 bytes of the SHA-256 of a key of a queue: keys have any length. */
export function hashQueueKey({ name }: PostgresSettings, key: string): Buffer {
  return Buffer.from(hashText(`${name}:${key}`).slice(0, 40), "hex");
}

/** Positive, as pg_locks shows the keys as unsigned numbers. */
function toLockKey(hash: string): number {
  return Number.parseInt(hash.slice(24, 32), 16) % 2 ** 31;
}
