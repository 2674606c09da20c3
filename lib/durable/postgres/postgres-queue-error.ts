import { brand } from "../../errors/brand";

/**
 * Why a Postgres cannot hold a queue. `POSTGRES_NOT_DURABLE`: it is not configured to lose nothing.
 * `POSTGRES_POOLED`: a pooler such as pgbouncer changes the connection between transactions.
 * `POSTGRES_REJECTED`: it rejects the role, the password, the database or a privilege.
 * `POSTGRES_OLD`: it is older than 13. `SCHEMA_NEWER`: a newer version of this package wrote the
 * schema.
 */
export type PostgresQueueErrorCode =
  | "POSTGRES_NOT_DURABLE"
  | "POSTGRES_POOLED"
  | "POSTGRES_REJECTED"
  | "POSTGRES_OLD"
  | "SCHEMA_NEWER";

/**
 * The Postgres of `postgresQueue` cannot hold the queue as it is set up; the message says what to
 * change.
 *
 * `instanceof` also recognises the errors of another installed copy of this package.
 */
export class PostgresQueueError extends Error {
  declare readonly name: "PostgresQueueError";

  constructor(
    /** What went wrong. */
    readonly code: PostgresQueueErrorCode,
    message: string,
  ) {
    super(message);
  }

  static {
    brand(this, "PostgresQueueError");
  }

  /** Returns what `JSON.stringify` writes. */
  toJSON(): Pick<PostgresQueueError, "name" | "code" | "message"> {
    const { name, code, message } = this;
    return { name, code, message };
  }
}
