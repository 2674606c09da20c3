/**
 * An error without stack frames: they take 22 µs, a quarter of the CPU time of a rejected request,
 * and lead into this package. `stack` is the message only.
 */
export class StacklessError extends Error {
  constructor(message: string) {
    const { stackTraceLimit } = Error;
    // Reflect does not throw where Error is frozen.
    Reflect.set(Error, "stackTraceLimit", 0);
    super(message);
    Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  }
}
