import { QueueError } from "../queue-error";

/** Errors that last until the setup of Postgres or the option `connection` is changed. */
const LASTING: Readonly<Record<string, string>> = {
  "28000": "rejects the role",
  "28P01": "rejects the password",
  "3D000": "has no such database",
  "42501": "denies a privilege",
};

/** Classes of errors whose message holds no parameter: of the connection, the disk and the server. */
const NEUTRAL = /^(08|25|28|3D|42501|53|57|58)/;
/** A new connection finds out why transactions are read-only, or the server ends. */
const ENDING = /^(25006|57P0)/;

/**
 * Returns the error of a Postgres that cannot hold the queue as it is set up; undefined for an
 * outage.
 */
export function findRejection(error: unknown): QueueError | undefined {
  if (error instanceof QueueError) return error;
  const { code, message } = error as { code?: unknown; message?: unknown };
  const reason = LASTING[String(code)];
  if (reason === undefined) return undefined;
  return new QueueError(
    "POSTGRES_REJECTED",
    `postgresQueue: Postgres ${reason}: ${String(message).split("\n", 1)[0]}. Check the option connection; the section on privileges in docs/durable.md lists what the role needs.`,
  );
}

/** Returns whether the connection of a statement is of no use after its error. */
export function isConnectionLost(error: unknown): boolean {
  const { severity, code } = error as { severity?: unknown; code?: unknown };
  return severity === undefined || ENDING.test(String(code));
}

/** Returns an error without parameters of events: Postgres quotes them in some messages. */
export function toNeutralError(error: unknown): Error {
  const { severity, code } = error as Record<string, unknown>;
  if (severity === undefined || NEUTRAL.test(String(code))) return error as Error;
  return Object.assign(new Error(`A statement failed with ${String(code)}.`), { code });
}
