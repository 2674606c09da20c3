/**
 * Runs a listener or a logger of the app, whose failure harms no call: it is brought up as a
 * warning of the process that names what was thrown, and shows nothing of it.
 */
export async function runSafely(listener: () => unknown): Promise<void> {
  try {
    await listener();
  } catch (error) {
    if (!(error instanceof Error)) return warnOfListener("a value that is no Error");
    warnOfListener(error.name);
  }
}

function warnOfListener(what: string): void {
  process.emitWarning(`A logger or listener of the app threw ${what}.`, {
    type: "PushWebhooksWarning",
    code: "LISTENER_FAILED",
  });
}
