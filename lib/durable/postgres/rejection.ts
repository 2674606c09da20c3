import { QueueError } from "../queue-error";

/** Errors that last until the setup of Postgres or the option `connection` is changed. */
const LASTING: Readonly<Record<string, string>> = {
  "28000": "rejects the role",
  "28P01": "rejects the password",
  "3D000": "has no such database",
  "42501": "denies a privilege",
};

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
