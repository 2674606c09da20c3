import { isNativeError } from "node:util/types";

/**
 * Describes an error in one text: its message, and the reason of its innermost cause unless the
 * message has it, such as `The service could not be reached: connect ECONNREFUSED 127.0.0.1:80.`
 */
export function describeFailure(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  const message = readMessage(error);
  const reason = isNativeError(error.cause) ? findReason(error.cause) : undefined;
  if (reason === undefined || message.includes(reason)) return message;
  return `${message.replace(/\.$/, "")}: ${reason.replace(/\.$/, "")}.`;
}

function findReason(cause: Error): string {
  return isNativeError(cause.cause) ? findReason(cause.cause) : readMessage(cause);
}

function readMessage(error: Error): string {
  if (error.message !== "") return error.message;
  // An error for several addresses of one host has their errors instead of a message.
  const { errors = [] } = error as Partial<AggregateError>;
  const messages = (errors as Error[]).map(({ message }) => message).join("; ");
  return messages || ((error as NodeJS.ErrnoException).code ?? error.name);
}
