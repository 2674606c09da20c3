/**
 * Sets how many stack frames later errors capture; returns the limit before.
 *
 * Frames take a quarter of the CPU time of a rejected request, and lead into this package.
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
