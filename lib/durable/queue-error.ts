import { brand } from "../kit/brand";

/**
 * Why a queue cannot use its store.
 *
 * - `REDIS_NOT_DURABLE`, `POSTGRES_NOT_DURABLE`: its settings may lose events.
 * - `REDIS_REJECTED`, `POSTGRES_REJECTED`: it rejects the credentials, the database or a command; or
 *   it is read-only.
 * - `POSTGRES_POOLED`: a pooler changes the connection between transactions, or does not commit.
 * - `POSTGRES_FOREIGN`: the schema has tables that are not of this queue.
 * - `POSTGRES_OLD`: it is older than 13.
 * - `…_NEWER`: a version of this package that is two formats newer has used the store.
 * - `…_OLDER`: the version that wrote the store is too old to migrate.
 * - `FILE_FOREIGN`: the file is no queue of this package, or one of another name.
 * - `FILE_DAMAGED`: SQLite finds the file malformed or without a table, at start or later.
 * - `FILE_READONLY`: the process cannot write to the file, to those beside it, or to its folder.
 * - `FILE_IN_USE`: another process has the file open and it cannot be shared.
 */
export type QueueErrorCode =
  | "REDIS_NOT_DURABLE"
  | "REDIS_REJECTED"
  | "REDIS_NEWER"
  | "REDIS_OLDER"
  | "POSTGRES_NOT_DURABLE"
  | "POSTGRES_REJECTED"
  | "POSTGRES_POOLED"
  | "POSTGRES_FOREIGN"
  | "POSTGRES_OLD"
  | "POSTGRES_NEWER"
  | "POSTGRES_OLDER"
  | "FILE_FOREIGN"
  | "FILE_DAMAGED"
  | "FILE_NEWER"
  | "FILE_OLDER"
  | "FILE_READONLY"
  | "FILE_IN_USE";

/**
 * A queue cannot use its store until you change something; the message says what. Nothing is stored
 * until then.
 *
 * `instanceof` also recognises the errors of another installed copy of this package.
 */
export class QueueError extends Error {
  declare readonly name: "QueueError";

  /** Creates an error; a cause must not hold parameters of events. */
  constructor(
    /** The reason; `switch` over it. */
    readonly code: QueueErrorCode,
    message: string,
    options?: { cause: Error },
  ) {
    super(message, options);
  }

  static {
    brand(this, "QueueError");
  }

  /** Returns the fields that `JSON.stringify` writes; omits the cause. */
  toJSON(): Pick<QueueError, "name" | "code" | "message"> {
    const { name, code, message } = this;
    return { name, code, message };
  }
}
