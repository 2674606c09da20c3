import { readText } from "./thrown-value";
import { isPending } from "./pending";
import { warnOnce } from "./process-warning";

/**
 * Calls a listener or a logger of the app, the `owner`. Its first error emits a process warning,
 * `LISTENER_FAILED`, with the name of the error and without its message.
 */
export function callSafely(owner: object, call: () => unknown): void {
  const warn = (error: unknown) => {
    const name = readText(error, "name") ?? "a value that is not an Error";
    const message = `A logger or listener of the app threw ${name}. Catch its errors there. This warning is emitted once for each.`;
    warnOnce("LISTENER_FAILED", message, owner);
  };
  try {
    const called = call();
    if (isPending(called)) Promise.resolve(called).catch(warn);
  } catch (error) {
    warn(error);
  }
}
