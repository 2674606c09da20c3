/**
 * Calls a listener or a logger of the app. An error of it changes no response: it emits a process
 * warning, `LISTENER_FAILED`, with the name of the error and without its message.
 */
export async function callSafely(listener: () => unknown): Promise<void> {
  try {
    await listener();
  } catch (error) {
    process.emitWarning(
      `A logger or listener of the app threw ${nameOf(error)}. Catch its errors there.`,
      { type: "PushWebhooksWarning", code: "LISTENER_FAILED" },
    );
  }
}

/** Returns the name of an error, which may be a symbol or a getter that throws. */
function nameOf(error: unknown): string {
  try {
    return error instanceof Error ? "".concat(error.name) : "a value that is not an Error";
  } catch {
    return "an Error without a name";
  }
}
