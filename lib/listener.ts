/**
 * Runs a listener or a logger of the app, whose failure harms no call: it is brought up as a
 * warning of the process that names what was thrown, and shows nothing of it.
 */
export async function runSafely(listener: () => unknown): Promise<void> {
  try {
    await listener();
  } catch (error) {
    warnOfListener(nameOf(error));
  }
}

/** Whatever was thrown: a name may be a symbol, and reading it may throw in turn. */
function nameOf(error: unknown): string {
  try {
    return error instanceof Error ? "".concat(error.name) : "a value that is no Error";
  } catch {
    return "an Error without a name";
  }
}

function warnOfListener(what: string): void {
  process.emitWarning(`A logger or listener of the app threw ${what}.`, {
    type: "PushWebhooksWarning",
    code: "LISTENER_FAILED",
  });
}
