/**
 * Sets how many stack frames later errors capture; returns the limit before.
 *
 * The frames of a rejected request lead into this package only.
 * Reflect does not throw where Error is frozen.
 */
export function setStackTraceLimit(limit: number): number {
  const { stackTraceLimit } = Error;
  Reflect.set(Error, "stackTraceLimit", limit);
  return stackTraceLimit;
}

/** An error without stack frames: `stack` is the message only. */
export class StacklessError extends Error {
  constructor(message: string) {
    const limit = setStackTraceLimit(0);
    super(message);
    setStackTraceLimit(limit);
  }
}
