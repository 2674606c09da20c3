/** Reads a member of a value that may be a getter which throws; undefined then. */
export function readThrown<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Returns the errors of an AggregateError, or the one value that was thrown. */
export function listReasons(thrown: unknown): readonly unknown[] {
  const errors: unknown = thrown instanceof AggregateError ? thrown.errors : undefined;
  return Array.isArray(errors) ? errors : [thrown];
}

/** Returns the name or the message of an Error; undefined for any other value. */
export function readText(thrown: unknown, member: "name" | "message"): string | undefined {
  return readThrown(() =>
    thrown instanceof Error ? String(thrown[member] as unknown) : undefined,
  );
}

/** Returns the messages of the errors that handlers threw; undefined when no Error has one. */
export function describeReasons(thrown: unknown): string | undefined {
  const texts = listReasons(thrown).flatMap((reason) => readText(reason, "message") ?? []);
  return texts.length === 0 ? undefined : texts.join("; ");
}

/** Returns the message of an error; for several addresses of a host, the messages of its errors. */
export function describeError(error: Error): string {
  const { message, errors = [] } = error as Error & { errors?: readonly Error[] };
  return message || errors.map((one) => one.message).join("; ");
}
