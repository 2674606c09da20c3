import { createNeutralCause } from "./neutral-cause";

const MAX_ERRORS = 3;

/**
 * Describes the cause of an error for a process warning: name, message and stack frames of the
 * cause, of its own causes, and of the first 3 errors of an AggregateError. Arguments are left out,
 * as in {@link createNeutralCause}.
 *
 * @returns undefined when the error has no cause.
 */
export function describeCause({ cause }: Error): string | undefined {
  if (cause === undefined) return undefined;
  try {
    const errors = cause instanceof AggregateError ? cause.errors.slice(0, MAX_ERRORS) : [cause];
    return errors.map((error: unknown) => describeChain(createNeutralCause(error))).join("\n");
  } catch {
    return "The cause cannot be read.";
  }
}

function describeChain(error: Error): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error
    ? `${stack}\nCaused by: ${describeChain(error.cause)}`
    : stack;
}
